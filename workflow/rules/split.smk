# In: samples and clusters.
# Out: groups.tsv, the group and the role of every protein.

CLUSTERS = settings.cluster_table or (
    f"{RESULTS}/clusters.tsv" if settings.calibration_set.proteins else None
)


rule split:
    input:
        samples=rules.check.output.samples,
        clusters=CLUSTERS or [],
        training=settings.training_proteins or [],
    output:
        f"{RESULTS}/groups.tsv",
    log:
        f"{RESULTS}/logs/split.log",
    benchmark:
        f"{RESULTS}/benchmarks/split.tsv"
    conda:
        ENVIRONMENT
    resources:
        python=sys.executable,
    params:
        clusters=configuration.option("--clusters", CLUSTERS),
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        groups=settings.values["split"]["groups"],
        test_group=configuration.flag(
            "--test-group", settings.values["split"]["test_group"]
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence split {input.samples:q} --format credence"
        " {params.clusters:q} {params.training:q} --match {params.match:q}"
        " --groups {params.groups:q} {params.test_group:q} --out {output:q} 2> {log:q}"
