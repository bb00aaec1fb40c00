# In: the table of a query set and the chosen calibration.
# Out: class_proportions.tsv and .parquet, how frequent the classes are there, and shift.json,
# what corrects confidences for it.


rule shift:
    input:
        scores=lambda wildcards: given(QUERIES[wildcards.query_set].scores),
        summary=rules.check_query_set.output[0],
        calibration=CALIBRATION,
    output:
        composition=report(
            f"{REPORTS}/{{query_set}}/class_proportions.tsv",
            caption="../report/class_proportions.rst",
            category="Tables",
            labels={"run": settings.run, "what": "composition of {query_set}"},
        ),
        parquet=f"{REPORTS}/{{query_set}}/class_proportions.parquet",
        record=f"{RESULTS}/queries/{{query_set}}/shift.json",
    log:
        f"{RESULTS}/logs/shift-{{query_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/shift-{{query_set}}.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000, 0.3),
        runtime=configuration.minutes(15, 0.03),
        python=PYTHON,
    params:
        spec=lambda wildcards: configuration.as_json(QUERIES[wildcards.query_set].spec),
        sources=lambda wildcards: digests(QUERIES[wildcards.query_set].scores),
        settings=lambda wildcards: settings.stage_json(
            "shift", shift=asdict(QUERIES[wildcards.query_set].shift)
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence shift {input.scores:q} --spec {params.spec:q}"
        " --calibration {input.calibration:q} --settings {params.settings:q}"
        " --name {wildcards.query_set:q} --record {output.record:q} --spreadsheet-safe --six-decimals"
        " --also {output.parquet:q} --out {output.composition:q} 2> {log:q}"
