"""The stages `cluster` and `split`: clusters of relatives, and whole clusters into groups."""

import contextlib
import hashlib
import math
import re
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.evaluation.split_findings import describe_split
from credence.findings import SplitFinding
from credence.predictions import UNKNOWN_CLASS, Integers, Strings
from credence.problems import Problem, plural, raise_any, refuse
from credence.progress import echo
from credence.proteins import Proteins, join
from credence.relatives.across import relatives_in
from credence.relatives.all_engines import build_engine
from credence.relatives.cdhit import parse_clstr, phanns_groups
from credence.relatives.graph import GraphEngine
from credence.relatives.kmers import ExactFinder, GivenEngine
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pack import CALIBRATION, TEST
from credence.relatives.pairs import Thresholds
from credence.relatives.pieces import AUDIT, STEPS, Pieces, UnfinishedError
from credence.relatives.strict import Split, SplitOptions, split, split_by_recipe
from credence.report.sections.splits import lead_of, meaning_of
from credence.stages import reading
from credence.stages.settings import Settings, SplitSettings
from credence.tables import contract
from credence.tables.digests import package_digest
from credence.tables.labels import Labels
from credence.tables.text import lines_of
from credence.tables.writing import atomic, write_record

PHANNS_RECIPE = "phanns"
Engine = GraphEngine | GivenEngine
SHARE_OF_STEP = r"(?P<number>[0-9]{1,4})/(?P<n_shares>[1-9][0-9]{0,3})"
LETTERS_OF_KEY = 16


def cluster_proteins(
    proteins: str,
    out: str,
    settings: Settings,
    training: str | None,
    match: str,
    clstr: str | None,
    relatives: str | None,
    pieces: str | None,
    share: str | None,
    threads: int,
    timeout: float | None,
) -> None:
    """Write which proteins are relatives, with each other and with training."""
    if relatives is not None and training is None:
        fault = "there is no training set."
        raise refuse("--relatives", fault, "Give --training, or leave it out.")
    reading.require_other((out, relatives), [proteins, training, clstr])
    ours = reading.read_proteins(proteins, match)
    learnt = read_training(training, match, ours)
    everything = join([ours, learnt])
    chosen = settings.clustering.engine, relatives_from(settings), threads, timeout
    engine: Engine = build_engine(*chosen) if clstr is None else _given(clstr, everything, match)
    is_search = isinstance(engine, GraphEngine) and isinstance(engine.finder, MmseqsFinder)
    reason = "" if is_search else "only the engine mmseqs works in pieces."
    kept = kept_in(pieces, share, STEPS, reason, everything, settings.to_json("cluster"))
    if kept is not None:
        assert isinstance(engine, GraphEngine)
        engine = replace(engine, finder=replace(engine.finder, pieces=kept))  # type: ignore[type-var]
    try:
        clustering = engine.cluster(everything)
    except UnfinishedError:
        write_share(out, share)
        return
    if relatives is not None:
        pairs = training_relatives(ours, learnt, engine, settings, threads)
        contract.write_contract(Path(relatives), pairs)
        echo(f"Wrote {relatives}: {len(pairs.ids)} with a relative in training.")
    clusters = contract.Clusters(
        ids=everything.ids,
        cluster=clustering.cluster,
        representative=clustering.representative,
        identity=clustering.identity,
        coverage=clustering.coverage,
    )
    contract.write_contract(Path(out), clusters)
    remove_pieces(kept)
    sizes = Counter(clustering.cluster.tolist())
    largest = max(sizes.values(), default=0)
    percent = 100.0 * largest / max(everything.n_proteins, 1)
    echo(
        f"Wrote {out}: {everything.n_proteins} proteins, {len(sizes)} clusters; "
        f"the largest has {largest} ({percent:.1f} %)."
    )


