# In: samples and groups.
# Out: findings.json and metrics.tsv, each method judged in sample and held out.


rule evaluate:
    input:
        samples=rules.check.output.samples,
        groups=rules.split.output[0],
        summary=rules.check.output.summary,
    output:
        findings=f"{RESULTS}/findings.json",
        metrics=f"{RESULTS}/metrics.tsv",
    log:
        f"{RESULTS}/logs/evaluate.log",
    benchmark:
        f"{RESULTS}/benchmarks/evaluate.tsv"
    params:
        methods=configuration.options("--method", settings.methods),
        chosen=settings.method,
        options=settings.fit_options,
        folds=settings.values["evaluation"]["folds"],
        source=SOURCE,
    shell:
        "{sys.executable:q} -m credence evaluate {input.samples:q} --format credence"
        " --groups {input.groups:q} --check {input.summary:q} {params.methods:q}"
        " --chosen {params.chosen:q} {params.options:q} --folds {params.folds:q}"
        " --metrics {output.metrics:q} --out {output.findings:q} 2> {log:q}"
