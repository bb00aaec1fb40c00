# In: samples and clusters, and the proteins for the audit.
# Out: groups.tsv, the group and the role of every protein, and split.json, what
# the audit found.

CLUSTERS = settings.cluster_table or (
    f"{RESULTS}/clusters.tsv" if settings.calibration_set.proteins else None
)

# A given table of clusters says nothing of relatives in training but by cluster.
RELATIVES = (
    f"{RESULTS}/relatives.tsv"
    if settings.trained_elsewhere and not settings.cluster_table
    else None
)
PROTEINS = settings.calibration_set.proteins
# PhANNs' recipe makes its own clusters.
RECIPE = settings.values["split"]["recipe"]


rule split:
    input:
        proteins=given(PROTEINS),
        relatives=RELATIVES or [],
        samples=rules.check.output.samples,
        clusters=given(CLUSTERS) if settings.cluster_table else CLUSTERS or [],
        training=given(settings.training_proteins),
    output:
        groups=f"{RESULTS}/releases/{BASE}/groups.tsv",
        summary=f"{RESULTS}/split.json",
    log:
        f"{RESULTS}/logs/split.log",
    benchmark:
        f"{RESULTS}/benchmarks/split.tsv"
    priority: 10
    conda:
        ENVIRONMENT
    threads: configuration.several
    resources:
        mem_mb=configuration.memory(1000, 20),
        runtime=configuration.minutes(30, 2),
        python=PYTHON,
    params:
        relatives=configuration.option("--relatives", RELATIVES),
        proteins=configuration.option("--proteins", PROTEINS),
        settings=settings.stage_json("split"),
        clusters=configuration.option(
            "--clusters", CLUSTERS if RECIPE == "balanced" else None
        ),
        own=["--own-clusters"] if settings.cluster_table else [],
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        sources=digests(PROTEINS, settings.cluster_table, settings.training_proteins),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " split {input.samples:q} --format credence"
        " {params.clusters:q} {params.own:q} {params.training:q} --match {params.match:q}"
        " {params.relatives:q} {params.proteins:q} --settings {params.settings:q}"
        " --threads {threads:q} --summary {output.summary:q}"
        " --out {output.groups:q} 2> {log:q}"
