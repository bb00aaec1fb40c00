# In: the files of a trove, and the release before it.
# Out: the release that it makes, samples and groups; and what became of its proteins.


rule attach:
    input:
        trove=lambda wildcards: given(TROVES[wildcards.release].files),
        scores=lambda wildcards: given(TROVES[wildcards.release].scores),
        samples=lambda wildcards: f"{before(wildcards.release)[-1]}/{MAIN}",
        groups=lambda wildcards: f"{before(wildcards.release)[-1]}/groups.tsv",
        proteins=given(SEQUENCES),
        added=lambda wildcards: added(wildcards.release),
        clusters=lambda wildcards: given(given_clusters(wildcards.release)),
        training=given(settings.training_proteins),
    output:
        **({"added": f"{RELEASE}/added.fasta"} if SEQUENCES else {}),
        samples=f"{RELEASE}/{MAIN}",
        groups=f"{RELEASE}/groups.tsv",
        table=f"{RELEASE}/attach.tsv",
        summary=f"{RELEASE}/attach.json",
    log:
        f"{RESULTS}/logs/attach-{{release}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/attach-{{release}}.tsv"
    wildcard_constraints:
        release="|".join(TROVES) or "none",
    # The next releases wait for it.
    priority: 10
    conda:
        ENVIRONMENT
    threads: configuration.few
    resources:
        mem_mb=configuration.memory(2000, 20),
        runtime=configuration.minutes(30, 2),
        python=PYTHON,
    params:
        name=lambda wildcards: TROVES[wildcards.release].name,
        words=lambda wildcards: TROVES[wildcards.release].words,
        proteins=configuration.option("--proteins", SEQUENCES),
        match=settings.calibration_set.match,
        added=lambda wildcards: configuration.options(
            "--added", added(wildcards.release)
        ),
        clusters=lambda wildcards: configuration.options(
            "--clusters", given_clusters(wildcards.release)
        ),
        training=configuration.option("--training", settings.training_proteins),
        settings=literal(settings.stage_json("attach")),
        folder=lambda wildcards, output: os.path.dirname(output.summary),
        main=MAIN,
        sources=lambda wildcards: digests(
            TROVES[wildcards.release].files,
            SEQUENCES,
            given_clusters(wildcards.release),
            settings.training_proteins,
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence attach {input.scores:q} --name {params.name:q}"
        " {params.words:q} --samples {input.samples:q} --samples-format credence"
        " --groups {input.groups:q} {params.proteins:q} --proteins-match {params.match:q} {params.added:q}"
        " {params.training:q} {params.clusters:q} --settings {params.settings:q}"
        " --threads {threads:q} --samples-as {params.main:q} --out {params.folder:q} 2> {log:q}"
