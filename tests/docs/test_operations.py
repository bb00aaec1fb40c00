"""What the page of operations says that rules ask for is what they ask for."""

from __future__ import annotations

import re

from credence.app.configuration import MOST_THREADS, THREADS
from page_commands import ROOT

RULE = re.compile(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", re.M | re.S)
NEED = re.compile(r"(?:mem_mb|runtime)=configuration\.(memory|minutes)\(([\d., ]+)\)")
THREADS_OF = re.compile(r"^ {4}threads: (\S+)$", re.M)
ROW = re.compile(r"^\| `(\w+)` \| ([\d, ]+) \| ([^|]+) \| ([^|]+) \|", re.M)
SEVERAL = ", ".join(map(str, [threads for _, threads in THREADS] + [MOST_THREADS]))
FEW = "1, 8, 16"


def asked(numbers: str) -> str:
    """Return a need as the page writes it.

    Examples
    --------
    >>> asked("700, 0.3"), asked("500")
    ('700 + 0.3 a MB', '500')
    """
    return " + ".join(re.split(r", *", numbers)) + (" a MB" if "," in numbers else "")


def test_the_table_of_rules_says_what_each_asks_for() -> None:
    found = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        for name, body in RULE.findall(path.read_text("utf-8")):
            needs = {kind: asked(numbers) for kind, numbers in NEED.findall(body)}
            (threads,) = THREADS_OF.findall(body)
            threads = {"configuration.several": SEVERAL, "configuration.few": FEW}.get(
                threads, threads
            )
            found[name] = (threads, needs["memory"], needs["minutes"])
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    text, _, _ = text.partition("<!-- costs: rules -->")  # Behind it stands what rules took
    message = {name: tuple(map(str.strip, cells)) for name, *cells in ROW.findall(text)}
    assert message == found