def kept_in(
    folder: str | None,
    share: str | None,
    steps: Sequence[str],
    reason: str,
    proteins: Proteins,
    settings: str,
) -> Pieces | None:
    """Return where pieces of some steps are kept; refuse where there is a reason against it."""
    if folder is None:
        if share is not None:
            raise refuse(
                "--share", "a share is kept in a folder, and none is named.", "Give --pieces too."
            )
        return None
    if reason:
        raise refuse("--pieces", reason, "Leave --pieces out.")
    pattern = rf"(?P<step>{'|'.join(steps)}):{SHARE_OF_STEP}"
    asked = re.fullmatch(pattern, f"{steps[0]}:0/1" if share is None else share)
    if asked is None or int(asked["number"]) > int(asked["n_shares"]):
        fault = f"{share!r} is no share of a step."
        remedy = f"Write 1/8 of {' or '.join(steps)} as {steps[0]}:1/8; 0/8 comes first."
        raise refuse("--share", fault, remedy)
    key = hashlib.sha256(package_digest().encode() + settings.encode())
    for sequence in proteins.sequences:
        key.update(sequence.encode() + b"\n")
    place = Path(folder).absolute() / key.hexdigest()[:LETTERS_OF_KEY]
    place.mkdir(parents=True, exist_ok=True)
    if share is None:
        return Pieces(folder=place)
    return Pieces(
        folder=place,
        step=asked["step"],
        number=int(asked["number"]),
        n_shares=int(asked["n_shares"]),
    )


def write_share(out: str, share: str | None) -> None:
    """Write that a job has made its share of the pieces."""
    with atomic(Path(out)) as path:
        path.write_text(f"share {share}\n", encoding="utf-8")
    echo(f"Wrote {out}: share {share} is done.")


def remove_pieces(kept: Pieces | None) -> None:
    """Remove pieces that are needed no more, and their folder where nothing else is in it."""
    if kept is not None:
        shutil.rmtree(kept.folder)
        with contextlib.suppress(OSError):  # pieces of others, or other files
            kept.folder.parent.rmdir()


def training_relatives(
    ours: Proteins, learnt: Proteins, engine: Engine, settings: Settings, threads: int
) -> contract.RelativesTable:
    """Return the closest training relative of each protein that has one."""
    finder = engine.finder if isinstance(engine, GraphEngine) else ExactFinder(threads=threads)
    pairs = relatives_in(ours, learnt, finder, relatives_from(settings), threads)
    return contract.RelativesTable(
        ids=ours.ids[pairs.first],
        relative=learnt.ids[pairs.second],
        identity=pairs.identity,
        coverage=pairs.coverage,
    )


def relatives_from(settings: Settings) -> Thresholds:
    """Return from where on two proteins are relatives."""
    chosen = settings.clustering
    return Thresholds(
        identity=chosen.identity,
        coverage=chosen.coverage,
        both_sides=settings.split.both_sides,
        most_expected=chosen.chance,
    )


def read_training(path: str | None, match: str, beside: Proteins) -> Proteins:
    """Return what a classifier learnt from, under names that no protein beside it has."""
    if path is None:
        return join([])
    learnt = reading.read_proteins(path, match)
    return Proteins(ids=reading.training_ids(learnt.ids, beside.ids), sequences=learnt.sequences)


def _given(clstr: str, proteins: Proteins, match: str) -> GivenEngine:
    ids, names = parse_clstr(lines_of(Path(clstr)), clstr, whole_header=match == "full")
    missing = proteins.ids[~np.isin(proteins.ids.astype(str), ids.astype(str))]
    remedy = "Cluster all proteins."
    raise_any(
        Problem(where=clstr, what=f"{id_!r} is in none of its clusters.", remedy=remedy)
        for id_ in missing
    )
    return GivenEngine(ids=ids, names=names)


