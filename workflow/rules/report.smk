# In: findings, the confidences of the query sets, the chosen calibration.
# Out: reports/<run>/: the page and, beside it, its data as files, and all of it as
# an archive; findings.json; reports/index.html, which is of all runs and therefore
# no rule's output.


rule report:
    input:
        evaluation=rules.evaluate.output.evaluation,
        metrics=rules.evaluate.output.metrics,
        calibration=CALIBRATION,
        split=rules.split.output.summary,
        confidences=expand(rules.annotate.output.table, query_set=QUERIES),
        further=expand(
            [
                rules.annotate.output.parquet,
                *LISTS,
                *ACCEPTED,
            ],
            query_set=QUERIES,
        ),
        proportions=expand(
            [rules.shift.output.composition, rules.shift.output.parquet],
            query_set=SHIFTED,
        ),
        releases=expand(
            [
                rules.release.output.published,
                rules.release.output.calibration,
                rules.release.output.groups,
            ],
            release=RELEASES,
        ),
        summaries=expand(rules.check_query_set.output[0], query_set=QUERIES),
        shifts=expand(rules.shift.output.record, query_set=SHIFTED),
        changes=expand(rules.compare.output.record, release=TROVES),
        events=EVENTS,
        labels=LABELS,
        doubtful=[f"{REPORTS}/labels.tsv"] if LABELS else [],
        novelties=expand(rules.annotate.output.novelty, query_set=COMPARED),
        lists=expand(rules.annotate.output.record, query_set=QUERIES),
        genomes=expand(rules.genomes.output.record, query_set=WITH_GENOMES),
        of_genomes=expand(rules.genomes.output.table, query_set=WITH_GENOMES),
        thresholds=rules.evaluate.output.thresholds,
        read=given(*(path for _, path in further_files())),
    output:
        findings=f"{RESULTS}/findings.json",
        page=report(
            f"{REPORTS}/index.html",
            caption="../report/page.rst",
            category="Page",
            labels={"run": settings.run, "what": "the page"},
        ),
        record=f"{REPORTS}/report.json",
        multiqc=f"{REPORTS}/credence_mqc.json",
        publication=f"{REPORTS}/publication.md",
        metrics=report(
            f"{REPORTS}/metrics.tsv",
            caption="../report/metrics.rst",
            category="Tables",
            labels={"run": settings.run, "what": "metrics"},
        ),
        metrics_parquet=f"{REPORTS}/metrics.parquet",
        archive=f"{REPORTS}/archive.zip",
        calibration=report(
            f"{REPORTS}/calibration.json",
            caption="../report/calibration.rst",
            category="Calibration",
            labels={"run": settings.run, "what": "the calibration"},
        ),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1500, 0.3),
        runtime=configuration.minutes(15, 0.05),
        python=PYTHON,
    params:
        queries=lambda wildcards, input: configuration.options(
            "--query-set", zip(QUERIES, input.confidences, input.summaries)
        ),
        shifts=lambda wildcards, input: configuration.options("--shift", input.shifts),
        changes=lambda wildcards, input: configuration.options(
            "--changes", input.changes
        ),
        events=lambda wildcards, input: configuration.options("--events", input.events),
        labels=configuration.options("--labels", LABELS),
        novelties=lambda wildcards, input: configuration.options(
            "--novelty", input.novelties
        ),
        further=lambda wildcards, input: configuration.options(
            "--put",
            [
                input.thresholds,
                *input.doubtful,
                *input.further,
                *input.proportions,
                *input.of_genomes,
                *input.releases,
            ],
        ),
        lists=lambda wildcards, input: [
            *configuration.options("--lists", input.lists),
            *configuration.options("--genomes", input.genomes),
        ],
        truth=configuration.options(
            "--truth",
            [(name, entry.truth) for name, entry in QUERIES.items() if entry.truth],
        ),
        read=configuration.options("--read", further_files()),
        sources=digests(*(path for _, path in further_files())),
        index="reports/index.html",
        settings=literal(settings.report_json),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence report {input.evaluation:q} {params.queries:q}"
        " {params.shifts:q} {params.changes:q} {params.events:q} {params.labels:q} {params.novelties:q} {params.lists:q} {params.read:q} {params.truth:q} --settings {params.settings:q} --findings {output.findings:q}"
        " --metrics {input.metrics:q} --split {input.split:q}"
        " --archive {output.archive:q} {params.further:q} --index {params.index:q}"
        " --calibration {input.calibration:q} --out {output.page:q} 2> {log:q}"
