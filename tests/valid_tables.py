"""The valid tables of the tests, and as what each is read."""

from __future__ import annotations

from pathlib import Path

from credence.tables.formats import TableSpec

VALID = Path(__file__).resolve().parent / "data" / "valid" / "tables"
SPECS = {
    "phanns.csv": TableSpec("phanns"),
    "phanns_labelled.csv": TableSpec("phanns-labelled"),
    "phanns3.csv": TableSpec("phanns3"),
    "phanns3_labelled.csv": TableSpec("phanns3-labelled"),
    "deeplocpro.csv": TableSpec("deeplocpro"),
    "deepvp.csv": TableSpec("deepvp"),
    "signalp6.txt": TableSpec("signalp6"),
    "phold.tsv": TableSpec("phold"),
    "phavip.csv": TableSpec("phavip"),
    "phynteny.tsv": TableSpec("phynteny"),
    "phynteny_transformer.tsv": TableSpec("phynteny"),
    "phold_1.tsv": TableSpec("phold"),
    "vpf_plm.csv": TableSpec("vpf-plm"),
    "empathi.csv": TableSpec("empathi"),
    "genomad.tsv": TableSpec("genomad"),
    "clean.csv": TableSpec("clean"),
    "clean_gmm.csv": TableSpec("clean-gmm"),
    "long.tsv": TableSpec("long", columns={"id": "id", "term": "term", "score": "score"}),
    "credence.tsv": TableSpec("credence", scale=1.0),
    "networks_long.tsv": TableSpec("credence"),
    "top_score.tsv": TableSpec("top_score", columns={"id": "id", "score": "score"}),
    "wide.csv": TableSpec("wide", columns={"id": "id"}),
}
