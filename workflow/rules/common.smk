# What several rules ask about the chain of releases.

SEQUENCES = settings.calibration_set.proteins


def before(release):
    """Return the folders of the releases before one."""
    return [
        f"{RESULTS}/releases/{name}" for name in RELEASES[: RELEASES.index(release)]
    ]


def added(release):
    """Return what earlier troves added, as sequences."""
    return [f"{folder}/added.fasta" for folder in before(release)[1:] if SEQUENCES]


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
