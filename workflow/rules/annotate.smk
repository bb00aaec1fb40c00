# In: the table of a use-set, as the tool wrote it, the chosen calibration, and the
# same corrected for the set's composition.
# Out: confidences.tsv and .parquet, a confidence for every prediction, both as it is
# and corrected.


rule annotate:
    input:
        scores=lambda wildcards: given(USE_SETS[wildcards.use_set].scores),
        summary=rules.check_use_set.output[0],
        calibration=CALIBRATION,
        shift=rules.shift.output.record,
        events=EVENTS,
        evidence=(settings.evidence or []) if EVENTS else [],
    output:
        table=f"{REPORTS}/{{use_set}}/confidences.tsv",
        parquet=f"{REPORTS}/{{use_set}}/confidences.parquet",
    log:
        f"{RESULTS}/logs/annotate-{{use_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/annotate-{{use_set}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 4),
        runtime=configuration.minutes(10, 0.3),
        python=sys.executable,
    params:
        spec=lambda wildcards: USE_SETS[wildcards.use_set].spec_json,
        sources=lambda wildcards: digests(
            USE_SETS[wildcards.use_set].scores, settings.evidence if EVENTS else None
        ),
        events=lambda wildcards, input: [
            *configuration.options("--events", input.events),
            *configuration.options("--evidence", input.evidence),
        ],
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence stage --reads {input:q} --writes {output:q} --"
        " annotate {input.scores:q}"
        " --calibration {input.calibration:q} --shift {input.shift:q} --spec {params.spec:q}"
        " {params.events:q} --spreadsheet-safe --also {output.parquet:q} --out {output.table:q} 2> {log:q}"
