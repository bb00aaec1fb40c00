# What several rules ask about files of the user's and the chain of releases.


def given(*paths):
    """Return files as inputs whose dates say nothing: their digests do."""
    return [path if path in MADE else ancient(path) for path in named(paths)]


def literal(value):
    """Return a parameter as it is: Snakemake takes braces in text for wildcards."""
    return lambda wildcards: value


def digests(*paths):
    """Return the digests of files of the user's, so that a changed one is read anew."""
    return [
        KNOWN.digest(path) if os.path.isfile(path) else "absent"
        for path in named(paths)
        if path not in MADE
    ]


def named(paths):
    """Return paths, lists of paths and nothing as one list."""
    listed = []
    for path in paths:
        listed += [path] if isinstance(path, str) else list(path or [])
    return listed


SEQUENCES = settings.calibration_set.proteins

# Where proteins of known class lie, and what tells it; nothing where nothing does.
NOVELTY = [f"{REPORTS}/novelty.json"] if settings.has_novelty else []
novelty_proteins = None if settings.novelty_vectors else SEQUENCES
novelty_training = None if settings.novelty_vectors else settings.training_proteins
novelty_added = [
    f"{RESULTS}/releases/{name}/added.fasta" for name in TROVES if novelty_proteins
]
# Query sets that can be compared with them.
COMPARED = [
    name for name, entry in QUERIES.items() if settings.compares(entry.proteins)
]

# Events look at distances where those of every query set are known.
NEAR = NOVELTY if len(COMPARED) == len(QUERIES) else []


# The answers of each of several tools for the proteins of a query set.
ANSWERS = [f"{RESULTS}/queries/{{query_set}}/answers.parquet"] if settings.tools else []


def tool_tables(query_set):
    """Return the tables of further tools of a query set, as pairs of name and table."""
    return [
        (name, path)
        for name, paths in GIVEN_SETS[query_set].tools.items()
        for path in paths
    ]


def features_of(query_set):
    """Return the files that tell the proteins of a query set."""
    vectors = settings.novelty_vectors if query_set in COMPARED else None
    return [path for path in (vectors, QUERIES[query_set].proteins) if path]


def compared(query_set):
    """Return the options that compare a query set with what is known."""
    words = configuration.option("--proteins", QUERIES[query_set].proteins)
    if query_set in COMPARED:
        words = [*words, "--novelty", *NOVELTY]
        words += configuration.option("--vectors", settings.novelty_vectors)
    return [*words, "--match", QUERIES[query_set].match]


def before(release):
    """Return the folders of the releases before one."""
    return [
        f"{RESULTS}/releases/{name}" for name in RELEASES[: RELEASES.index(release)]
    ]


def added(release):
    """Return what earlier troves added, as sequences."""
    return [f"{folder}/added.fasta" for folder in before(release)[1:] if SEQUENCES]


def added_until(release):
    """Return what troves added up to a release, its own too."""
    last = [f"{RESULTS}/releases/{release}/added.fasta"]
    return [*added(release), *(last if release in TROVES and SEQUENCES else [])]


def given_clusters(release):
    """Return the tables of clusters of the base and of earlier troves."""
    if not settings.cluster_table:
        return []
    earlier = RELEASES[1 : RELEASES.index(release)]
    return [settings.cluster_table, *(TROVES[name].clusters for name in earlier)]


def release_files(folder):
    """Return the files of a release that a comparison reads."""
    return [
        f"{folder}/samples.parquet",
        f"{folder}/groups.tsv",
        f"{folder}/calibrations/{CHOSEN}.json",
        f"{folder}/release.json",
    ]


def held_out(release, method, n_folds):
    """Return what a fit says of proteins held out in so many folds, where it does."""
    is_there = meaning.is_held_out_by_fit(METHODS[method], n_folds)
    return [f"{RESULTS}/releases/{release}/held_out/{method}.json"] if is_there else []


def further_files():
    """Return what was read beside what `check` and `attach` list, and as what."""
    clusters = settings.cluster_table
    is_used = clusters and (TROVES or settings.values["split"]["recipe"] == "balanced")
    files = [
        ("training proteins", settings.training_proteins),
        ("clusters", clusters if is_used else None),
        *(
            (f"trove {trove.name}: clusters", clusters and trove.clusters)
            for trove in settings.troves
        ),
        ("vectors", settings.novelty_vectors),
        *(
            (f"query set {name}: proteins", entry.proteins)
            for name, entry in QUERIES.items()
        ),
        *(
            (f"tool {tool.name}", path)
            for tool in settings.tools
            for path in tool.scores
        ),
        *(
            (f"query set {name}: tool {tool}", path)
            for name in (GIVEN_SETS if settings.tools else ())
            for tool, path in [
                *(("main", path) for path in GIVEN_SETS[name].scores),
                *tool_tables(name),
            ]
        ),
        *(
            (f"query set {name}: true classes", entry.truth)
            for name, entry in QUERIES.items()
        ),
    ]
    return [(role, path) for role, path in files if path]


# Where pieces of the search are kept; only one engine has some.
PIECES = (
    f"{RESULTS}/search/pieces"
    if settings.values["clustering"]["engine"] == "mmseqs"
    else None
)


def shares_of_search(step):
    """Return what the jobs of a step write, where a search is divided."""
    pattern = f"{RESULTS}/search/{step}-{{share}}.txt"
    return expand(pattern, share=range(1, SEARCHES + 1)) if SEARCHES > 1 else []


def before_share(wildcards):
    """Return what has to be there before a share: what its whole step needs."""
    if wildcards.share != "0":
        return [f"{RESULTS}/search/{wildcards.step}-0.txt"]
    return shares_of_search("search") if wildcards.step == "again" else []


# Query sets of whose proteins a column names the genome.
WITH_GENOMES = [name for name, entry in QUERIES.items() if entry.spec.get("genome")]


# The lists of a query set, one for each share of wrong ones.
LISTS = [
    f"{REPORTS}/{{query_set}}/{name}" for name in list_names(settings.settings.lists)
]


# Of several labels, the most specific ones accepted of each protein.
ACCEPTED = (
    [f"{REPORTS}/{{query_set}}/accepted.tsv"]
    if LISTS and settings.is_of_several
    else []
)


def list_options(query_set):
    """Return the option that asks for lists, where the settings want some."""
    return ["--lists", f"{REPORTS}/{query_set}"] if LISTS else []


def places_for(method):
    """Return what tells a method where proteins lie, if it asks."""
    return NOVELTY if meaning.needs_places(method) else []
