"""Tables in shards: what a folder or a pattern names, and what was made of each file of it.

Each is annotated by itself, with a seal beside what was written, so that a run that was killed
goes on with those that are missing (docs/decisions/0029-large-tables-and-folders.md).
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from credence.problems import InputError, Problem, gathering, raise_any, refuse
from credence.records import from_record, read_json, refuse_loop, to_record
from credence.tables.digests import KnownDigests
from credence.tables.text import packing, plain_suffix
from credence.tables.writing import TABLE_ENDINGS, write_json

WILD = re.compile(r"[*?\[]")
NO_SHARD = (".", "_")  # what tools leave beside shards begins so: _SUCCESS


def names_many(word: str) -> bool:
    """Return whether a word names the files of a folder or of a pattern."""
    return Path(word).is_dir() or (WILD.search(word) is not None and not Path(word).exists())


def expanded(words: Iterable[str]) -> tuple[str, ...]:
    """Return tables with folders and patterns among them as the files that these name."""
    tables: list[str] = []
    problems: list[Problem] = []
    for word in words:
        with gathering(problems):
            if not names_many(word):
                refuse_loop(Path(word))
                tables.append(word)
                continue
            folder = f"{word.rstrip('/')}/" if Path(word).is_dir() else ""
            pattern = f"{glob.escape(folder)}*" if folder else word
            listed = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
            paths = [path for path in listed if not Path(path).name.startswith(NO_SHARD)]
            files = [path for path in paths if not Path(path).is_dir()]
            kinds = sorted({_ending(path) or "no ending" for path in files})
            remedy = "Let the pattern name tables of one kind."
            if folder and kinds:
                remedy = f"Name tables of one kind by a pattern in quotes: '{folder}*{kinds[-1]}'."
            if not files:
                where = "in this folder" if folder else "like this pattern"
                raise refuse(word, f"there is no table {where}.", "Correct the path.")
            if folder and len(files) < len(paths):
                raise refuse(word, "there is a folder among its tables.", remedy)
            if len(kinds) > 1:
                defect = f"its tables are of several kinds: {', '.join(kinds)}."
                raise refuse(word, defect, remedy)
            for path in files:
                with gathering(problems):
                    refuse_loop(Path(path))
            tables += files
    raise_any(problems)
    return tuple(tables)


def _ending(path: str) -> str:
    return plain_suffix(Path(path)) + packing(Path(path))


# What is written of a table that ends so, where nobody asks for another ending.
ENDINGS = {
    **{ending: ending for ending in TABLE_ENDINGS}, ".pq": ".parquet", ".npz": ".parquet",
    **{f"{kind}{packed}": f".tsv{packed}" for kind in (".csv", ".tab")
       for packed in ("", ".gz", ".zst")},
}  # fmt: skip
SEALS = ".credence"  # the folder of seals, in that of the confidences


@dataclass(frozen=True, kw_only=True)
class Seal:
    """What is known of the confidences of a table."""

    sha256: str  # Digest of their bytes
    inputs: Mapping[str, str]  # Digests of the files that they were made of


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A table of a set, and where its confidences are written."""

    source: str
    target: Path

    @property
    def seal(self) -> Path:
        """Where it is written what the confidences were made of."""
        return self.target.parent / SEALS / f"{self.target.name}.json"

    def is_finished(self, made_of: Mapping[str, str], known: KnownDigests) -> bool:
        """Return whether the confidences lie there as they were written, made of these files."""
        try:
            seal = from_record(Seal, read_json(self.seal, ""))
        except InputError:
            return False
        is_there = self.target.is_file() and seal.inputs == made_of
        return is_there and seal.sha256 == known.digest(self.target)

    def begin(self) -> None:
        """Mark the place as ours, and take away what was made of other files."""
        write_json(self.seal, to_record(Seal(sha256="", inputs={})))
        self.target.unlink(missing_ok=True)

    def finish(self, made_of: Mapping[str, str], known: KnownDigests) -> None:
        """Write what the confidences were made of."""
        write_json(self.seal, to_record(Seal(sha256=known.digest(self.target), inputs=made_of)))


def shards_of(words: Sequence[str], out: Path, ending: str | None) -> tuple[Shard, ...]:
    """Return the tables of a set, each with the file of its confidences; or refuse the folder."""
    refuse_loop(out)
    if out.exists() and not out.is_dir():
        raise refuse(str(out), "this is a file, not a folder.", "Give another --out.")
    tables = expanded(words)
    problems: list[Problem] = []
    shards: dict[str, Shard] = {}
    for source in tables:
        with gathering(problems):
            old = _ending(source)
            new = ending or ENDINGS.get(old)
            if new is None:
                defect = f"nothing is written that ends in {old!r}."
                raise refuse(source, defect, "Say which kind is wanted: --ending .parquet.")
            shard = Shard(source=source, target=out / (Path(source).name.removesuffix(old) + new))
            earlier = shards.setdefault(shard.target.name, shard)
            if earlier is not shard:
                defect = f"its confidences would be {shard.target}, as those of {earlier.source}."
                raise refuse(source, defect, "Rename it, or annotate it into another --out.")
    parents = {Path(source).resolve().parent for source in tables}
    folders = [Path(word).resolve() for word in words if Path(word).is_dir()]
    if out.resolve() in parents or any(map(out.resolve().is_relative_to, folders)):
        with gathering(problems):
            defect = "confidences would stand among the tables, and be read as such the next time."
            raise refuse(str(out), defect, "Give a folder elsewhere as --out.")
    raise_any(problems)
    raise_any(_strangers(out, shards))
    return tuple(shards.values())


def _strangers(out: Path, shards: Mapping[str, Shard]) -> Iterator[Problem]:
    """Yield the files of a folder that would be taken for what is written there."""
    for path in sorted(out.glob("*")) if out.is_dir() else ():
        shard = Shard(source="", target=path)
        if path.name in shards and not shard.seal.is_file():
            defect = "it was not written here by credence annotate, and would be overwritten."
            yield Problem(
                where=str(path), what=defect, remedy="Move it away, or give another --out."
            )
        elif path.name not in shards and shard.seal.is_file():
            defect = "it was made of a table that is not given now."
            yield Problem(
                where=str(path),
                what=defect,
                remedy="Remove it, give that table too, or another --out.",
            )
