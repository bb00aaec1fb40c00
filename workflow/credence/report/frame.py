"""What holds the page together: its policy, its one stylesheet, its scripts and their data.

The page forbids itself everything but the stylesheet and the scripts that are
in it, by their digests. So a text of an input could not run or load anything
even if it got past the escaping.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import is_dataclass
from functools import cache
from importlib import resources
from typing import Any

from markupsafe import Markup

from credence.findings import to_record

# Files of scripts/, in the order in which they stand on the page. The first
# holds what the others share.
SCRIPTS: tuple[str, ...] = (
    "page.js",
    "tables.js",
    "figures.js",
    "explorer.js",
    "lookup.js",
    "what_if.js",
)

TAG = re.compile(r"<[A-Za-z][^<>]*>")
STYLE_ATTRIBUTE = re.compile(r' style="([^"]*)"')
# What ends a script or begins a comment, and line ends that only JavaScript knows.
UNSAFE_IN_SCRIPTS = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


@cache
def scripts() -> tuple[Markup, ...]:
    """Return the texts of the scripts, in order."""
    folder = resources.files("credence.report") / "scripts"
    texts = tuple((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    for name, text in zip(SCRIPTS, texts, strict=True):
        assert not re.search(r"</script|<!--|<script", text, re.IGNORECASE), name
    return tuple(Markup(text) for text in texts)


def policy(stylesheet: str, scripts: tuple[str, ...]) -> str:
    """Return the Content-Security-Policy of a page with one stylesheet.

    Parameters
    ----------
    stylesheet : str
        Exactly what stands between its tags.
    scripts : tuple of str
        Likewise.
    """
    allowed = " ".join(_source(text) for text in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(stylesheet)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def data_text(value: Any) -> Markup:
    r"""Return data as JSON that can stand inside a script element; NaN is null.

    Parameters
    ----------
    value : object
        Records, tuples, lists, mappings, texts and numbers.

    Examples
    --------
    >>> str(data_text({"name": "</script>", "value": float("nan")}))
    '{"name":"\\u003c/script\\u003e","value":null}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in UNSAFE_IN_SCRIPTS.items():
        text = text.replace(character, escaped)
    return Markup(text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return to_record(value) if is_dataclass(value) or isinstance(value, float) else value


def gather_styles(body: str) -> tuple[Markup, Markup]:
    """Return the body with classes for style attributes, and the rules of the classes.

    The policy allows no style attribute, and drawings repeat a few hundreds
    of them thousands of times.

    Parameters
    ----------
    body : str
        HTML whose texts are escaped.
    """
    classes: dict[str, str] = {}

    def as_class(match: re.Match[str]) -> str:
        declarations = match[1].strip()
        if not declarations:
            return ""
        return f' class="{classes.setdefault(declarations, f"d{len(classes)}")}"'

    def in_tag(match: re.Match[str]) -> str:
        return STYLE_ATTRIBUTE.sub(as_class, match[0])

    changed = TAG.sub(in_tag, body)
    rules = "\n".join(f".{name} {{ {text} }}" for text, name in classes.items())
    return Markup(changed), Markup(rules)
