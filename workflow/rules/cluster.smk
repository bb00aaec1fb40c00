# In: the proteins, and those that the classifier was trained on.
# Out: clusters.tsv, which proteins are relatives.


rule cluster:
    input:
        proteins=settings.calibration_set.proteins or [],
        training=settings.training_proteins or [],
    output:
        f"{RESULTS}/clusters.tsv",
    log:
        f"{RESULTS}/logs/cluster.log",
    benchmark:
        f"{RESULTS}/benchmarks/cluster.tsv"
    conda:
        ENVIRONMENT
    resources:
        python=sys.executable,
    params:
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        engine=settings.values["clustering"]["engine"],
        identity=settings.values["clustering"]["identity"],
        coverage=settings.values["clustering"]["coverage"],
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence cluster {input.proteins:q} {params.training:q}"
        " --match {params.match:q} --engine {params.engine:q}"
        " --identity {params.identity:q} --coverage {params.coverage:q}"
        " --out {output:q} 2> {log:q}"
