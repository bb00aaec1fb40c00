# In: the samples of the first tool, the groups that say which of them calibrate, and the
# tables of further tools.
# Out: samples.parquet, the answers of all of them as one table, held out for what calibrates;
# tools.json, how they are combined; and the same of each query set, with the answers of each tool.


rule combine:
    input:
        samples=f"{RELEASE}/{MAIN}",
        groups=f"{RELEASE}/groups.tsv",
        tables=given([tool.scores for tool in settings.tools]),
    output:
        samples=f"{RELEASE}/samples.parquet",
        record=f"{RELEASE}/tools.json",
    log:
        f"{RESULTS}/logs/combine-{{release}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/combine-{{release}}.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(700, 30),
        runtime=configuration.minutes(15, 10),
        python=PYTHON,
    params:
        tools=literal(configuration.as_json(settings.tools)),
        settings=literal(settings.stage_json("combine")),
        sources=digests(*(tool.scores for tool in settings.tools)),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence combine {input.samples:q} --format credence --groups {input.groups:q}"
        " --tools {params.tools:q} --settings {params.settings:q}"
        " --record {output.record:q} --out {output.samples:q} 2> {log:q}"


rule combine_query_set:
    input:
        scores=lambda wildcards: given(GIVEN_SETS[wildcards.query_set].scores),
        tables=lambda wildcards: given(
            [path for _, path in tool_tables(wildcards.query_set)]
        ),
        calibration=CALIBRATION,
    output:
        table=f"{RESULTS}/queries/{{query_set}}/combined.parquet",
        answers=ANSWERS,
    log:
        f"{RESULTS}/logs/combine-{{query_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/combine-{{query_set}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000, 20),
        runtime=configuration.minutes(15, 0.5),
        python=PYTHON,
    params:
        spec=lambda wildcards: configuration.as_json(
            GIVEN_SETS[wildcards.query_set].spec
        ),
        tools=lambda wildcards: configuration.options(
            "--tool",
            [f"{name}={path}" for name, path in tool_tables(wildcards.query_set)],
        ),
        sources=lambda wildcards: digests(
            GIVEN_SETS[wildcards.query_set].scores,
            [path for _, path in tool_tables(wildcards.query_set)],
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence combine {input.scores:q} --spec {params.spec:q} --calibration {input.calibration:q}"
        " {params.tools:q} --answers {output.answers:q} --out {output.table:q} 2> {log:q}"
