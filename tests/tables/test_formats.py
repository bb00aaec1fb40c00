"""Each format reads a small table of its own to the arrays that stand in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from credence.tables import joining
from credence.tables.formats import BROAD, CATEGORIES, CLASSES, FORMAT_OF, FORMATS, TableSpec
from credence.tables.guess import propose_formats
from credence.tables.samples import Samples, read_samples, stream_samples

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"


@dataclass(frozen=True)
class Expected:
    spec: TableSpec
    ids: list[str]
    classes: tuple[str, ...]
    predicted: list[str]
    top_score: list[float]
    lines: list[int]
    truth: list[str] | None = None
    scale: float = 1.0
    resolution: float = 0.0001
    is_distribution: bool = True
    unscored: list[str] = field(default_factory=list)
    proposed: bool = True


SIGNALS = (
    "OTHER",
    "SP(Sec/SPI)",
    "LIPO(Sec/SPII)",
    "TAT(Tat/SPI)",
    "TATLIPO(Tat/SPII)",
    "PILIN(Sec/SPIII)",
)
VIRION = (
    "Head_Tail_joining",
    "Collar",
    "Tail_sheath",
    "Tail_fiber",
    "Portal",
    "Minor_tail",
    "Major_tail",
    "Baseplate",
    "Minor_capsid",
    "Major_capsid",
)
PLACES = (
    "Cell wall & surface",
    "Extracellular",
    "Cytoplasmic",
    "Cytoplasmic Membrane",
    "Outer Membrane",
    "Periplasmic",
)
EXPECTED = {
    "phanns.csv": Expected(
        spec=TableSpec(format="phanns"),
        ids=["gp1 portal protein", "gp2", "gp2_1"],
        classes=CLASSES,
        predicted=["Portal", "Other", "Major capsid"],  # gp2_1 is a tie: the first class counts
        top_score=[9.5, 9.09, 4.99],
        lines=[2, 3, 4],
        scale=10.0,
        resolution=0.01,
    ),
    "phanns_single_file.csv": Expected(
        spec=TableSpec(format="phanns"),
        ids=["gp1", "gp2"],
        classes=CLASSES,
        predicted=["Portal", "Other"],
        top_score=[9.5, 9.11],
        lines=[2, 3],
        scale=10.0,
    ),
    "phanns_labelled.csv": Expected(
        spec=TableSpec(format="phanns-labelled"),
        ids=["major_capsid_12", "shaft_3", "tail_shaft_3", "HTJ_7", "others_", "other_1"],
        classes=("Major capsid", "Tail shaft", "HTJ", "Other"),
        predicted=["Major capsid", "Tail shaft", "Tail shaft", "HTJ", "Other", "Major capsid"],
        top_score=[7.5, 8.2, 6.7, 9.6, 9.5, 5.0],
        lines=[2, 3, 4, 5, 6, 7],
        truth=["Major capsid", "Tail shaft", "Tail shaft", "HTJ", "Other", "Other"],
        scale=10.0,
        resolution=0.01,
    ),
    "phanns3.csv": Expected(
        spec=TableSpec(format="phanns3"),
        ids=["tail protein of a phage", "gp7"],
        classes=("Baseplate", "Collar", "HTJ", "Other"),
        predicted=["Baseplate", "Other"],
        top_score=[0.8123, 0.8],
        lines=[2, 3],
    ),
    "phanns3_labelled.csv": Expected(
        spec=TableSpec(format="phanns3-labelled"),
        ids=["row_1", "row_2"],
        classes=("Baseplate", "Collar", "HTJ", "Other"),
        predicted=["Baseplate", "Other"],
        top_score=[0.8123, 0.8],
        lines=[2, 3],
        truth=["Baseplate", "HTJ"],
    ),
    "deeplocpro.csv": Expected(
        spec=TableSpec(format="deeplocpro"),
        ids=["sp|P1|ONE", "sp|P2|TWO"],
        classes=PLACES,
        predicted=["Cytoplasmic", "Outer Membrane"],
        top_score=[0.9, 0.8],
        lines=[2, 3],
    ),
    "signalp6.txt": Expected(
        spec=TableSpec(format="signalp6"),
        ids=['P1 "outer" protein', "#P2"],
        classes=SIGNALS,
        predicted=["SP(Sec/SPI)", "OTHER"],
        top_score=[0.9993, 1.000051],
        lines=[3, 4],
        resolution=1e-6,
    ),
    "deepvp.csv": Expected(
        spec=TableSpec(format="deepvp"),
        ids=["WP_1.1 major tail protein", "WP_2.1"],
        classes=VIRION,
        predicted=["Major_tail", "Head_Tail_joining"],
        top_score=[0.98, 0.91],
        lines=[2, 3],
        resolution=1e-6,
    ),
    "phold.tsv": Expected(
        spec=TableSpec(format="phold"),
        ids=["CDS_2", "CDS_3"],
        classes=CATEGORIES,
        predicted=["unknown function", "DNA, RNA and nucleotide metabolism"],
        top_score=[1.0, 0.991],
        lines=[3, 4],
        resolution=0.001,
        unscored=["CDS_1"],
    ),
    "phavip.csv": Expected(
        spec=TableSpec(format="phavip"),
        ids=["p1", "p2", "p3"],
        classes=("major capsid", "portal"),
        predicted=["portal", "major capsid", "portal"],
        top_score=[0.98, 0.5123, 0.77],
        lines=[2, 3, 4],
        is_distribution=False,
    ),
    "phynteny.tsv": Expected(
        spec=TableSpec(format="phynteny"),
        ids=["c_2", "c_3"],
        classes=("DNA, RNA and nucleotide metabolism", "lysis"),
        predicted=["lysis", "DNA, RNA and nucleotide metabolism"],
        top_score=[7.2513, 2.94],
        lines=[3, 4],
        scale=10.0,
        is_distribution=False,
        unscored=["c_1"],
    ),
    "phynteny_transformer.tsv": Expected(
        spec=TableSpec(format="phynteny"),
        ids=["c_2", "c_3"],
        classes=("lysis", "tail"),
        predicted=["lysis", "tail"],
        top_score=[8.127, 3.3105],
        lines=[3, 4],
        scale=10.0,
        is_distribution=False,
        unscored=["c_1"],
    ),
    "phold_1.tsv": Expected(
        spec=TableSpec(format="phold"),
        ids=["p_CDS_0002", "p_CDS_0003", "p_CDS_0004"],
        classes=CATEGORIES,
        predicted=["unknown function", "other", "lysis"],
        top_score=[1.0, 0.575, 0.852],
        lines=[3, 4, 5],
        resolution=0.001,
        unscored=["p_CDS_0001"],
    ),
    "vpf_plm.csv": Expected(
        spec=TableSpec(format="vpf-plm"),
        ids=["Q1.1 DNA ligase [phage one]", "Q2.1 hypothetical protein"],
        classes=(
            "DNA, RNA and nucleotide metabolism",
            "connector",
            "head and packaging",
            "integration and excision",
            "lysis",
            "moron, auxiliary metabolic gene and host takeover",
            "other",
            "tail",
            "transcription regulation",
            "unknown",
        ),
        predicted=["DNA, RNA and nucleotide metabolism", "unknown"],
        top_score=[0.9301, 0.7],
        lines=[2, 3],
        resolution=1e-6,
    ),
    "empathi.csv": Expected(
        spec=TableSpec(format="empathi"),
        ids=["g_1", "g_2", "g_3"],
        classes=BROAD,
        predicted=["pvp", "lysis", "RNA-associated"],
        top_score=[0.9931, 0.9804, 0.2101],
        lines=[2, 3, 4],
        is_distribution=False,
    ),
    "genomad.tsv": Expected(
        spec=TableSpec(format="genomad"),
        ids=["contig_1", "contig_2|provirus_10_9000"],
        classes=("chromosome", "plasmid", "virus"),
        predicted=["virus", "chromosome"],
        top_score=[0.9567, 0.501],
        lines=[2, 3],
    ),
    "clean.csv": Expected(
        spec=TableSpec(format="clean"),
        ids=["Q1", "Q2", "Q3"],
        classes=("EC:4.2.1.25", "EC:5.1.3.3"),
        predicted=["EC:4.2.1.25", "EC:5.1.3.3", "EC:4.2.1.25"],
        top_score=[1 / 5.0171, 1 / 3.25, 0.1],
        lines=[1, 2, 3],
        is_distribution=False,
    ),
    "clean_gmm.csv": Expected(
        spec=TableSpec(format="clean-gmm"),
        ids=["Q1", "Q2", "Q3"],
        classes=("EC:4.2.1.25", "EC:5.1.3.3"),
        predicted=["EC:4.2.1.25", "EC:5.1.3.3", "EC:4.2.1.25"],
        top_score=[0.9711, 0.999, 0.0213],
        lines=[1, 2, 3],
        is_distribution=False,
    ),
    "deepfri.csv": Expected(
        spec=TableSpec(format="deepfri"),
        ids=["Q1", "Q2", "Q3"],
        classes=("GO:0004518", "GO:0016787"),
        predicted=["GO:0016787", "GO:0004518", "GO:0016787"],
        top_score=[0.91, 0.45, 0.32],
        lines=[3, 4, 5],
        resolution=1e-05,
        is_distribution=False,
    ),
    "deepgoplus.tsv": Expected(
        spec=TableSpec(format="deepgoplus"),
        ids=["Q1", "Q2"],
        classes=("GO:0004518", "GO:0016787"),
        predicted=["GO:0016787", "GO:0004518"],
        top_score=[0.912, 0.871],
        lines=[1, 2],
        resolution=0.001,
        is_distribution=False,
        unscored=["Q3"],
    ),
    "eggnog.tsv": Expected(
        spec=TableSpec(format="eggnog", scale=1000.0),
        ids=["Q1", "Q2"],
        classes=("GO:0004518", "GO:0016787"),
        predicted=["GO:0016787", "GO:0004518"],
        top_score=[301.0, 98.5],
        lines=[3, 4],
        scale=1000.0,
        resolution=0.1,
        is_distribution=False,
        unscored=["Q3"],
        proposed=False,
    ),
    "long.tsv": Expected(
        spec=TableSpec(
            format="long",
            scale=1.0,
            columns={"id": "id", "term": "term", "score": "score", "true_class": "truth"},
            sum_to_scale=False,
        ),
        ids=["Q1", "Q2", "Q3"],
        classes=("kinase", "ligase", "protease"),
        predicted=["kinase", "protease", "ligase"],
        top_score=[0.8, 0.6, 0.7],
        lines=[2, 4, 6],
        truth=["kinase", "ligase", ""],
        resolution=0.01,
        is_distribution=False,
        proposed=False,
    ),
    "wide.csv": Expected(
        spec=TableSpec(
            format="wide",
            scale=100.0,
            columns={
                "id": "protein",
                "true_class": "truth",
                "classes": ["alpha", "beta", "gamma"],
            },
        ),
        ids=["p1", "p2"],
        classes=("alpha", "beta", "gamma"),
        predicted=["beta", "alpha"],
        top_score=[60.0, 100.0],
        lines=[3, 6],  # after a comment, a cell of two lines and a blank line
        truth=["beta", ""],
        scale=100.0,
        resolution=1.0,
        proposed=False,
    ),
    "top_score.tsv": Expected(
        spec=TableSpec(
            format="top-score",
            scale=1.0,
            columns={
                "id": "name",
                "true_class": "truth",
                "predicted_class": "called",
                "score": "how_sure",
            },
        ),
        ids=["p1", "p2", "p3"],
        classes=("a", "b"),
        predicted=["b", "a", "b"],
        top_score=[0.9, 0.5, 1.0],
        lines=[2, 3, 4],
        truth=["a", "a", ""],
        resolution=0.1,
        is_distribution=False,
        proposed=False,
    ),
    "credence.tsv": Expected(
        spec=TableSpec(format="credence", scale=1.0),
        ids=["p1", "p2"],
        classes=("alpha", "beta"),
        predicted=["beta", "alpha"],
        top_score=[0.75, 0.5],
        lines=[2, 3],
        truth=["alpha", ""],
        resolution=0.01,
    ),
    "networks_long.tsv": Expected(
        spec=TableSpec(format="credence"),
        ids=["p1", "p2"],
        classes=("alpha", "beta"),
        predicted=["alpha", "beta"],
        top_score=[1.5, 2.375],
        lines=[2, 3],
        truth=["alpha", "beta"],
        scale=3.0,
        resolution=0.001,
    ),
}


def names_of(samples: Samples, codes: np.ndarray) -> list[str]:
    return [samples.predictions.class_names[code] if code >= 0 else "" for code in codes]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_table_is_read_to_what_stands_in_it(name: str) -> None:
    expected = EXPECTED[name]
    samples = read_samples(VALID / name, expected.spec)
    found = samples.predictions
    assert found.ids.tolist() == expected.ids
    assert found.class_names == expected.classes
    assert names_of(samples, found.predicted_class) == expected.predicted
    assert found.top_score is not None
    assert found.top_score.tolist() == expected.top_score
    assert samples.lines.tolist() == expected.lines
    assert (found.scale, found.is_distribution) == (expected.scale, expected.is_distribution)
    assert found.resolution == pytest.approx(expected.resolution, rel=1e-12)
    assert samples.unscored_ids.tolist() == expected.unscored
    if expected.truth is None:
        assert samples.true_class is None
    else:
        assert samples.true_class is not None
        assert names_of(samples, samples.true_class) == expected.truth


@pytest.mark.parametrize("name", EXPECTED)
def test_a_census_counts_what_the_samples_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "CHUNK_ROWS", 1)
    expected = EXPECTED[name]
    samples = read_samples(VALID / name, expected.spec)
    seen: list[tuple[str, int]] = []
    found = joining.take_census(
        [str(VALID / name)],
        expected.spec,
        lambda ids, lines: seen.extend(zip(ids, lines.tolist(), strict=True)),
    )
    is_apart = name == "networks_long.tsv"  # whose proteins take turns
    assert found == replace(joining.census_of(samples), is_apart=is_apart)
    assert found.notices() == [
        *joining.census_of(samples).notices(),
        *([joining.ROWS_APART] if is_apart else []),
    ]
    own = [*zip(samples.predictions.ids, samples.lines.tolist(), strict=True)]
    own += zip(samples.unscored_ids, samples.unscored_lines.tolist(), strict=True)
    assert sorted(seen) == sorted(own)
    assert sum(found.n_predicted) == len(expected.ids)
    for class_, number in zip(found.class_names, found.n_predicted, strict=True):
        assert number == expected.predicted.count(class_)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_stream_gives_the_same_rows_whatever_the_chunks(name: str) -> None:
    expected = EXPECTED[name]
    whole = read_samples(VALID / name, expected.spec)
    chunks = list(stream_samples(VALID / name, expected.spec, chunk_rows=1))
    assert [one for chunk in chunks for one in chunk.predictions.ids] == expected.ids
    assert {chunk.predictions.class_names for chunk in chunks} == {expected.classes}
    assert {chunk.predictions.resolution for chunk in chunks} == {whole.predictions.resolution}
    joined = np.concatenate([chunk.predictions.predicted_class for chunk in chunks])
    assert joined.tolist() == whole.predictions.predicted_class.tolist()
    assert all((chunk.true_class is None) == (whole.true_class is None) for chunk in chunks)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_format_of_a_table_is_proposed_with_a_reason(name: str) -> None:
    expected = EXPECTED[name]
    proposals = propose_formats(VALID / name)
    wanted = [expected.spec.format] if expected.proposed else []
    assert [proposal.format for proposal in proposals] == wanted
    assert all(proposal.reason for proposal in proposals)


def test_every_format_has_a_table_in_the_corpus() -> None:
    shown = {expected.spec.format for expected in EXPECTED.values()}
    assert shown | {"networks-npz"} == set(FORMAT_OF)
    assert len(FORMAT_OF) == len(FORMATS)


def test_a_proposal_says_what_speaks_for_it() -> None:
    (proposal,) = propose_formats(VALID / "phanns_labelled.csv")
    assert proposal.reason == (
        "an empty first name in the header, 4 of its 11 classes, "
        "names that carry a class, such as 'major_capsid_12'"
    )


@pytest.mark.parametrize(
    ("text", "class_name"),
    [
        ("shaft", "Tail shaft"),
        ("tail_shaft", "Tail shaft"),
        ("Tail shaft", "Tail shaft"),
        ("other", "Other"),
        ("others", "Other"),
        ("htj", "HTJ"),
        ("major_capsid", "Major capsid"),
    ],
)
def test_phanns_own_spellings_mean_its_classes(text: str, class_name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    header = ",".join(["", *CLASSES])
    scores = ",".join(["10.00"] + ["0.00"] * (len(CLASSES) - 1))
    path.write_text(f"{header}\n{text}_1,{scores}\n{text},{scores}\n")
    samples = read_samples(path, TableSpec(format="phanns-labelled"))
    assert names_of(samples, samples.true_class) == [class_name, class_name]


def test_further_synonyms_are_the_users() -> None:
    spec = EXPECTED["top_score.tsv"].spec
    renamed = TableSpec(
        format="top-score",
        scale=1.0,
        columns=spec.columns,
        class_names=("alpha", "beta"),
        synonyms={"a": "alpha", "b": "beta"},
    )
    samples = read_samples(VALID / "top_score.tsv", renamed)
    assert names_of(samples, samples.predictions.predicted_class) == ["beta", "alpha", "beta"]


def test_classes_demanded_give_the_order_of_the_columns() -> None:
    spec = TableSpec(format="phanns3", class_names=("Other", "HTJ", "Collar", "Baseplate"))
    found = read_samples(VALID / "phanns3.csv", spec).predictions
    assert found.class_names == spec.class_names
    assert found.scores is not None
    assert found.scores[0].tolist() == [0.05, 0.05, 0.0877, 0.8123]
