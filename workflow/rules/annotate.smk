# In: the table of a use-set, as the tool wrote it, and the chosen calibration.
# Out: confidences.tsv, a confidence for every prediction.


rule annotate:
    input:
        scores=lambda wildcards: USE_SETS[wildcards.use_set].scores,
        summary=rules.check_use_set.output[0],
        calibration=f"{RESULTS}/calibrations/{CHOSEN}.json",
    output:
        f"{REPORTS}/{{use_set}}/confidences.tsv",
    log:
        f"{RESULTS}/logs/annotate-{{use_set}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/annotate-{{use_set}}.tsv"
    conda:
        ENVIRONMENT
    resources:
        python=sys.executable,
    params:
        spec=lambda wildcards: USE_SETS[wildcards.use_set].spec_json,
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence annotate {input.scores:q}"
        " --calibration {input.calibration:q} --spec {params.spec:q}"
        " --spreadsheet-safe --out {output:q} 2> {log:q}"
