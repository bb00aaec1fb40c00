# In: nothing but the settings of the world.
# Out: demo/, the tables and sequences of a simulated world.


rule simulate:
    output:
        configuration.DEMO_FILES,
    log:
        f"{RESULTS}/logs/simulate.log",
    benchmark:
        f"{RESULTS}/benchmarks/simulate.tsv"
    params:
        folder=configuration.DEMO_FOLDER,
        settings=settings.demo_json,
        source=SOURCE,
    shell:
        "{sys.executable:q} -m credence simulate {params.folder:q}"
        " --settings {params.settings:q} 2> {log:q}"
