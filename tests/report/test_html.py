"""The page as a browser gets it: inert, self-contained, the same every time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from credence.findings import Bins, Findings, Provenance
from credence.records import to_record
from credence.report.html import render, small_paths
from credence.report.plots import ReliabilityPlot

GOLDEN = Path(__file__).parent / "golden"

# fmt: off
PAGE_TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "h3",
    "strong", "nav", "ol", "ul", "li", "main", "section", "dl", "div", "dt", "dd", "details",
    "summary", "figure", "figcaption", "table", "caption", "span", "thead", "tbody", "tr",
    "th", "td", "footer", "script", "article",
    "svg", "g", "path", "defs", "use", "text", "clippath", "rect",
    "pattern", "circle", "b", "small",
}
# fmt: on


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


def without_drawings(text: str) -> str:
    """Return a page's text without drawings, stylesheet, scripts and their digests."""
    text = re.sub(r"<svg.*?</svg>", "<svg></svg>", text, flags=re.DOTALL)
    text = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", text, flags=re.DOTALL)
    return re.sub(r"'sha256-[^']*'", "'sha256-'", text)


def test_the_page_is_the_golden_one_but_for_its_drawings(small: Findings, tmp_path: Path) -> None:
    text = without_drawings(render(small))
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    golden = (GOLDEN / "page.html").read_text(encoding="utf-8")
    assert text == golden, f"right? {tmp_path / 'page.html'} → {GOLDEN}"


@pytest.mark.long
def test_the_same_findings_give_the_same_bytes_in_other_processes(small: Findings) -> None:
    program = (
        "import hashlib, json, sys; from credence.findings import Findings; "
        "from credence.records import from_record; "
        "from credence.report.html import render; "
        "page = render(from_record(Findings, json.load(sys.stdin))); "
        "print(hashlib.sha256(page.encode()).hexdigest())"
    )
    for seed in ("2",):  # this process has another
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(to_record(small)),
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": f"Etc/GMT+{seed}"},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        assert done.stdout.strip() == hashlib.sha256(render(small).encode()).hexdigest()


def test_hostile_texts_are_shown_and_never_run(hostile_page: str) -> None:
    page = Page(hostile_page)
    assert {tag for tag, _ in page.tags} <= PAGE_TAGS
    names = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in names if name.startswith("on")}
    assert "src" not in names
    assert "<script>alert(1)</script>" in "".join(page.text)


def test_the_page_loads_nothing_and_links_only_to_itself(
    small_page: str, hostile_page: str
) -> None:
    for text in (small_page, hostile_page):
        page = Page(text)
        ids = page.attributes("id")
        assert len(ids) == len(set(ids))
        for target in (*page.attributes("href"), *page.attributes("xlink:href")):
            assert target.startswith("#")
            assert target[1:].split("&")[0] in ids
        styles = [*page.attributes("style"), *page.attributes("clip-path"), *page.text]
        assert not any(re.search(r"url\((?!#)|@import", style) for style in styles)
        policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
        assert policy is not None
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        for tag in ("script", "style"):
            texts = re.findall(f"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
            digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()) for t in texts]
            allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
            assert f"; {tag}-src {allowed};" in policy
            assert len(texts) >= 1
        assert page.attributes("style") == []
        assert "&" not in re.findall("<style>(.*?)</style>", text, flags=re.DOTALL)[0]


def test_simulated_is_said_first_of_all_where_it_is_so(small: Findings, small_page: str) -> None:
    text = small_page
    assert "<title>A small run (simulated)</title>" in text
    assert text.index("<strong>Simulated.</strong>") < text.index("<nav")
    real = replace(
        small, provenance=Provenance(run="small", title="A small run", credence_version="0.1.0")
    )
    assert "imulated" not in re.sub(r"<style>.*?</style>", "", render(real), flags=re.DOTALL)


def test_control_and_direction_characters_are_made_visible(small: Findings) -> None:
    provenance = Provenance(run="r", title="a\x00b\u202ec", credence_version="0.1.0")
    text = render(replace(small, provenance=provenance))
    assert "<title>a\ufffdb\ufffdc</title>" in text


def test_every_drawing_stands_in_an_image_with_words(small_page: str) -> None:
    drawn = re.findall(
        r'role="img" aria-label="[^"]+">\s*<svg [^>]*aria-hidden="true"', small_page
    )
    assert len(drawn) == 12 + 2  # figures, and a small diagram of each class
    for tag in re.findall(r"<svg [^>]*>", small_page):
        is_mark = re.fullmatch(r'<svg x="[\d.]+%">', tag)  # inside a picture that has words
        assert is_mark or 'aria-hidden="true"' in tag or re.search(r'aria-label="[^"]+"', tag), tag


def test_a_small_diagram_marks_the_bins_whose_interval_misses_the_diagonal() -> None:
    # Means 0.1, 0.5 and 0.9; the second's precision is 0.8 (0.7–0.9). An empty bin is left
    # out, and a bin whose interval is not known shows its point alone.
    nan = float("nan")
    bins = Bins(
        edges=(0.0, 0.25, 0.5, 0.75, 1.0), n=(5, 0, 9, 2), n_correct=(1, 0, 7, 2),
        n_clusters=(5, 0, 9, 2), mean=(0.1, nan, 0.5, 0.9), share=(0.2, nan, 0.8, 1.0),
        lower=(0.0, nan, 0.7, nan), upper=(0.4, nan, 0.9, nan),
    )  # fmt: skip
    assert small_paths(ReliabilityPlot(names=("held out",), bins=(bins,))) == [
        ("near", "M10 100V60"),
        ("off", "M50 30V10"),
        ("near dot", "M10 80h0M90 0h0"),
        ("off dot", "M50 20h0"),
    ]
    assert small_paths(ReliabilityPlot(names=(), bins=())) == []


@pytest.mark.parametrize("colour", ["#1a1b1c", "#6a6b6c", "#0072b2", "#d55e00", "#000000"])
def test_drawings_take_their_colours_from_the_theme(colour: str, small_page: str) -> None:
    drawings = "".join(re.findall(r"<svg.*?</svg>", small_page, flags=re.DOTALL))
    rules = "".join(re.findall(r"^[.]d[0-9]+ [{].*[}]$", small_page, flags=re.MULTILINE))
    assert colour not in drawings + rules
    assert "var(--ink)" in rules


@pytest.mark.parametrize(
    ("address", "link"),
    [
        (None, "Documentation: docs/verdict.md"),
        (
            "https://docs.example.org/credence/",
            '<a href="https://docs.example.org/credence/verdict.html">Documentation</a>',
        ),
        ("../site", '<a href="../site/verdict.html">Documentation</a>'),
        ('../"><b>', '<a href="../&#34;&gt;&lt;b&gt;/verdict.html">Documentation</a>'),
    ],
)
def test_a_section_leads_to_its_page_of_the_documentation(
    small: Findings, address: str | None, link: str
) -> None:
    page = render(replace(small, provenance=replace(small.provenance, documentation=address)))
    assert f'<p class="documentation">{link}</p>' in page
    gallery = link.replace("verdict", "gallery").replace(
        "Documentation", "Pages of other runs, explained"
    )
    assert gallery in page
