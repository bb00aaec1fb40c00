# In: samples of a release, and the groups that say which of them calibrate.
# Out: one calibration, a JSON file, per method; and its confidences of proteins held out.


rule fit:
    input:
        samples=f"{RELEASE}/samples.parquet",
        groups=f"{RELEASE}/groups.tsv",
        tools=TOOLS,
        known=lambda wildcards: places_for(METHODS[wildcards.method]),
        proteins=given(SEQUENCES),
        added=lambda wildcards: added_until(wildcards.release),
    output:
        calibration=f"{RELEASE}/calibrations/{{method}}.json",
        held_out=f"{RELEASE}/held_out/{{method}}.json",
    log:
        f"{RESULTS}/logs/fit-{{release}}-{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fit-{{release}}-{{method}}.tsv"
    priority: 5
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 50),
        runtime=configuration.minutes(15, 10),
        python=PYTHON,
    params:
        settings=lambda wildcards: settings.stage_json(
            "fit", calibration={"method": METHODS[wildcards.method]}
        ),
        known=lambda wildcards, input: configuration.options("--novelty", input.known),
        proteins=lambda wildcards, input: configuration.options(
            "--proteins", [*input.proteins, *input.added]
        ),
        tools=lambda wildcards, input: configuration.options("--tools", input.tools),
        spec=literal(configuration.as_json(settings.calibration_set.spec)),
        match=settings.calibration_set.match,
        sources=digests(SEQUENCES),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence fit {input.samples:q} --format credence --read-as {params.spec:q}"
        " --groups {input.groups:q} --settings {params.settings:q} {params.known:q} {params.tools:q}"
        " {params.proteins:q} --match {params.match:q}"
        " --held-out {output.held_out:q} --out {output.calibration:q} 2> {log:q}"
