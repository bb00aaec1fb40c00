# In: score tables as a tool wrote them, labels, proteins.
# Out: samples.parquet (the contract table) and check.json (what was found in it).


rule check:
    input:
        scores=given(settings.calibration_set.scores),
        labels=given(settings.calibration_set.label_table),
        proteins=given(settings.calibration_set.proteins),
    output:
        samples=f"{RESULTS}/releases/{BASE}/{MAIN}",
        summary=f"{RESULTS}/check.json",
    log:
        f"{RESULTS}/logs/check.log",
    benchmark:
        f"{RESULTS}/benchmarks/check.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 20),
        runtime=configuration.minutes(10, 0.5),
        python=PYTHON,
    params:
        spec=literal(configuration.as_json(settings.calibration_set.spec)),
        labels=literal(configuration.as_json(settings.calibration_set.labels)),
        proteins=configuration.option("--proteins", settings.calibration_set.proteins),
        match=settings.calibration_set.match,
        sources=digests(
            settings.calibration_set.scores,
            settings.calibration_set.label_table,
            settings.calibration_set.proteins,
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence check {input.scores:q} --labelled"
        " --spec {params.spec:q} --labels {params.labels:q} {params.proteins:q}"
        " --match {params.match:q} --samples {output.samples:q} --out {output.summary:q}"
        " 2> {log:q}"


rule check_query_set:
    input:
        scores=lambda wildcards: given(QUERIES[wildcards.query_set].scores),
    output:
        f"{RESULTS}/queries/{{query_set}}/check.json",
    log:
        f"{RESULTS}/logs/check-{{query_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/check-{{query_set}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(700, 0.3),
        runtime=configuration.minutes(10, 0.02),
        python=PYTHON,
    params:
        spec=lambda wildcards: configuration.as_json(QUERIES[wildcards.query_set].spec),
        sources=lambda wildcards: digests(QUERIES[wildcards.query_set].scores),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence check {input.scores:q}"
        " --spec {params.spec:q} --out {output:q} 2> {log:q}"
