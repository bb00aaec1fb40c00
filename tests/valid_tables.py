"""The valid tables of the tests, and as what each is read."""

from __future__ import annotations

from pathlib import Path

from credence.tables.formats import TableSpec

VALID = Path(__file__).resolve().parent / "data" / "valid" / "tables"
SPECS = {
    "phanns.csv": TableSpec(format="phanns"),
    "phanns_labelled.csv": TableSpec(format="phanns-labelled"),
    "phanns3.csv": TableSpec(format="phanns3"),
    "phanns3_labelled.csv": TableSpec(format="phanns3-labelled"),
    "deeplocpro.csv": TableSpec(format="deeplocpro"),
    "deepvp.csv": TableSpec(format="deepvp"),
    "signalp6.txt": TableSpec(format="signalp6"),
    "phold.tsv": TableSpec(format="phold"),
    "phavip.csv": TableSpec(format="phavip"),
    "phynteny.tsv": TableSpec(format="phynteny"),
    "phynteny_transformer.tsv": TableSpec(format="phynteny"),
    "phold_1.tsv": TableSpec(format="phold"),
    "vpf_plm.csv": TableSpec(format="vpf-plm"),
    "empathi.csv": TableSpec(format="empathi"),
    "genomad.tsv": TableSpec(format="genomad"),
    "clean.csv": TableSpec(format="clean"),
    "clean_gmm.csv": TableSpec(format="clean-gmm"),
    "deepfri.csv": TableSpec(format="deepfri"),
    "deepgoplus.tsv": TableSpec(format="deepgoplus"),
    "eggnog.tsv": TableSpec(format="eggnog", scale=1000.0),
    "long.tsv": TableSpec(format="long", columns={"id": "id", "term": "term", "score": "score"}),
    "credence.tsv": TableSpec(format="credence", scale=1.0),
    "networks_long.tsv": TableSpec(format="credence"),
    "top_score.tsv": TableSpec(format="top_score", columns={"id": "id", "score": "score"}),
    "wide.csv": TableSpec(format="wide", columns={"id": "id"}),
}
