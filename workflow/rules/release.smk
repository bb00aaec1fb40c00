# In: samples, groups and the chosen calibration of a release, and its parent.
# Out: release.json, its digests and counts; and a folder of the release for people.


rule release:
    input:
        samples=f"{RELEASE}/samples.parquet",
        groups=f"{RELEASE}/groups.tsv",
        calibration=f"{RELEASE}/calibrations/{CHOSEN}.json",
        summary=lambda wildcards: (
            rules.check.output.summary if wildcards.release == BASE else []
        ),
        attached=lambda wildcards: (
            f"{RESULTS}/releases/{wildcards.release}/attach.json"
            if wildcards.release in TROVES
            else []
        ),
        parent=lambda wildcards: (
            f"{before(wildcards.release)[-1]}/release.json"
            if wildcards.release in TROVES
            else []
        ),
    output:
        record=f"{RELEASE}/release.json",
        published=f"{REPORTS}/releases/{{release}}/release.json",
        calibration=f"{REPORTS}/releases/{{release}}/calibration.json",
        groups=f"{REPORTS}/releases/{{release}}/groups.tsv",
    log:
        f"{RESULTS}/logs/release-{{release}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/release-{{release}}.tsv"
    priority: 10
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(500, 10),
        runtime=configuration.minutes(10, 0.2),
        python=PYTHON,
    params:
        name=lambda wildcards: wildcards.release.split("-", 1)[1],
        number=lambda wildcards: RELEASES.index(wildcards.release),
        date=lambda wildcards: configuration.option(
            "--date", getattr(TROVES.get(wildcards.release), "date", None)
        ),
        parent=lambda wildcards, input: configuration.option(
            "--parent", input.parent or None
        ),
        summary=lambda wildcards, input: configuration.option(
            "--check", input.summary or None
        ),
        attached=lambda wildcards, input: configuration.option(
            "--attached", input.attached or None
        ),
        publish=lambda wildcards, output: os.path.dirname(output.published),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence release {params.name:q} --number {params.number:q}"
        " {params.date:q} {params.parent:q} {params.summary:q} {params.attached:q}"
        " --samples {input.samples:q} --samples-format credence --groups {input.groups:q}"
        " --calibration {input.calibration:q} --publish {params.publish:q}"
        " --out {output.record:q} 2> {log:q}"
