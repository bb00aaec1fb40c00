# In: samples and groups, and the calibrations fitted on them.
# Out: evaluation.json and metrics.tsv, each method judged in sample and held out.


rule evaluate:
    input:
        samples=SAMPLES,
        groups=GROUPS,
        summary=rules.check.output.summary,
        attached=expand(rules.attach.output.summary, release=TROVES),
        calibrations=expand(rules.fit.output[0], method=METHODS, release=LAST),
    output:
        evaluation=f"{RESULTS}/evaluation.json",
        metrics=f"{RESULTS}/metrics.tsv",
    log:
        f"{RESULTS}/logs/evaluate.log",
    benchmark:
        f"{RESULTS}/benchmarks/evaluate.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000, 100),
        runtime=configuration.minutes(30, 20),
        python=sys.executable,
    params:
        calibrations=lambda wildcards, input: configuration.options(
            "--calibration", input.calibrations
        ),
        attached=lambda wildcards, input: configuration.options(
            "--attached", input.attached
        ),
        chosen=settings.method,
        options=settings.fit_options,
        folds=settings.values["evaluation"]["folds"],
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " evaluate {input.samples:q} --format credence"
        " --groups {input.groups:q} --check {input.summary:q} {params.attached:q} {params.calibrations:q}"
        " --chosen {params.chosen:q} {params.options:q} --folds {params.folds:q}"
        " --metrics {output.metrics:q} --out {output.evaluation:q} 2> {log:q}"
