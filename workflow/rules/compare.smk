# In: a release and the one before it, of each its samples, groups and chosen calibration.
# Out: what the trove between them changed, by protein and by class; and for the page.


rule compare:
    input:
        older=lambda wildcards: release_files(before(wildcards.release)[-1]),
        newer=release_files(RELEASE),
        attached=f"{RELEASE}/attach.tsv",
        held_out=lambda wildcards: held_out(
            os.path.basename(before(wildcards.release)[-1]), CHOSEN, DEFAULT_FOLDS
        ),
    output:
        record=f"{RELEASE}/changes.json",
        table=f"{REPORTS}/releases/{{release}}/changes.tsv",
        classes=f"{REPORTS}/releases/{{release}}/changes_by_class.tsv",
    log:
        f"{RESULTS}/logs/compare-{{release}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compare-{{release}}.tsv"
    wildcard_constraints:
        release="|".join(TROVES) or "none",
    priority: 4
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 20),
        runtime=configuration.minutes(10, 0.5),
        python=PYTHON,
    params:
        older=lambda wildcards: before(wildcards.release)[-1],
        newer=lambda wildcards, output: os.path.dirname(output.record),
        held_out=lambda wildcards, input: configuration.options(
            "--held-out", input.held_out
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence compare {params.older:q} {params.newer:q}"
        " --spreadsheet-safe --out {output.table:q} --classes {output.classes:q}"
        " {params.held_out:q} --record {output.record:q} 2> {log:q}"
