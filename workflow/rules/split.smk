# In: samples and clusters, and the proteins for the audit.
# Out: groups.tsv, the group and the role of every protein, and split.json, what
# the audit found.

CLUSTERS = settings.cluster_table or (
    f"{RESULTS}/clusters.tsv" if settings.calibration_set.proteins else None
)

# A given table of clusters says nothing of relatives in training but by cluster.
RELATIVES = (
    f"{RESULTS}/relatives.tsv"
    if settings.training_proteins and not settings.cluster_table
    else None
)
PROTEINS = settings.calibration_set.proteins
# PhANNs' recipe makes its own clusters, and is shown with what crosses.
RECIPE = settings.values["split"]["recipe"]
STRICT = settings.values["split"]["strict"] if RECIPE == "balanced" else "report"


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
    conda:
        ENVIRONMENT
    threads: configuration.several
    resources:
        mem_mb=configuration.memory(1000, 20),
        runtime=configuration.minutes(30, 2),
        python=sys.executable,
    params:
        relatives=configuration.option("--relatives", RELATIVES),
        proteins=configuration.option("--proteins", PROTEINS),
        identity=settings.values["clustering"]["identity"],
        coverage=settings.values["clustering"]["coverage"],
        chance=settings.values["clustering"]["chance"] or "none",
        weigh=settings.values["split"]["weigh"],
        audit=settings.values["split"]["audit"] if PROTEINS else "none",
        sample=settings.values["split"]["audit_sample"],
        cut=settings.values["split"]["cut"],
        cut_limit=settings.values["split"]["cut_limit"],
        strict=STRICT if PROTEINS else "report",
        both_sides=configuration.flag(
            "--both-sides", settings.values["split"]["both_sides"]
        ),
        clusters=configuration.option(
            "--clusters", CLUSTERS if RECIPE == "balanced" else None
        ),
        recipe=RECIPE,
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        groups=settings.values["split"]["groups"],
        test_group=configuration.flag(
            "--test-group", settings.values["split"]["test_group"]
        ),
        sources=digests(PROTEINS, settings.cluster_table, settings.training_proteins),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " split {input.samples:q} --format credence"
        " {params.clusters:q} {params.training:q} --match {params.match:q}"
        " --groups {params.groups:q} {params.test_group:q} --weigh {params.weigh:q}"
        " --recipe {params.recipe:q}"
        " {params.relatives:q} {params.proteins:q} --identity {params.identity:q}"
        " --chance {params.chance:q} --cut {params.cut:q} --cut-limit {params.cut_limit:q}"
        " --coverage {params.coverage:q} {params.both_sides:q} --audit {params.audit:q}"
        " --audit-sample {params.sample:q} --strict {params.strict:q}"
        " --threads {threads:q} --summary {output.summary:q}"
        " --out {output.groups:q} 2> {log:q}"
