from __future__ import annotations

from dataclasses import replace

from credence.findings import DistanceBand, Findings, FoilFinding, NovelProtein, NoveltyFinding
from credence.records import from_record, to_record
from credence.report.blocks import Folded, Paragraph
from credence.report.html import render
from credence.report.sections.use_sets import novelty_blocks as section

NAN = float("nan")
HOSTILE = '<script>alert("x")</script>'


def found(**changes: object) -> NoveltyFinding:
    row = NovelProtein(HOSTILE, "Portal", 0.9, 0.999, 3.5, 0.3, HOSTILE, "Collar", NAN)
    known = NoveltyFinding(
        name="mine",
        features="composition",
        flag=0.95,
        n=12,
        n_placed=10,
        n_flagged=1,
        n_repeats=2,
        n_calibration=400,
        n_families=300,
        kept=0.98,
        n_standing=9,
        p_sample=0.2,
        foils=(
            FoilFinding(
                "shuffled", 300, 0.61, 0.55, 0.67, 0.93, 0.5, (0.05, 0.2, 0.5), (0.1, 0.6, 1.0)
            ),
        ),
        n_training=0,
        confidence_flagged=0.9,
        confidence_others=0.8,
        edges=(0.0, 1.0, 2.0),
        calibration_counts=(300, 100),
        use_counts=(9, 1),
        flag_distance=1.5,
        rows=(row,),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def with_novelty(small: Findings, *novelties: NoveltyFinding) -> Findings:
    return replace(small, novelties=novelties)


def texts(findings: Findings) -> str:
    built = section(findings)
    assert built is not None
    return "\n".join(block.text for block in built.blocks if isinstance(block, Paragraph))


def test_nothing_is_said_where_nothing_was_compared(small: Findings) -> None:
    assert section(small) is None


def test_each_number_stands_with_its_n_and_with_what_to_do(small: Findings) -> None:
    words = texts(with_novelty(small, found()))
    assert "mine: 1 of 10 proteins (0.10) are farther" in words
    assert "as 300 known families left out one by one show" in words
    assert "calibration, about 1 would be." in words
    assert "2 proteins could not be compared" in words
    assert "2 proteins cannot be distinguished from a calibration protein" in words
    assert "do not count on their confidences" in words


def test_no_sentence_comforts_where_a_foreign_sample_would_be_overlooked(small: Findings) -> None:
    """The page found no proteins of another kind in sets that were of another kind."""
    words = texts(with_novelty(small, found()))
    overlooked = (
        "proves little: the test would often overlook one protein in five that is shuffled"
    )
    assert f"is not shown to be of another kind (p = 0.2), which {overlooked}." in words
    foreign = (
        "A protein that is not flagged may still be foreign: of foils, which no class has, only"
    )
    assert f"{foreign} 0.61 of those shuffled are flagged." in words
    good = replace(found().foils[0], power=0.95, in_sample=(0.5, 0.9, 1.0))
    words = texts(with_novelty(small, found(foils=(good,))))
    assert "one protein in five of any of these foils would be noticed as a rule" in words
    assert "may still be foreign" not in words
    words = texts(with_novelty(small, found(p_sample=0.001)))
    assert "looks more foreign than new families do (p = 0.001)" in words


def test_few_families_flag_none_and_the_page_says_so(small: Findings) -> None:
    words = texts(with_novelty(small, found(n_flagged=0, rows=(), flag_distance=NAN, foils=())))
    assert "So few families can flag none: this says nothing of the proteins." in words
    assert "More labelled families are needed" in words


def test_where_nothing_is_flagged_nothing_is_to_be_done(small: Findings) -> None:
    words = texts(with_novelty(small, found(n_flagged=0, rows=())))
    assert "No protein is flagged" in words and "What to do" not in words


def test_hostile_names_stay_text_on_the_page(small: Findings) -> None:
    findings = with_novelty(small, found())
    page = render(findings)
    assert HOSTILE not in page and "&lt;script&gt;alert" in page
    built = section(findings)
    assert built is not None and any(isinstance(block, Folded) for block in built.blocks)
    assert to_record(from_record(Findings, to_record(findings))) == to_record(findings)


def test_the_page_says_what_held_at_which_distance_and_what_was_done(small: Findings) -> None:
    def words(p: float, step: float) -> str:
        bands = (
            DistanceBand("none", 90, 30, 0.8, 0.6, 0.5, 0.7, p, step),
            DistanceBand("near", 9, 3, NAN, NAN, NAN, NAN, NAN),
        )
        return texts(with_novelty(small, found(bands=bands)))

    assert "differ beyond noise (none), and families left out gain" in words(0.01, -0.5)
    assert "would not gain by moving confidences there, so none is moved" in words(0.01, 0.0)
    assert (
        "differ nowhere beyond noise, so no confidence is moved for it. Smaller differences are "
        "not seen: where the best identity is none, any share right from 0.50 to 0.70 fits."
    ) in words(0.4, 0.0)
    unknown = "No distance has ten families, so this is not known, and no confidence is moved."
    assert unknown in words(NAN, 0.0) and "nowhere beyond noise" not in words(NAN, 0.0)
    assert "Do confidences hold far" not in texts(with_novelty(small, found()))
    rows = render(with_novelty(small, found(bands=(DistanceBand("x", 9, 3, *(NAN,) * 5),))))
    assert "what was promised and what was right" in rows and "–––" not in rows