def split_tables(
    tables: Sequence[str],
    out: str,
    settings: Settings,
    format_: str | None,
    spec_json: str,
    labels: str | None,
    of_class: Sequence[tuple[str, str]],
    clusters: str | None,
    own_clusters: bool,
    training: str | None,
    relatives: str | None,
    proteins: str | None,
    match: str,
    threads: int,
    summary: str | None,
    pieces: str | None,
    share: str | None,
    asked: Collection[str],
) -> None:
    """Write the group and role of each protein; settings `asked` for by name must be possible."""
    fastas = [path for _, path in of_class]
    reading.require_other(
        (out, summary), [*tables, *fastas, clusters, training, relatives, proteins]
    )
    chosen = in_effect(settings.split, clusters, fastas or proteins, asked)
    settings = replace(settings, split=chosen)
    if bool(tables) + (labels is not None) + bool(of_class) != 1:
        fault = "the labelled proteins are to be given in exactly one way."
        remedy = "Give one of TABLE, --labels and --class."
        raise refuse("TABLE", fault, remedy)
    if labels is not None:
        known = read_labelled(labels, proteins, match)
    elif of_class:
        if proteins is not None:
            fault = "the files of --class hold the sequences."
            raise refuse("--proteins", fault, "Leave --proteins out.")
        known = read_classes(of_class, match)
    else:
        samples = reading.read_set(tables, reading.stated_spec(tables, format_, spec_json))
        ids, true_class = samples.predictions.ids, reading.require_labels(samples, tables[0])
        if samples.is_of_calls:
            ids, true_class = samples.by_protein(MOST_LABELS_BALANCED)
        known = LabelledProteins(
            where=tables[0],
            proteins=reading.proteins_of(
                ids, proteins, match, tables[0], may_hold_more=samples.is_of_calls
            ),
            true_class=true_class,
            class_names=samples.predictions.class_names,
        )
    ours, learnt = known.proteins, read_training(training, match, known.proteins)
    everyone = join([ours, learnt])
    cluster, made_by = everyone.ids, "none"
    if clusters is not None:
        given = contract.read_clusters(Path(clusters))
        made_by = "table" if own_clusters or np.isnan(given.identity).all() else "aligned"
        cluster = given.cluster[
            reading.rows_by_id(everyone.ids, training or known.where, given.ids, clusters)
        ]
    related = None if relatives is None else contract.read_relatives(Path(relatives))
    is_exhaustive = _is_audited(settings.split) and cells_of(settings.split.audit) is None
    reason = "" if is_exhaustive else "only an exhaustive audit works in pieces."
    kept = kept_in(pieces, share, (AUDIT,), reason, everyone, settings.to_json("split"))
    try:
        table, finding = split_proteins(
            ours, learnt, cluster, known.true_class, known.class_names,
            settings, made_by, related, threads, kept,
        )  # fmt: skip
    except UnfinishedError:
        write_share(out, share)
        return
    contract.write_contract(Path(out), table)
    write_record(summary, finding)
    remove_pieces(kept)
    for line in split_messages(finding, settings.split):
        echo(line)
    roles, counts = np.unique(table.role.astype(str), return_counts=True)
    message = ", ".join(f"{count} {role}" for role, count in zip(roles, counts, strict=True))
    echo(f"Wrote {out}: {message}.")


# Of proteins with several labels so many are balanced, each by the rarest of its own among them.
MOST_LABELS_BALANCED = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledProteins:
    """Proteins whose classes are known, before any classifier scored them."""

    where: str  # Their labels, as messages name them
    proteins: Proteins  # With blanks for sequences where none are given
    true_class: Integers
    class_names: tuple[str, ...]


def read_labelled(labels: str, proteins: str | None, match: str) -> LabelledProteins:
    """Return the proteins of a table of labels, or of FASTA headers that a pattern reads.

    `labels` is the path of the table, or what a configuration has there, as JSON.
    """
    stated: Mapping[str, Any] = {"table": labels}
    if labels.lstrip().startswith("{"):
        stated = reading.json_settings(labels, "--labels")
    read = reading.labels_as_stated(stated, proteins, match)
    return labelled_proteins(read, reading.proteins_of(read.ids, proteins, match, read.where))


