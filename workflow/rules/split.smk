# In: samples and clusters, and the proteins for the audit.
# Out: groups.tsv, the group and the role of every protein, and split.json, what
# the audit found. An audit of everyone is divided into jobs.

CLUSTERS = settings.cluster_table or (
    f"{RESULTS}/clusters.tsv" if settings.calibration_set.proteins else None
)

# A given table of clusters says nothing of relatives in training but by cluster.
RELATIVES = (
    f"{RESULTS}/relatives.tsv"
    if settings.training_proteins and not settings.cluster_table
    else None
)
# PhANNs' recipe makes its own clusters.
RECIPE = settings.values["split"]["recipe"]
SHARES_OF_AUDIT = range(1, AUDITS + 1) if AUDITS > 1 else []
AUDITED = expand(f"{RESULTS}/audit/{{share}}.txt", share=SHARES_OF_AUDIT)
PIECES_OF_AUDIT = ["--pieces", f"{RESULTS}/audit/pieces"] if AUDITED else []


rule split:
    input:
        audited=lambda wildcards: [] if "share" in wildcards.keys() else AUDITED,
        proteins=given(SEQUENCES),
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
        proteins=configuration.option("--proteins", SEQUENCES),
        settings=literal(settings.stage_json("split")),
        clusters=configuration.option(
            "--clusters", CLUSTERS if RECIPE == "balanced" else None
        ),
        own_clusters=["--own-clusters"] if settings.cluster_table else [],
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        sources=digests(SEQUENCES, settings.cluster_table, settings.training_proteins),
        pieces=PIECES_OF_AUDIT,
        # A job of the audit makes its share; then all is put together.
        writes=lambda wildcards, output: (
            ["--share", f"audit:{wildcards.share}/{AUDITS}", "--out", str(output)]
            if "share" in wildcards.keys()
            else ["--summary", output.summary, "--out", output.groups]
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence split {input.samples:q} --format credence"
        " {params.clusters:q} {params.own_clusters:q} {params.training:q} --match {params.match:q}"
        " {params.relatives:q} {params.proteins:q} --settings {params.settings:q}"
        " {params.pieces:q} --threads {threads:q} {params.writes:q}"
        " 2> {log:q}"


use rule split as audit with:
    output:
        f"{RESULTS}/audit/{{share}}.txt",
    log:
        f"{RESULTS}/logs/audit-{{share}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/audit-{{share}}.tsv"
    wildcard_constraints:
        share="[0-9]+",
