# Thin: everything is in workflow/Snakefile. The rule of its own is what makes
# `snakemake --cores 2` here build something: a file that only includes another
# has no default target.


include: "workflow/Snakefile"


rule credence:
    default_target: True
    input:
        rules.all.input,
