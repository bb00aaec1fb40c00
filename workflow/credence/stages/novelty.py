"""The stage `novelty`: where labelled proteins lie, so that it is seen how far others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.draws import encode_clusters, keys_of, uniform
from credence.evaluation.bands import Seen, band_of
from credence.lists.held_out import STEPS, HeldOut
from credence.novelty import detector as detectors
from credence.novelty.detector import Detector, evidence_of, foils_of, known_kind, odds_of
from credence.novelty.reference import Look, Reference, build, distances_apart, loneliness
from credence.novelty.space import PROTEINS_AT_ONCE
from credence.predictions import UNKNOWN_CLASS, Floats, Integers, Strings, is_among
from credence.problems import Problem, raise_any, refuse
from credence.progress import echo
from credence.proteins import Proteins
from credence.relatives.all_engines import build_engine
from credence.relatives.closest import Closest, KnownSequences, search_for
from credence.relatives.graph import components
from credence.relatives.kmers import LEAST_CONTAINMENT, links, words_of
from credence.relatives.pairs import canonical, canonical_texts, n_equal_before
from credence.stages.reading import Features, LabelledTables, read_proteins, require_other
from credence.stages.settings import Settings
from credence.tables.digests import sha256_of
from credence.tables.stage_files import NOVELTY, NoveltyFile

STREAM = "who is looked at in a sample as a whole"
MOST_OF_SAMPLE = 500  # whose relatives are found by aligning all pairs: three seconds of one core


def learn_novelty(
    given: LabelledTables,
    out: str,
    settings: Settings,
    proteins: Sequence[str],
    vectors: str | None,
    match: str,
    training: str | None,
    threads: int = 1,
    foils: str | None = None,
) -> None:
    """Write the space of the proteins that calibrate, and where all known ones lie in it."""
    files = [*given.files, *proteins, *filter(None, (vectors, training, foils))]
    require_other((out,), files)
    if foils is not None and vectors is not None:
        what = "vectors are compared by distance alone, and foils by sequences."
        raise refuse("--foils", what, "Give --proteins in place of --vectors, or no foils.")
    samples = given.samples()
    labelled = given.calibrating(samples, "none").labelled
    predictions, true_class = samples.predictions, samples.true_class
    assert true_class is not None
    features = Features(proteins, vectors, match)
    features.require(labelled.predictions.ids, given.tables[0])
    space = features.space(labelled.predictions.ids, settings.novelty.components)
    places = features.places(space, predictions.ids, threads)
    is_calibration = is_among(predictions.ids, labelled.predictions.ids)
    placed = places[is_calibration & np.isfinite(places).all(axis=1)]
    if len(np.unique(placed, axis=0)) < 2 or space.n_components < 1:
        what = "fewer than two proteins can be distinguished."
        raise refuse(features.where, what, "Give more proteins.")
    trained, sequences = None, dict[str, str]()
    if training is not None:
        paths, others = ((training,), None) if vectors is None else ((), training)
        other = Features(paths, others, match)
        sequences = other.sequences
        other.require_space(space, features.where)
        trained = other.places(space, other.ids, threads)
    cluster = dict(zip(labelled.predictions.ids, labelled.cluster, strict=True))
    ids, names = predictions.ids, np.array(predictions.class_names, dtype=object)[true_class]
    clusters = np.array([cluster.get(id_) for id_ in ids], dtype=object)
    of_known = (ids, names, places, clusters)
    reference = build(space, *of_known, trained, settings.novelty.flag, threads)
    wrong = dict(zip(ids, true_class != predictions.predicted_class, strict=True))
    calibrating = reference.ids[reference.calibration_rows]
    file = NoveltyFile(
        reference=reference,
        inputs={Path(path).name: sha256_of(Path(path)) for path in files},
        is_wrong=np.array([wrong[id_] for id_ in calibrating], dtype=np.bool_),
    )
    if vectors is None and len(calibrating):
        known = {id_: features.sequences[id_] for id_ in calibrating}
        own_foils = {} if foils is None else _foils_given(foils, match, known | sequences)
        file = _with_sequences(file, known, cluster, sequences, own_foils, threads)
    NOVELTY.write(Path(out), file)
    n_placed = len(reference.calibration_rows)
    n_short = int(is_calibration.sum()) - n_placed
    short = f", {n_short} too short to have a place" if n_short else ""
    what = f"{n_placed} proteins along {space.n_components} axes{short}"
    echo(f"Wrote {out}: {what}.")
    if vectors is None:
        echo(f"{out}: {_noticed(file.detector, foils is not None)}.")


def _foils_given(path: str, match: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return proteins of no class of interest; refuse those whose sequence is known."""
    fasta, name_of = read_proteins(path, match), {canonical(known[id_]): id_ for id_ in known}
    what = "{!r} has the sequence of {!r}, which is known."
    remedy = "Remove it here: a foil is a protein that is of none of the classes."
    rows = zip(fasta.ids, map(canonical, fasta.sequences), fasta.lines.tolist(), strict=True)
    raise_any(
        Problem(path, what.format(id_, name_of[text]), remedy, line)
        for id_, text, line in rows
        if text in name_of
    )
    return dict(zip(fasta.ids, canonical_texts(fasta.sequences), strict=True))


