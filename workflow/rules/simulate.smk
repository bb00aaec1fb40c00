# In: nothing but the settings of the world.
# Out: demo/, the tables and sequences of a simulated world.


rule simulate:
    output:
        meaning.DEMO_FILES,
    log:
        f"{RESULTS}/logs/simulate.log",
    benchmark:
        f"{RESULTS}/benchmarks/simulate.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=configuration.memory(1000),
        runtime=configuration.minutes(30),
        python=PYTHON,
    params:
        folder=lambda wildcards, output: os.path.dirname(output[0]),
        settings=literal(configuration.as_json(settings.values["demo"])),
        source=SOURCE,
    shell:
        "{resources.python:q} -m credence simulate {params.folder:q}"
        " --settings {params.settings:q} 2> {log:q}"