def labelled_proteins(labels: Labels, proteins: Proteins) -> LabelledProteins:
    """Return proteins with their labels; refuse those of which one has none."""
    texts = np.array([text.strip() for text in labels.texts], dtype=object)
    rows = zip(labels.ids, texts, labels.lines.tolist(), strict=True)
    remedy = "Give it one, or remove its row."
    raise_any(
        Problem(
            where=labels.where, what=f"{id_!r} has no label.", remedy=remedy, line=line,
            column=labels.column,
        )
        for id_, text, line in rows
        if not text
    )  # fmt: skip
    names, true_class = np.unique(texts.astype(str), return_inverse=True)
    return LabelledProteins(
        where=labels.where,
        proteins=proteins,
        true_class=true_class.astype(np.int64),
        class_names=tuple(names.tolist()),
    )


def read_classes(of_class: Sequence[tuple[str, str]], match: str) -> LabelledProteins:
    """Return the proteins of FASTA files, one or more of each class."""
    files = [reading.read_proteins(path, match) for _, path in of_class]
    first: dict[str, str] = {}
    problems = []
    for (_, path), fasta in zip(of_class, files, strict=True):
        for id_, line in zip(fasta.ids, fasta.lines.tolist(), strict=True):
            if first.setdefault(id_, path) != path:
                fault = f"protein {id_!r} is in {first[id_]} already."
                remedy = "Give each protein one class."
                problems.append(Problem(where=path, what=fault, remedy=remedy, line=line))
    raise_any(problems)
    names = tuple(sorted({name for name, _ in of_class}))
    sizes = [fasta.n_proteins for fasta in files]
    return LabelledProteins(
        where=of_class[0][1],
        proteins=join([Proteins(ids=fasta.ids, sequences=fasta.sequences) for fasta in files]),
        true_class=np.repeat([names.index(name) for name, _ in of_class], sizes),
        class_names=names,
    )


LEAST_GROUPS = 2
MOST_GROUPS_OF_SHARES = 100  # so that shares of whole hundredths are kept


def groups_of_roles(settings: SplitSettings) -> dict[str, int]:
    """Return how many groups each role has; empty where no roles are asked for."""
    roles = settings.roles
    if not roles:
        return {}
    if settings.test_group:
        raise refuse("--test-group", "--roles says what is for what.", "Leave one of them out.")
    total = sum(roles.values())
    if all(float(number).is_integer() for number in roles.values()) and total >= LEAST_GROUPS:
        return {role: int(number) for role, number in roles.items()}
    if not math.isclose(total, 1.0):
        fault = (
            f"its values sum to {total:g}; they are neither shares that sum to 1 nor numbers of "
            "groups, two or more in all."
        )
        raise refuse("--roles", fault, "Give whole numbers of groups, or shares that sum to 1.")
    for n_groups in range(LEAST_GROUPS, MOST_GROUPS_OF_SHARES + 1):
        numbers = {role: share * n_groups for role, share in roles.items()}
        if all(math.isclose(number, round(number)) for number in numbers.values()):
            return {role: round(number) for role, number in numbers.items()}
    raise refuse("--roles", "its shares have more than two decimals.", "Round them: 0.33, say.")


def with_roles(group: Strings, role: Strings, roles: Mapping[str, int]) -> Strings:
    """Return what proteins are for, those that could calibrate by the number of their group."""
    names = [name for name, number in roles.items() for _ in range(number)]
    of_group = {str(number): name for number, name in enumerate(names, start=1)}
    chosen = [
        of_group[home] if was == CALIBRATION else was
        for home, was in zip(group, role, strict=True)
    ]
    problems = []
    for name in roles:
        if name not in chosen:
            fault = f"no protein would have the role {name!r}: there are too few clusters."
            remedy = f"Give fewer groups than {sum(roles.values())}, or larger shares."
            problems.append(Problem(where="--roles", what=fault, remedy=remedy))
    raise_any(problems)
    return np.array(chosen, dtype=object)


