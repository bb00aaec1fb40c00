"""The calibrations that come with credence, and their cards."""

import json
from pathlib import Path
from typing import Any

READY_MADE = Path(__file__).resolve().parents[1] / "ready_made"


def cards() -> dict[str, dict[str, Any]]:
    """Return the card of each calibration by its name."""
    by_name: dict[str, dict[str, Any]] = json.loads((READY_MADE / "cards.json").read_text("utf-8"))
    return by_name


def named_file(name: str) -> str:
    """Return the file of a calibration that comes with credence; another name as it is."""
    return (
        str(READY_MADE / f"{name}.json.gz")
        if name in cards() and not Path(name).exists()
        else name
    )


def name_of(path: str) -> str:
    """Return the name of a calibration that comes with credence; another file's as it is."""
    return Path(path).name.partition(".")[0] if Path(path).parent == READY_MADE else path


def card_lines(name: str, card: dict[str, Any]) -> list[str]:
    """Return a card as lines of text."""
    lines = [f"{name}: {card['summary']}"]
    texts = ("for", "not_for", "relatives", "proportions", "source", "licence", "citation")
    lines += [f"    {key.replace('_', ' ')}: {card[key]}" for key in texts]
    held_out = card["held_out"]
    lines += [
        f"    format: {card['format']}",
        f"    method: {card['method']}, fitted on {card['n']:,} proteins",
        f"    held-out proteins: {held_out['right']:.3f} right, {held_out['stated']:.3f} stated; "
        f"NLL {held_out['nll']:.3f}",
        "    class: predicted, right of these, stated for these",
    ]
    return lines + [
        f"      {class_}: {row['predicted']:,}, {row['right']:.3f}, {row['stated']:.3f}"
        for class_, row in held_out["classes"].items()
    ]
