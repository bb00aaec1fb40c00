# In: the samples and groups that calibrate, the chosen calibration, and how far
# proteins are from each other.
# Out: events.json, forecasts of the events asked for and how good they are.


rule events:
    input:
        samples=SAMPLES,
        groups=GROUPS,
        calibration=CALIBRATION,
        near=NEAR,
        held_out=(
            held_out(LAST, CHOSEN, settings.values["events"]["folds"])
            if settings.values["events"]["agree"]
            else []
        ),
    output:
        EVENTS,
    log:
        f"{RESULTS}/logs/events.log",
    benchmark:
        f"{RESULTS}/benchmarks/events.tsv"
    priority: 6
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 50),
        runtime=configuration.minutes(15, 10),
        python=PYTHON,
    params:
        settings=literal(settings.stage_json("events")),
        near=configuration.options("--novelty", NEAR),
        held_out=lambda wildcards, input: configuration.options(
            "--held-out", input.held_out
        ),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence events {input.samples:q} --format credence"
        " --groups {input.groups:q} --calibration {input.calibration:q}"
        " --settings {params.settings:q}"
        " {params.near:q} {params.held_out:q} --out {output:q} 2> {log:q}"