def _one_of_each(texts: Strings, threads: int) -> Integers:
    """Return the first of each cluster of a sample, made as those that calibrate are.

    Of many proteins some are chosen by content.
    """
    chosen = np.argsort(uniform(keys_of(texts), 0, STREAM), kind="stable")[:MOST_OF_SAMPLE]
    proteins = Proteins(chosen.astype(str).astype(object), texts[chosen])
    cluster = build_engine("exact", threads=threads).cluster(proteins).cluster
    return np.asarray(chosen[np.unique(cluster.astype(str), return_index=True)[1]])


def _noticed(detector: Detector | None, has_own: bool) -> str:
    """Return how many foils of each kind are noticed, in words."""
    if detector is None:
        return "families are so few that foils teach nothing, and no confidence is lowered"
    kinds = [f"{one.power:.2f} of {one.n} {one.kind}" for one in detector.powers]
    if has_own and detector.powers[-1].kind != detectors.GIVEN:
        kinds.append("all foils given are too short to be compared")
    return f"at 5 % false alarms foils are noticed, one a family: {', '.join(kinds)}"


def _with_sequences(
    file: NoveltyFile,
    sequences: Mapping[str, str],
    cluster: Mapping[str, str],
    training: Mapping[str, str],
    foils: Mapping[str, str],
    threads: int,
) -> NoveltyFile:
    """Return what is known with the sequences of it, and with what foils teach."""
    reference = file.reference
    ids = reference.ids[reference.calibration_rows]
    names = np.array([cluster[id_] for id_ in ids], dtype=object)
    codes, key = encode_clusters(names)
    family = np.concatenate([codes, np.full(len(training), -1)])
    every = np.array([*ids, *training], dtype=object)
    texts = np.array([*(sequences[id_] for id_ in ids), *training.values()], dtype=object)
    known = KnownSequences(every, texts, family, search_for(texts, family))
    own = known.closest(known.texts[: len(ids)], (family[: len(ids)], family), threads)
    detector = _detector(reference, known, own, names, foils, threads)
    return replace(file, known=known, own=own, detector=detector, family_key=key)


def _few(ids: Strings, family: Integers) -> Integers:
    """Return a row of each of some families, chosen by name."""
    chosen = np.argsort(uniform(keys_of(ids), 0, detectors.STREAM), kind="stable")
    chosen = chosen[family[chosen] < detectors.MOST_FAMILIES]
    return np.asarray(chosen[n_equal_before(family[chosen]) == 0])


def _detector(
    reference: Reference,
    known: KnownSequences,
    own: Closest,
    cluster: Strings,
    given: Mapping[str, str],
    threads: int,
) -> Detector | None:
    """Return what tells foils, made of some known proteins or given, from these."""
    rows, n = reference.calibration_rows, len(cluster)
    ids, points = reference.ids[rows], reference.points[rows]
    distance = reference.own_distance[rows]
    chosen = _few(ids, known.family[:n])
    names = cluster[chosen]

    def seen(texts: Strings, label: Strings, own_label: Strings) -> Floats:
        """Return what is seen of some proteins among those known of other labels, or of none."""
        code, _ = encode_clusters(np.concatenate([own_label, label]))
        others = np.concatenate([code[len(texts) :], np.full(len(known.texts) - len(label), -1)])
        apart = code[: len(texts)], others
        close = known.closest(texts, apart, threads)
        labels = apart[0], others[:n]
        places = reference.space.of_sequences(texts, threads)
        distance = distances_apart(places, labels[0], points, labels[1], threads)
        lonely = loneliness(texts, labels[0], known.texts[:n], labels[1], threads)
        profiles = known.profile_scores(texts, apart, threads)
        return _seen(texts, close, profiles, distance, lonely)

    texts, class_name = known.texts[:n][chosen], reference.class_name[rows]
    apart = known.family[:n][chosen], known.family
    of_profiles = known.profile_scores(texts, apart, threads)
    code, _ = encode_clusters(cluster)
    lonely = loneliness(texts, code[chosen], known.texts[:n], code, threads)
    evidence = _seen(texts, own.take(chosen), of_profiles, distance[chosen], lonely)
    made = foils_of(texts, ids[chosen])
    of_all = seen(np.concatenate([*made.values()]), cluster, np.tile(names, len(made)))
    parts = zip(made, np.split(of_all, len(made)), strict=True)
    foils = {kind: (part, names) for kind, part in parts}
    pairs = set(zip(cluster.tolist(), class_name.tolist(), strict=True))
    n_classes = Counter(name for name, _ in pairs)
    pure = np.array([n_classes[name] == 1 for name in names], dtype=np.bool_)
    if len(set(class_name.tolist())) > 2 and pure.any():
        # A training protein is taken for one of the class that the nearest of known class has.
        places = reference.space.of_sequences(known.texts[n:], threads)
        near = reference.look(places, threads).nearest
        every = np.concatenate([class_name, np.where(near < 0, "", reference.class_name[near])])
        left_out = seen(texts[pure], every, class_name[chosen][pure])
        foils[detectors.WITHOUT_CLASS] = (left_out, names[pure])
    if given:
        own_ids, texts = (np.array([*one], dtype=object) for one in (given, given.values()))
        code = components(len(own_ids), *links(words_of(texts), LEAST_CONTAINMENT))
        order = np.argsort(own_ids.astype(str), kind="stable")
        first = order[np.unique(code[order], return_index=True)[1]]
        family = np.array([f"foil\t{id_}" for id_ in own_ids[first[code]]], dtype=object)
        rows = _few(own_ids, encode_clusters(family)[0])
        rows = rows[np.isfinite(reference.space.of_sequences(texts[rows])).all(axis=1)]
        foils[detectors.GIVEN] = (seen(texts[rows], cluster, family[rows]), family[rows])
    return detectors.learn(evidence, names, foils)


