"""Numbers in words: one place where the page's figures of speech are made."""

import math
import re
from collections.abc import Iterable
from functools import partial

DASH = "–"
KEPT = "\u00a0"  # a space at which no line breaks
REPLACEMENT = "\ufffd"
TEST_LEVEL = 0.05  # p from which down a test rejects
MOST_NAMES = 4  # of classes in a sentence
MOST_SHORT = 24  # characters of a class name inside a figure


NEARLY = 0.0005  # from 0 or 1: what is closer is shown as if it were that end


def share(value: float) -> str:
    """Return a probability with two decimals, three near 0 and 1, and never as if it were one."""
    if math.isnan(value):
        return DASH
    if 0.0 < value < 0.0005:
        return "<0.001"
    if 0.9995 <= value < 1.0:
        return ">0.999"
    if 0.0 < value < 0.095 / 10 or 0.985 < value < 1.0:
        return f"{value:.3f}"
    return f"{value:.2f}"


def interval(lower: float, upper: float) -> str:
    """Return an interval in brackets, or nothing; ends that are nearly 0 or 1 are 0 and 1."""
    if math.isnan(lower) or math.isnan(upper):
        return ""
    low, high = (round(end) if min(end, 1 - end) < NEARLY else end for end in (lower, upper))
    return f"({share(low)}–{share(high)})"


def with_interval(value: float, lower: float, upper: float) -> str:
    """Return a probability with its interval."""
    return f"{share(value)} {interval(lower, upper)}".rstrip()


def rounded(value: float, digits: int, sign: str = "") -> str:
    """Return a number with so many decimals; ``"+"`` asks for a sign, which 0 has not."""
    if math.isnan(value):
        return DASH
    text = f"{value:{sign}.{digits}f}"
    return text[1:] if sign and float(text) == 0 else text.replace("-", "−")


two_decimals = partial(rounded, digits=2)
three_decimals = partial(rounded, digits=3)


def loss(value: float, lower: float, upper: float, digits: int = 3, sign: str = "") -> str:
    """Return a metric's value, or a difference with its sign, and its interval."""
    if math.isnan(value + lower + upper):
        return rounded(value, digits, sign)
    stated, low, high = (rounded(number, digits, sign) for number in (value, lower, upper))
    return f"{stated} ({low} to {high})"


def score(value: float, scale: float) -> str:
    """Return a score with as many decimals as its scale asks for."""
    if math.isnan(value):
        return DASH
    decimals = max(0, 3 - math.floor(math.log10(scale)))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def round_score(value: float, scale: float) -> str:
    """Return a score from which on something holds: rounded up, so that it holds there too."""
    if math.isnan(value):
        return DASH
    unit = 10.0 ** max(0, 3 - math.floor(math.log10(scale)))
    return score(math.ceil(value * unit - 1e-6) / unit, scale)


def count(value: int) -> str:
    """Return a whole number with commas between thousands."""
    return f"{value:,}"


def shown(value: str | int | None) -> str:
    """Return a text or a count as tables show it; a dash where there is none."""
    return count(value) if isinstance(value, int) else value or DASH


def as_sentence(text: str) -> str:
    """Return a text that begins as sentences do."""
    return text[:1].upper() + text[1:]


def in_words(names: Iterable[str]) -> str:
    """Return class names for a sentence."""
    listed = list(names)
    if len(listed) > MOST_NAMES + 1:
        listed = [*listed[:MOST_NAMES], f"{len(listed) - MOST_NAMES} more"]
    *first, last = listed or [""]
    return f"{', '.join(first)} and {last}" if first else last


def points(value: float) -> str:
    """Return a difference of two shares in percentage points, without its sign."""
    number = f"{abs(100.0 * value):.2g}"
    return f"{number} percentage point{'' if number == '1' else 's'}"


def shortened(name: str) -> str:
    """Return a name that fits into a figure."""
    return name if len(name) <= MOST_SHORT else name[: MOST_SHORT - 1].rstrip() + "…"


def slug(name: str, number: int) -> str:
    """Return an anchor of letters, digits and hyphens; the number makes it unique."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{number}-{words[:40]}".rstrip("-")


def printable(text: str) -> str:
    """Return the text with control characters shown as replacement characters."""
    return "".join(c if c.isprintable() or c in "\n\t" + KEPT else REPLACEMENT for c in text)


def noticed_if_off(power: float) -> str:
    """Return how often another classifier would be noticed, at the size that power is for."""
    return (
        "scores that put confidences five percentage points off would be noticed in "
        f"{round(100 * power)} of 100 samples"
    )