def split_proteins(
    ours: Proteins,
    learnt: Proteins,
    cluster: Strings,
    true_class: Integers,
    class_names: Sequence[str],
    settings: Settings,
    made_by: str,
    related: contract.RelativesTable | None = None,
    threads: int = 1,
    pieces: Pieces | None = None,
) -> tuple[contract.Groups, SplitFinding]:
    """Return the groups of ours and of what was learnt from, and what was found.

    Those of ours are set aside that are `related` to the latter, or in a cluster with some.
    """
    roles, chosen = groups_of_roles(settings.split), settings.split
    proteins = join([ours, learnt])
    is_training = np.repeat([False, True], [ours.n_proteins, learnt.n_proteins])
    class_ = np.append(true_class, np.full(learnt.n_proteins, UNKNOWN_CLASS))
    reasons = None
    if related is not None:
        columns = zip(related.ids, related.relative, related.identity, strict=True)
        message = {
            id_: f"relative of training protein {str(other)!r} (identity {identity:.2f})"
            for id_, other, identity in columns
        }
        reasons = np.full(len(proteins.ids), "", dtype=object)
        reasons[~is_training] = [message.get(id_, "") for id_ in ours.ids]
    options = SplitOptions(
        n_groups=chosen.groups,
        test_group=chosen.test_group,
        by_cluster=chosen.weigh == "clusters",
        thresholds=relatives_from(settings),
        strict=chosen.strict,  # type: ignore[arg-type]
        cells=cells_of(chosen.audit),
        threads=threads,
        pieces=pieces,
        cut=chosen.cut,  # type: ignore[arg-type]
        most_apart=chosen.cut_limit,
    )
    is_audited = _is_audited(chosen)
    if chosen.recipe == PHANNS_RECIPE:
        made_by = PHANNS_RECIPE
        result = split_by_recipe(proteins, phanns_groups, class_, options, is_training, reasons)
    else:
        result = split(proteins, cluster, class_, options, is_training, reasons, is_audited)
    _require_test_group(result, chosen)
    if made_by == "none" and result.n_joined:
        made_by = "aligned"  # what the audit found
    finding = describe_split(proteins.ids, class_, class_names, result, options, is_audited)
    finding = replace(finding, clusters=made_by, n_training=learnt.n_proteins)
    role = result.packing.role
    if roles:
        role = with_roles(result.packing.group, role, roles)
    # Training proteins of a cluster are a cluster of their own.
    groups = contract.Groups(
        ids=proteins.ids,
        cluster=np.where(is_training, "training:" + result.cluster, result.cluster),
        group=result.packing.group,
        role=role,
        reason=result.packing.reason,
        class_name=np.array([*class_names, ""], dtype=object)[class_],
    )
    return groups, finding


def cells_of(audit: str | Mapping[str, float]) -> float | None:
    """Return the budget of an audit; None: everyone is examined."""
    default: Mapping[str, float] = SplitSettings().audit  # type: ignore[assignment]
    if isinstance(audit, str):
        return None if audit == "exhaustive" else default["cells"]
    return float(audit["cells"])


def _is_audited(settings: SplitSettings) -> bool:
    """Return whether anything is aligned; what PhANNs' recipe leaks is always shown."""
    is_asked = settings.audit != "none" or settings.strict != "report"
    return is_asked or settings.recipe == PHANNS_RECIPE


