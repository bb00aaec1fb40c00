# In: samples and groups of the last release, the proteins of all of them, and those that
# the classifier was trained on.
# Out: novelty.json, where the proteins of known class lie, for query sets to be
# compared with.


rule novelty:
    input:
        samples=SAMPLES,
        groups=GROUPS,
        proteins=given(novelty_proteins),
        added=novelty_added,
        vectors=given(settings.novelty_vectors),
        training=given(novelty_training),
    output:
        f"{REPORTS}/novelty.json",
    log:
        f"{RESULTS}/logs/novelty.log",
    benchmark:
        f"{RESULTS}/benchmarks/novelty.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: configuration.few
    resources:
        mem_mb=configuration.memory(1500, 100),
        runtime=configuration.minutes(15, 5),
        python=PYTHON,
    params:
        proteins=configuration.options(
            "--proteins", [*named([novelty_proteins]), *novelty_added]
        ),
        vectors=configuration.option("--vectors", settings.novelty_vectors),
        training=configuration.option("--training", novelty_training),
        match=settings.calibration_set.match,
        settings=literal(settings.stage_json("novelty")),
        sources=digests(novelty_proteins, settings.novelty_vectors, novelty_training),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence novelty {input.samples:q} --format credence"
        " --groups {input.groups:q} {params.proteins:q} {params.vectors:q}"
        " {params.training:q} --match {params.match:q} --settings {params.settings:q}"
        " --threads {threads:q}"
        " --out {output:q} 2> {log:q}"
