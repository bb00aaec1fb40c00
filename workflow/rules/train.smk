# In: proteins of known class, and their clusters.
# Out: the classifier; and scores of proteins that its networks did not see, with these
# proteins: what a tool's table is elsewhere. Then scores of use-sets and troves.

TRAINING = settings.training
# With troves to learn from, all that there is to learn from is clustered by the command.
OWN_CLUSTERS = settings.cluster_table or TRAINING.retrains


rule train:
    input:
        proteins=given(TRAINING.proteins),
        labels=given(TRAINING.labels.get("table")),
        vectors=given(TRAINING.vectors),
        clusters=given(settings.cluster_table) if OWN_CLUSTERS else CLUSTERS,
        troves=given([fasta for fasta, _, _ in TRAINING.troves]),
    output:
        **({"training": TRAINING.learnt} if TRAINING.has_test else {}),
        model=f"{REPORTS}/classifier.npz",
        scores=TRAINING.scores,
        proteins=TRAINING.calibrating,
        groups=f"{TRAINING.folder}/groups.tsv",
        summary=TRAINING.found,
    log:
        f"{RESULTS}/logs/train.log",
    benchmark:
        f"{RESULTS}/benchmarks/train.tsv"
    priority: 20
    conda:
        ENVIRONMENT
    threads: configuration.several
    resources:
        mem_mb=configuration.memory(2000, 300),
        runtime=configuration.minutes(60, 60),
        python=PYTHON,
    params:
        labels=literal(configuration.as_json(TRAINING.labels)),
        match=TRAINING.match,
        spec=literal(configuration.as_json({"synonyms": TRAINING.synonyms})),
        vectors=configuration.option("--vectors", TRAINING.vectors),
        clusters=lambda wildcards, input: configuration.option(
            "--clusters", input.clusters or None
        ),
        troves=literal(configuration.options("--trove", TRAINING.troves)),
        training=configuration.option(
            "--training", TRAINING.learnt if TRAINING.has_test else None
        ),
        settings=literal(settings.stage_json("train")),
        sources=digests(*TRAINING.files, settings.cluster_table),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " train {input.proteins:q} --labels {params.labels:q} --match {params.match:q}"
        " --spec {params.spec:q} {params.vectors:q} {params.clusters:q} {params.troves:q}"
        " --settings {params.settings:q} --threads {threads:q} --scores {output.scores:q}"
        " --proteins {output.proteins:q} {params.training:q} --groups-out {output.groups:q}"
        " --summary {output.summary:q} --out {output.model:q} 2> {log:q}"


rule predict:
    input:
        proteins=lambda wildcards: given(TRAINING.sets[wildcards.scored].fasta),
        vectors=given(TRAINING.vectors),
        model=rules.train.output.model,
        learnt=lambda wildcards: (
            given(TRAINING.proteins)
            if TRAINING.sets[wildcards.scored].is_known
            else []
        ),
        groups=rules.train.output.groups,
    output:
        f"{TRAINING.folder}/{{scored}}.csv",
    log:
        f"{RESULTS}/logs/predict-{{scored}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/predict-{{scored}}.tsv"
    wildcard_constraints:
        scored="|".join(TRAINING.sets) or "none",
    conda:
        ENVIRONMENT
    threads: configuration.few
    resources:
        mem_mb=configuration.memory(1000, 100),
        runtime=configuration.minutes(15, 1),
        python=PYTHON,
    params:
        match=lambda wildcards: TRAINING.sets[wildcards.scored].match,
        vectors=configuration.option("--vectors", TRAINING.vectors),
        learnt=lambda wildcards, input: (
            ["--learnt", *input.learnt, "--groups", input.groups]
            if input.learnt
            else []
        ),
        settings=literal(settings.stage_json("predict")),
        sources=lambda wildcards: digests(TRAINING.sets[wildcards.scored].fasta),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " predict {input.proteins:q} --match {params.match:q} {params.vectors:q}"
        " --classifier {input.model:q} {params.learnt:q} --settings {params.settings:q}"
        " --threads {threads:q} --out {output:q} 2> {log:q}"