def _seen(
    texts: Strings, close: Closest, profiles: Floats, distance: Floats, lonely: Floats
) -> Floats:
    distance = np.column_stack([distance, lonely])
    return evidence_of(texts, close.scores, profiles, close.identity, close.coverage, distance)


def seen_of(file: NoveltyFile, held: HeldOut | None, class_names: Sequence[str]) -> Seen | None:
    """Return what was stated of calibration proteins at which distance; None if not known.

    Both are sorted by a hash of ids; those held out may be fewer. So members of a family with one
    true class are the same where they are as many.
    """
    if held is None or file.known is None or file.own is None or file.family_key is None:
        return None
    rows = file.reference.calibration_rows
    order = np.argsort(keys_of(file.reference.ids[rows]), kind="stable")
    code_of = {name: code for code, name in enumerate(class_names)}
    names = file.reference.class_name[rows][order]
    true = np.array([code_of.get(name, UNKNOWN_CLASS) for name in names], dtype=np.int64)
    key = file.family_key[file.known.family[: len(rows)][order]]
    every_key, family = np.unique(
        np.concatenate([key, held.key[held.cluster]]), return_inverse=True
    )
    group = family * (len(class_names) + 1) + np.concatenate([true, held.true]) + 1
    known, stated = np.split(group, [len(rows)])
    n_groups = int(group.max(initial=-1)) + 1
    is_same = np.bincount(known, minlength=n_groups) == np.bincount(stated, minlength=n_groups)
    # In the order of families and classes, and in each of these in that of ids.
    first, second = (
        np.argsort(one, kind="stable")[is_same[np.sort(one)]] for one in (known, stated)
    )
    ends = np.append(STEPS, 1.0)
    confidence = (ends[held.step] + ends[held.step + 1]) / 2.0
    band = band_of(file.own.identity[order][first])
    is_right, family = ~held.is_wrong[second], family[len(rows) :][second]
    return Seen(confidence[second], is_right, family, every_key, band)


def look_at(file: NoveltyFile, points: Floats, sequences: Strings, threads: int = 1) -> Look:
    """Return how far the proteins of a sample are from those known, by all that is known."""
    look = file.reference.look(points, threads)
    placed = np.flatnonzero(np.isfinite(look.distance))
    if file.known is None or not len(placed):
        return look
    texts = canonical_texts(sequences[placed])
    close = file.known.closest(texts, threads=threads)
    has_one, closest, identity = close.nearest >= 0, look.closest.copy(), look.identity.copy()
    closest[placed[has_one]] = file.known.ids[close.nearest[has_one]]
    identity[placed] = close.identity
    look = replace(look, closest=closest, identity=identity)
    if file.detector is None:
        return look
    found, stands = file.detector, np.zeros(len(points), dtype=np.bool_)
    p, far, kind, least = np.full((4, len(points)), np.nan)
    others = file.known.texts[: len(file.reference.calibration_rows)]
    labels = np.full(len(placed), -1), np.zeros(len(others), dtype=np.int64)
    lonely = loneliness(texts, labels[0], others, labels[1], threads)
    for start in range(0, len(placed), PROTEINS_AT_ONCE):
        block = np.arange(start, min(start + PROTEINS_AT_ONCE, len(placed)))
        rows, some = placed[block], texts[block]
        profiles = file.known.profile_scores(some, threads=threads)
        evidence = _seen(some, close.take(block), profiles, look.distance[rows], lonely[block])
        p[rows], far[rows] = found.p_values(evidence), found.far(evidence)
    odds = odds_of(far[placed], found.slope, found.offset, len(found.held))
    stands[placed[_one_of_each(texts, threads)]] = True
    standing = stands[placed].astype(np.float64)
    kind[placed], least[placed] = known_kind(odds, standing=standing)
    flagged = file.reference.is_flagged(p)
    seen = {"novelty": 1.0 - p, "far": far, "is_flagged": flagged}
    return replace(look, **seen, known_kind=kind, least_kind=least, stands=stands)