def in_effect(
    settings: SplitSettings, clusters: object, proteins: object, asked: Collection[str]
) -> SplitSettings:
    """Return the settings that the files allow; refuse what was asked for and is not possible."""
    if roles := groups_of_roles(settings):
        if "groups" in asked:
            fault = "--roles says how many groups there are."
            raise refuse("--groups", fault, "Leave one of them out.")
        settings = replace(settings, groups=sum(roles.values()))
    if settings.recipe == PHANNS_RECIPE:
        problems = []
        if proteins is None:
            fault = "PhANNs' recipe clusters the sequences itself."
            problems.append(Problem(where="--recipe", what=fault, remedy="Give --proteins."))
        if clusters is not None:
            fault = "PhANNs' recipe makes its own clusters."
            problems.append(
                Problem(where="--clusters", what=fault, remedy="Leave --clusters out.")
            )
        if "strict" in asked and settings.strict != "report":
            fault = "PhANNs' recipe is reproduced as published, with its leakage."
            remedy = "Leave --strict out, or choose --recipe balanced."
            problems.append(Problem(where="--strict", what=fault, remedy=remedy))
        raise_any(problems)
        return replace(settings, strict="report")
    if proteins is not None:
        # To join relatives in two groups takes an audit: where none is asked for, neither is this.
        is_bare = settings.audit == "none" and "audit" in asked and "strict" not in asked
        return replace(settings, strict="report") if is_bare else settings
    # What was not asked for by name is a default, and goes without being done.
    settings = replace(
        settings,
        audit=settings.audit if "audit" in asked else "none",
        strict=settings.strict if "strict" in asked else "report",
    )
    if _is_audited(settings):
        raise refuse(
            "--audit", "an audit aligns sequences, and none are given.", "Give --proteins."
        )
    return settings


def _require_test_group(result: Split, settings: SplitSettings) -> None:
    if not settings.test_group or (result.packing.role == TEST).any():
        return
    calibrating = result.cluster[result.packing.role == CALIBRATION]
    n_clusters = len(np.unique(calibrating.astype(str)))
    fault = f"The test group would be empty: {n_clusters} clusters for {settings.groups} groups."
    remedy = f"Give --groups of at most {n_clusters}, or leave --test-group out."
    raise refuse("--test-group", fault, remedy if n_clusters > 1 else "Leave --test-group out.")


MOST_PAIRS_NAMED = 3  # pairs shown; the page and the summary have more
MOST_CLUSTERS = 10  # of those left whole


def split_messages(finding: SplitFinding, settings: SplitSettings) -> list[str]:
    """Return what there is to say of a split, line by line, the audit last."""
    n_groups, is_phanns = settings.groups, settings.recipe == PHANNS_RECIPE
    recipe = "PhANNs' recipe: CD-HIT in each class, clusters given to groups in turn."
    lines = [recipe] if is_phanns else []
    lines += [
        f"{entry.class_name}: {plural(entry.n_clusters, 'cluster')} for {n_groups} groups; some "
        "have none of it."
        for entry in finding.classes
        if entry.n_clusters < n_groups
    ]
    if finding.size_low == 0.0:
        lines.append(f"Some of the {n_groups} groups are empty: there are too few clusters.")
    if finding.n_cut:
        lines.append(f"{finding.n_cut} clusters larger than a group were cut.")
    lines += [
        f"Cluster {large.cluster} holds {large.n} proteins, more than a group, and was left whole"
        + (
            f": a cut would set {large.price} aside to part off {large.parted}."
            if large.parted
            else "."
        )
        for large in finding.whole[:MOST_CLUSTERS]
    ]
    if len(finding.whole) > MOST_CLUSTERS:
        lines.append(f"… and {len(finding.whole) - MOST_CLUSTERS} clusters more.")
    lines += [meaning_of(finding), lead_of(finding)]
    lines += [
        f"  {pair.first} of group {pair.first_group} and {pair.second} of group "
        f"{pair.second_group}: identity {pair.identity:.2f}, coverage {pair.coverage:.2f}"
        for pair in finding.worst[:MOST_PAIRS_NAMED]
    ]
    if finding.worst and finding.strict == "report":
        remedy = "give --strict join or set_aside"
        lines.append(f"To prevent this, {'leave --recipe phanns out' if is_phanns else remedy}.")
    return lines
