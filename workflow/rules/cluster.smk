# In: the proteins, and those that the classifier was trained on.
# Out: clusters.tsv, which proteins are relatives, and relatives.tsv, which of them
# have one in training. The search of many proteins is divided into jobs: near copies
# and masked ones first, then shares of the search, what they connect, and shares of
# the second search.


rule search:
    input:
        before=before_share,
        proteins=given(SEQUENCES),
        training=given(settings.training_proteins),
    output:
        f"{RESULTS}/search/{{step}}-{{share}}.txt",
    log:
        f"{RESULTS}/logs/search-{{step}}-{{share}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/search-{{step}}-{{share}}.tsv"
    wildcard_constraints:
        step="search|again",
        share="[0-9]+",
    conda:
        ENVIRONMENT
    threads: configuration.several
    resources:
        mem_mb=configuration.memory(2000, 20),
        runtime=configuration.minutes(30, 1),
        python=PYTHON,
    params:
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        settings=literal(settings.stage_json("cluster")),
        sources=digests(SEQUENCES, settings.training_proteins),
        source=SOURCE,
        pieces=PIECES,
        n_shares=SEARCHES,
    shell:
        "{resources.python:q} -m credence cluster {input.proteins:q} {params.training:q}"
        " --match {params.match:q} --settings {params.settings:q} --threads {threads:q}"
        " --pieces {params.pieces:q} --share {wildcards.step:q}:{wildcards.share:q}/{params.n_shares:q}"
        " --out {output:q} 2> {log:q}"


rule cluster:
    input:
        shares=shares_of_search("again"),
        proteins=given(SEQUENCES),
        training=given(settings.training_proteins),
    output:
        **(
            {"relatives": f"{RESULTS}/relatives.tsv"}
            if settings.training_proteins
            else {}
        ),
        clusters=f"{RESULTS}/clusters.tsv",
    log:
        f"{RESULTS}/logs/cluster.log",
    benchmark:
        f"{RESULTS}/benchmarks/cluster.tsv"
    priority: 10
    conda:
        ENVIRONMENT
    threads: configuration.several
    resources:
        mem_mb=configuration.memory(2000, 20),
        runtime=configuration.minutes(30, 1),
        python=PYTHON,
    params:
        relatives=(
            configuration.option("--relatives", f"{RESULTS}/relatives.tsv")
            if settings.training_proteins
            else []
        ),
        training=configuration.option("--training", settings.training_proteins),
        match=settings.calibration_set.match,
        pieces=configuration.option("--pieces", PIECES),
        settings=literal(settings.stage_json("cluster")),
        sources=digests(SEQUENCES, settings.training_proteins),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence cluster {input.proteins:q} {params.training:q}"
        " --match {params.match:q} --settings {params.settings:q}"
        " {params.relatives:q} {params.pieces:q} --threads {threads:q} --out {output.clusters:q} 2> {log:q}"
