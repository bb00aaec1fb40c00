"""A few simulated proteins whose class shows in their residues, as files to train on."""

from __future__ import annotations

from pathlib import Path

from verification.novelty_study import ProteinWorldSettings, StudyProteins, simulate_proteins

WORLD = ProteinWorldSettings(n_classes=3, n_families=60, ambiguous=0.0, composition=10.0)
# What makes training short: few groups, narrow features, no search for relatives.
QUICK = (
    *("--clusters", "clusters.tsv", "--audit", "none", "--strict", "report"),
    *("--features", "di_sc_p", "--number-of-groups", "4", "--epochs", "8", "--width", "16"),
    *("--rate", "0.01"),
)


def write_proteins(folder: Path, settings: ProteinWorldSettings = WORLD) -> StudyProteins:
    """Write proteins.fasta, labels.tsv and clusters.tsv, and return what is in them."""
    known = simulate_proteins(settings)
    names = [known.class_names[class_] for class_ in known.true_class]
    rows = list(zip(known.ids, known.sequences, names, known.cluster, strict=True))
    fasta = "".join(f">{id_}\n{sequence}\n" for id_, sequence, _, _ in rows)
    labels = "".join(f"{id_}\t{name}\n" for id_, _, name, _ in rows)
    clusters = "".join(f"{id_}\t{cluster}\n" for id_, _, _, cluster in rows)
    (folder / "proteins.fasta").write_text(fasta)
    (folder / "labels.tsv").write_text("id\ttrue_class\n" + labels)
    (folder / "clusters.tsv").write_text("id\tcluster\n" + clusters)
    return known
