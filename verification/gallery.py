"""The gallery's pages, a good one, an amber one, a red one, and figures, as small pictures.

    PYTHONPATH=. python verification/gallery.py --out docs/images --work build/gallery

Runs credence on three simulated worlds, looks at their pages with Chromium (the demo's also for
the README's picture), draws figures of the demo's, and writes five rows of its confidences into
README.md. A run that is done is not repeated,
so that pictures alone are made again in seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
from PIL import Image

COLOURS = 96  # of a picture's palette, which keeps it small
WINDOW, SHOWN = (1200, 1000), 900  # of the gallery: the window, and pixels a picture is wide
README_WINDOW = (1440, 1300)  # of the README's picture, which is not made smaller
FIGURES = ("05-densities", "09-optimal-cutoff", "18-reliability", "19-confidence")
WORLD = {"n_query": 50, "n_training": 200, "n_trove": 20, "n_defects": 1, "length": 0.4}
GOOD = WORLD | {
    "n_calibration": 14000,
    "n_training_relatives": 2,
    "family_size": "single",
    "seed": 4,
}
FIRST_MARK, LAST_MARK = "<!-- rows: verification/gallery.py -->\n", "\n<!-- end of rows -->"
HALF = 0.5  # a confidence below it: likelier wrong than right
SEVENTH = 7  # one labelled protein of so many is a query of the good world


def credence(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "credence", *words], cwd=folder, check=True)


def run(folder: Path, config: str, changes: dict[str, str]) -> None:
    """Run a configuration of init with some lines changed."""
    path = folder / config
    text = path.read_text("utf-8")
    for old, new in changes.items():
        if old not in text:
            raise SystemExit(f"{path}: no line begins {old!r}")
        text = text.replace(old, new, 1)
    path.write_text(text, "utf-8")
    credence(folder, "run", "--config", config)


def good_world(folder: Path) -> None:
    """Write a run whose queries are proteins like those that calibrate, of other families."""
    credence(folder, "simulate", "world", "--settings", json.dumps(GOOD))
    head, *rows = (folder / "world/calibration.csv").read_text("utf-8").splitlines(keepends=True)
    queries = set(rows[::SEVENTH])
    (folder / "new.csv").write_text(head + "".join(rows[::SEVENTH]), "utf-8")
    kept = [row for row in rows if row not in queries]
    (folder / "scores.csv").write_text(head + "".join(kept), "utf-8")
    ids = {row.partition(",")[0] for row in kept}
    entries = (folder / "world/proteins.fasta").read_text("utf-8").split(">")[1:]
    known = "".join(f">{entry}" for entry in entries if entry.split(maxsplit=1)[0] in ids)
    (folder / "proteins.fasta").write_text(known, "utf-8")
    words = ["--scores", "scores.csv", "--proteins", "proteins.fasta", "--query", "new.csv"]
    credence(folder, "init", "good", *words)
    run(folder, "good.yaml", {"method: auto": "method: kernel"})


def demo(folder: Path) -> None:
    credence(folder, "demo")


def red_world(folder: Path, demo_folder: Path) -> None:
    """Write a run of the demo's proteins, the queries' columns under each other's names."""
    shutil.copytree(demo_folder / "demo", folder / "demo")
    head, rows = (folder / "demo/my_phages.csv").read_text("utf-8").split("\n", 1)
    empty, *classes, confidence = head.split(",")
    rotated = ",".join([empty, *classes[1:], classes[0], confidence])
    (folder / "rotated.csv").write_text(f"{rotated}\n{rows}", "utf-8")
    words = ["--scores", "demo/calibration.csv", "--proteins", "demo/proteins.fasta"]
    credence(folder, "init", "red", *words, "--query", "rotated.csv")
    run(folder, "red.yaml", {"title: red": "title: Columns under wrong names"})


def picture(page: Path, out: Path, window: tuple[int, int], shown: int) -> None:
    """Save the first screen of a page as a PNG so many pixels wide."""
    raw = out.with_suffix(".raw.png")
    words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    size = ",".join(map(str, window))
    words += [f"--window-size={size}", f"--screenshot={raw}", page.resolve().as_uri()]
    subprocess.run(words, check=True, capture_output=True)
    shrink(raw, out, shown)
    raw.unlink()


def example_rows(path: Path) -> str:
    """Return five rows of a table of confidences as Markdown, one of each kind."""
    table = pd.read_csv(path, sep="\t", keep_default_na=False)
    is_call, note = table["predicted_class"] != "Other", table["note"]
    kinds = (
        is_call & (table["decision"] == "accept"),
        is_call & (table["decision"] == "check") & (note == ""),
        (table["decision"] == "check") & (note != ""),
        ~is_call,  # background: no list of calls holds it
        is_call & (table["decision"] == "insufficient data") & (table["confidence"] < HALF),
    )
    names = ["id", "predicted_class", "confidence", "lower", "upper", "decision", "note"]
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for kind in kinds:
        for row in table[kind].head(1)[names].itertuples(index=False):
            cells = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_rows(readme: Path, rows: str) -> None:
    """Put rows in place of those between the two comments that mark them."""
    before, _, rest = readme.read_text("utf-8").partition(FIRST_MARK)
    _, _, after = rest.partition(LAST_MARK)
    readme.write_text(f"{before}{FIRST_MARK}\n{rows}\n{LAST_MARK}{after}", "utf-8")


def shrink(source: Path, out: Path, shown: int) -> None:
    with Image.open(source) as image:
        height = round(image.height * shown / image.width)
        small = image.convert("RGB").resize((shown, height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS).save(out, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--work", type=Path, default=Path("build/gallery"))
    given = parser.parse_args()
    made = {"amber": "demo", "red": "red", "good": "good"}
    for kind, name in made.items():
        folder = given.work / kind
        page = folder / "reports" / name / "index.html"
        if not page.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            if kind == "amber":
                demo(folder)
            elif kind == "red":
                red_world(folder, given.work / "amber")
            else:
                good_world(folder)
        picture(page, given.out / f"gallery-{kind}.png", WINDOW, SHOWN)
    folder = given.work / "amber"
    page = folder / "reports/demo/index.html"
    picture(page, given.out / "first-1440.png", README_WINDOW, README_WINDOW[0])
    write_rows(Path("README.md"), example_rows(folder / "reports/demo/my_phages/confidences.tsv"))
    numbers = ",".join(name.partition("-")[0] for name in FIGURES)
    words = ["--findings", "results/demo/findings.json", "--out", "figures", "--only", numbers]
    credence(folder, "figures", *words, "--formats", "png")
    for name in FIGURES:
        (drawn,) = sorted((folder / "figures").glob(f"{name[:2]}-*-174mm*.png"))[:1]
        shrink(drawn, given.out / f"figure-{name[:2]}.png", SHOWN)


if __name__ == "__main__":
    main()
