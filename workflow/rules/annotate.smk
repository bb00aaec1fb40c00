# In: the table of a query set, as the tool wrote it, the chosen calibration, the same
# corrected for the set's composition, and where proteins of known class lie.
# Out: confidences.tsv and .parquet, a confidence for every prediction, corrected, and
# uncorrected behind; and, for the page, how far its proteins are from those known.


rule annotate:
    input:
        scores=lambda wildcards: given(QUERIES[wildcards.query_set].scores),
        answers=ANSWERS,
        summary=rules.check_query_set.output[0],
        calibration=CALIBRATION,
        shift=rules.shift.output.record if SHIFTED else [],
        events=EVENTS,
        known=lambda wildcards: NOVELTY if wildcards.query_set in COMPARED else [],
        features=lambda wildcards: given(features_of(wildcards.query_set)),
    output:
        table=f"{REPORTS}/{{query_set}}/confidences.tsv",
        parquet=f"{REPORTS}/{{query_set}}/confidences.parquet",
        # Empty for a query set that cannot be compared.
        novelty=f"{RESULTS}/queries/{{query_set}}/novelty.json",
        lists=LISTS,
        accepted=ACCEPTED,
        record=f"{RESULTS}/queries/{{query_set}}/lists.json",
    log:
        f"{RESULTS}/logs/annotate-{{query_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/annotate-{{query_set}}.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: configuration.few
    resources:
        mem_mb=configuration.memory(700, 20),
        runtime=configuration.minutes(15, 0.5),
        python=PYTHON,
    params:
        spec=lambda wildcards: configuration.as_json(QUERIES[wildcards.query_set].spec),
        sources=lambda wildcards: digests(
            QUERIES[wildcards.query_set].scores,
            features_of(wildcards.query_set),
        ),
        events=lambda wildcards, input: configuration.options("--events", input.events),
        answers=lambda wildcards, input: configuration.options(
            "--answers", input.answers
        ),
        compared=lambda wildcards: compared(wildcards.query_set),
        lists=lambda wildcards: list_options(wildcards.query_set),
        shift=lambda wildcards, input: input.shift or "none",
        settings=literal(settings.stage_json("annotate")),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence annotate {input.scores:q}"
        " --calibration {input.calibration:q} --shift {params.shift:q} --spec {params.spec:q}"
        " {params.events:q} {params.compared:q} {params.answers:q} --novelty-record {output.novelty:q}"
        " --name {wildcards.query_set:q} {params.lists:q} --lists-record {output.record:q}"
        " --settings {params.settings:q} --threads {threads:q}"
        " --spreadsheet-safe --six-decimals --also {output.parquet:q} --out {output.table:q} 2> {log:q}"


rule genomes:
    input:
        table=f"{REPORTS}/{{query_set}}/confidences.parquet",
        calibration=CALIBRATION,
        shift=rules.shift.output.record,
    output:
        table=f"{REPORTS}/{{query_set}}/genomes.tsv",
        record=f"{RESULTS}/queries/{{query_set}}/genomes.json",
    log:
        f"{RESULTS}/logs/genomes-{{query_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/genomes-{{query_set}}.tsv"
    wildcard_constraints:
        query_set="|".join(WITH_GENOMES) or "none",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 0.5),
        runtime=configuration.minutes(10, 0.02),
        python=PYTHON,
    params:
        settings=literal(settings.stage_json("genomes")),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence genomes {input.table:q} --calibration {input.calibration:q} --shift {input.shift:q}"
        " --name {wildcards.query_set:q} --record {output.record:q} --settings {params.settings:q}"
        " --spreadsheet-safe --out {output.table:q} 2> {log:q}"
