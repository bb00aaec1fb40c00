# In: samples and groups, and the calibrations fitted on them.
# Out: evaluation.json and metrics.tsv, each method judged in sample and held out.


rule evaluate:
    input:
        samples=SAMPLES,
        groups=GROUPS,
        known=NOVELTY,
        summary=rules.check.output.summary,
        attached=expand(rules.attach.output.summary, release=TROVES),
        calibrations=expand(rules.fit.output.calibration, method=METHODS, release=LAST),
        held_out=[
            path
            for method in METHODS
            for path in held_out(LAST, method, settings.values["evaluation"]["folds"])
        ],
    output:
        evaluation=f"{RESULTS}/evaluation.json",
        metrics=f"{RESULTS}/metrics.tsv",
        thresholds=f"{REPORTS}/thresholds.tsv",
    log:
        f"{RESULTS}/logs/evaluate.log",
    benchmark:
        f"{RESULTS}/benchmarks/evaluate.tsv"
    priority: 3
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000, 100),
        runtime=configuration.minutes(30, 20),
        python=PYTHON,
    params:
        calibrations=lambda wildcards, input: configuration.options(
            "--calibration", input.calibrations
        ),
        attached=lambda wildcards, input: configuration.options(
            "--attached", input.attached
        ),
        held_out=lambda wildcards, input: configuration.options(
            "--held-out", input.held_out
        ),
        known=lambda wildcards, input: configuration.options("--novelty", input.known),
        chosen=settings.method,
        settings=literal(settings.stage_json("evaluate")),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence evaluate {input.samples:q} --format credence"
        " --groups {input.groups:q} --check {input.summary:q} {params.attached:q} {params.calibrations:q}"
        " {params.held_out:q}"
        " --chosen {params.chosen:q} --settings {params.settings:q} {params.known:q}"
        " --metrics {output.metrics:q} --thresholds {output.thresholds:q} --out {output.evaluation:q} 2> {log:q}"
