"""What goes into the archive: it can be read by machines, and says what is missing."""

from __future__ import annotations

from ruamel.yaml import YAML

from credence.findings import Findings
from credence.report import citation, readme
from credence.report.sections.publish import methods_text


def test_the_citation_is_yaml_that_asks_for_names(small: Findings, hostile: Findings) -> None:
    for findings in (small, hostile):
        record = YAML(typ="safe").load(citation(findings))
        assert record["title"] == f"{findings.provenance.title}: calibrated confidences"
        assert record["authors"] == [{"name": "Put the names of the authors here"}]
        assert record["references"][1]["doi"] == "10.3390/make5030043"


def test_the_readme_names_every_input_with_its_digest(small: Findings) -> None:
    text = readme(small)
    assert "The proteins and scores are **simulated**." in text
    assert f"| calibration scores | scores.csv | {'ab' * 32} |" in text


def test_no_text_of_an_input_is_markup_in_the_readme(hostile: Findings) -> None:
    text = readme(hostile)
    assert "\\<script\\>alert(1)" in text
    assert "<script>" not in text.replace("\\<", "").replace("\\>", "")


def test_the_methods_text_has_the_numbers_of_the_run(small: Findings) -> None:
    first, second, third, lists, _ = methods_text(small)
    assert first == (
        "Confidence, the probability that a prediction is right [1, 2], was calibrated on "
        "simulated data with credence 0.1.0 [3]. It was learnt from 120 proteins of known class, "
        "over 3 classes; the classifier had predicted 90 of them correctly. The method is kernel "
        "[4]: a kernel ratio. Its settings: b 1. Its intervals are pointwise, with a nominal "
        "coverage of 95 %, and count clusters of relatives, not proteins."
    )
    assert "50 clusters in the calibration set" in second
    assert "5-fold cross-fitting over whole clusters" in third
    assert "200 draws of a Bayesian bootstrap over clusters" in third
    assert "The method was compared with class_only [5]." in third
    assert "guaranteed for new families by learn then test [6]" in lists
