# In: the table of a use-set and the chosen calibration.
# Out: composition.tsv and .parquet, how frequent the classes are there, and shift.json,
# what corrects confidences for it.


rule shift:
    input:
        scores=lambda wildcards: given(USE_SETS[wildcards.use_set].scores),
        summary=rules.check_use_set.output[0],
        calibration=CALIBRATION,
    output:
        composition=report(
            f"{REPORTS}/{{use_set}}/composition.tsv",
            caption="../report/composition.rst",
            category="Tables",
            labels={"run": settings.run, "what": "composition of {use_set}"},
        ),
        parquet=f"{REPORTS}/{{use_set}}/composition.parquet",
        record=f"{RESULTS}/use_sets/{{use_set}}/shift.json",
    log:
        f"{RESULTS}/logs/shift-{{use_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/shift-{{use_set}}.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000, 0.3),
        runtime=configuration.minutes(15, 0.03),
        python=PYTHON,
    params:
        spec=lambda wildcards: configuration.as_json(USE_SETS[wildcards.use_set].spec),
        sources=lambda wildcards: digests(USE_SETS[wildcards.use_set].scores),
        settings=lambda wildcards: settings.stage_json(
            "shift", shift=asdict(USE_SETS[wildcards.use_set].shift)
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence shift {input.scores:q} --spec {params.spec:q}"
        " --calibration {input.calibration:q} --settings {params.settings:q}"
        " --name {wildcards.use_set:q} --record {output.record:q} --spreadsheet-safe --six-decimals"
        " --also {output.parquet:q} --out {output.composition:q} 2> {log:q}"
