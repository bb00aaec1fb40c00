# In: the samples and groups that calibrate.
# Out: labels.tsv, calibration proteins whose label is doubtful, and what the page says of them.
# Asked for by evaluation.doubtful_labels: it fits a method some 10 to 55 times more.


rule labels:
    input:
        samples=SAMPLES,
        groups=GROUPS,
    output:
        table=f"{REPORTS}/labels.tsv",
        record=LABELS,
    log:
        f"{RESULTS}/logs/labels.log",
    benchmark:
        f"{RESULTS}/benchmarks/labels.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 50),
        runtime=configuration.minutes(15, 20),
        python=PYTHON,
    params:
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence labels {input.samples:q} --format credence --groups {input.groups:q}"
        " --record {output.record:q} --spreadsheet-safe --out {output.table:q} 2> {log:q}"
