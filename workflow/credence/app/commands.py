"""The commands that call a stage, each with its options; what they do is in `stages/`."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from credence.app.options import (
    Finite,
    GroupedHelp,
    also_option,
    default_option,
    file_options,
    flag_options,
    json_option,
    labelled_options,
    labels_option,
    match_option,
    optional_tables_argument,
    out_option,
    pieces_options,
    repeated_options,
    required_options,
    rows_option,
    settings_options,
    six_decimals_option,
    spreadsheet_option,
    stage_command,
    table_options,
    tables_argument,
    tables_as_given,
    threads_option,
    with_settings,
)
from credence.problems import nearest, refuse
from credence.progress import echo

scale_option = click.option(
    "--scale", type=click.FloatRange(0.0, min_open=True), help="What the scores of a row sum to."
)


@stage_command(
    "split.cluster_proteins",
    "cluster demo/proteins.fasta --training demo/training.fasta "
    "--relatives relatives.tsv --out clusters.tsv",
)
@click.argument("proteins")
@file_options(
    training="FASTA file of the classifier's training set.",
    clstr="A .clstr file of CD-HIT, whose clusters are taken as they are.",
    relatives="Also write which proteins have a relative in training.",
)
@pieces_options
@match_option
@settings_options("cluster")
@threads_option
@click.option(
    "--timeout", type=click.FloatRange(1.0), help="Stop the search after this many seconds."
)
@out_option("The clusters: id, cluster, representative, identity, coverage.")
def cluster() -> None:
    """Find families: groups of homologous proteins among PROTEINS.

    Two proteins are homologues at 40 % identity over 80 % of the shorter one, unless you set
    other limits. With --training it also names the homologues of the classifier's training
    proteins.
    """


@stage_command(
    "split.split_tables",
    "split demo/calibration.csv --format phanns-labelled "
    "--clusters clusters.tsv --training demo/training.fasta --proteins demo/proteins.fasta "
    "--audit --out groups.tsv",
)
@optional_tables_argument
@table_options
@file_options(
    labels="In place of TABLE, where nothing is scored yet: a table of id and true_class; or, in "
    """JSON, {"table": …, "label_column": …} or {"pattern": …} for the headers of --proteins."""
)
@rows_option(
    "--class",
    "CLASS FASTA",
    "In place of TABLE: a class and the FASTA file of its proteins; repeat it for each class.",
    "of_class",
)
@file_options(
    clusters="Table of clusters; without it every protein counts as a family of its own.",
    training="FASTA file of the classifier's training set.",
    relatives="Table of homologues of training proteins: --relatives of credence cluster.",
    proteins="FASTA file of the table's proteins, for the audit.",
)
@flag_options(
    own_clusters="--clusters is a table of your own, not of credence cluster; the page says so."
)
@match_option
@settings_options("split")
@threads_option
@pieces_options
@file_options(summary="Also write what the page says of the split, as JSON.")
@out_option("The groups: id, cluster, group, role, reason.")
def split() -> None:
    """Split proteins into groups that share no family, so that a test on one is honest.

    Every class has about the same share in each group. No scores are needed: --labels, or
    --class for each class, take the place of TABLE. All proteins are for calibration, unless
    --roles says otherwise; homologues of training proteins are set aside, with the reason. An
    audit (--audit, needs sequences) counts the proteins that have a homologue in another group.
    """


@stage_command(
    "troves.attach_files",
    "attach demo/trove_htj.csv --name htj --fasta demo/trove_htj.fasta "
    "--samples demo/calibration.csv --groups groups.tsv --proteins demo/proteins.fasta "
    "--training demo/training.fasta --out releases/01-htj",
)
@tables_argument
@click.option("--name", required=True, help="Name of the trove.")
@click.option("--spec", "spec_json", default="{}", help="How TABLE is read, as JSON.")
@click.option("--labels", "labels_json", default="null", help="Where its labels are, as JSON.")
@file_options(fasta="FASTA file of its proteins.")
@match_option
@click.option("--sha256", "sha256_json", default="{}", help="Digests of its files, as JSON.")
@click.option("--samples", "samples_file", required=True, help="Labelled table of the set.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", "groups_file", required=True, help="Table of its groups.")
@file_options(proteins="FASTA file of the set, without earlier troves.")
@click.option(
    "--proteins-match", default="first_word", help="How its ids are matched to its FASTA headers."
)
@repeated_options(added="What an earlier trove added: added.fasta.")
@file_options(training="FASTA file of the classifier's training set.")
@repeated_options(clusters="Table of clusters; homologues are then not searched for.")
@file_options(trove_clusters="Table of clusters of the trove.")
@settings_options("attach")
@threads_option
@click.option("--samples-as", default="samples.parquet", help="Name of the table in the folder.")
@out_option("Folder of the release.")
def attach() -> None:
    """Add newly labelled proteins to a calibration set: each joins a family or founds one.

    Writes samples.parquet, groups.tsv, attach.tsv, attach.json and added.fasta into
    the folder. Repeats, conflicts of labels, relatives of training and bridges
    between groups are not added; attach.tsv says of each why.
    """


@stage_command(
    "fit.fit_files",
    "fit demo/calibration.csv --format phanns-labelled --method kernel --out c.json",
)
@labelled_options
@labels_option
@file_options(novelty="File from credence novelty; the method macest needs it.")
@repeated_options(
    proteins="FASTA file of the proteins: later commands recognise them by it; repeat it."
)
@match_option
@scale_option
@flag_options(logits="The scores are logits: the softmax of each row is read.")
@file_options(
    read_as="How later tables are read, as JSON; like TABLE unless given. For a TABLE that "
    "credence check wrote."
)
@file_options(tools="For a TABLE from credence combine: the file of its --record.")
@click.option(
    "--design-effect",
    type=Finite(1.0),
    help="With --format counts: how many proteins count as one family.",
)
@file_options(
    held_out="Also write the held-out confidences (cross-validated by family, five folds); "
    "evaluate and events with --folds 5, and compare, then run faster."
)
@settings_options("fit")
@out_option("The calibration, a JSON file.")
def fit() -> None:
    """Learn from proteins of known class how often predictions are right, class by class.

    The proteins must be ones that the classifier never saw in training. Where only counts
    are known, --format counts takes a table of class, score_above, score_to, right, wrong.
    """


@stage_command(
    "tools.combine_tables",
    "combine demo/calibration.csv --format phanns-labelled --clusters clusters.tsv "
    """--tools '[{"name": "networks", "scores": ["demo/calibration_networks.npz"], """
    """"spec": {"format": "networks-npz"}, "classes": {}}]' --out combined.parquet""",
)
@labelled_options
@labels_option
@click.option(
    "--tools", "tools_json", default="[]", help="The further tools, as JSON: see docs/tools.md."
)
@file_options(calibration="For an unlabelled TABLE, in place of --tools: the calibration file.")
@repeated_options(
    tool="With --calibration: table of a further tool, as name=table; one may be left out."
)
@file_options(
    answers="Also write the answer of each tool, and how sure it was; with --calibration.",
    record="Also write how they are combined, for credence fit --tools.",
)
@settings_options("combine")
@out_option("One table of the answers of all tools, .parquet.")
def combine() -> None:
    """Combine what several tools say of the same proteins into one answer.

    TABLE is that of the first tool, which has the labels and the run's classes.
    """


@click.command(
    cls=GroupedHelp,
    epilog="Example: credence annotate demo/my_phages.csv --calibration c.json --out conf.tsv",
)
@tables_as_given
@file_options(
    calibration="The calibration: a file from credence fit, or a name of credence show "
    "calibrations.",
    release="In place of --calibration: name or folder of a release of the run.",
    run="In place of --calibration: name of a run; its calibration, events and settings are used, "
    "and its novelty file if --proteins is given.",
)
@default_option(
    "--config", "config.yaml", "The configuration of that run, for --release or --run."
)
@table_options
@file_options(
    shift="Class proportions to correct for: the file of --record of credence shift; or none, for "
    "no correction. Unless given, they are estimated from TABLE.",
    events="File from credence events: adds the class-group probabilities.",
    novelty="File from credence novelty: flags proteins that are far from all known ones.",
    proteins="FASTA file of the proteins of TABLE: for --novelty, and to find proteins that are "
    "in the calibration set.",
    vectors="For --novelty, in place of --proteins: vectors of the proteins, npz or Parquet.",
)
@match_option
@repeated_options(
    tool="Table of a further tool, as name=table, if the calibration combines several."
)
@file_options(
    answers="For a TABLE from credence combine: the file of its --answers.",
    novelty_record="Also write what was found of novelty, as JSON.",
)
@click.option("--name", default="query", help="Name of TABLE in the two records.")
@flag_options(ids_across="With a folder as --out: no id may be in two TABLEs.")
@click.option(
    "--ending",
    type=click.Choice([".tsv", ".tsv.gz", ".tsv.zst", ".parquet"]),
    help="With a folder as --out: kind of its files; that of each TABLE unless given.",
)
@file_options(
    lists="Also write the lists of accepted predictions into this folder.",
    lists_record="Also write what was found of these lists, as JSON.",
)
@settings_options("annotate")
@threads_option
@spreadsheet_option
@six_decimals_option
@also_option
@out_option(
    "The confidences: .tsv, .tsv.gz, .tsv.zst or .parquet; or a folder: one for each TABLE."
)
def annotate(
    tables: tuple[str, ...],
    out: str,
    calibration: str | None,
    release: str | None,
    run: str | None,
    config: str,
    ending: str | None,
    ids_across: bool,
    **given: Any,
) -> None:
    """Give every prediction in TABLE a confidence: the probability that it is right.

    Needs only the table and a calibration. The class proportions of the table are estimated,
    and confidences are corrected for them. Tables may be of any size: they are read piece by
    piece. TABLE may be a folder of tables, or a pattern in quotes. If --out has no ending, it
    is a folder, and each table gets a file there; the same command again makes only those that
    are missing or out of date. If the calibration combines several tools and you have no
    table of the first, give the others with --tool and leave TABLE out.
    """
    from credence.app.configuration import files_of_run, named_calibration
    from credence.tables.shards import expanded

    if run is not None:
        named = {"calibration": calibration, "release": release}
        given |= files_of_run(run, config, given | named)
        calibration = given.pop("calibration")
    if not tables and not (given["tool"] and Path(out).suffix):
        raise click.UsageError("Missing argument 'TABLE...'.")
    shipped: list[str] = []
    if calibration is None and release is None and tables:
        from credence.tables.guess import propose_formats
        from credence.tables.ready_made import cards

        formats = [given["format_"]]
        if formats == [None]:
            formats = [proposal.format for proposal in propose_formats(Path(expanded(tables)[0]))]
        shipped = [name for name, card in cards().items() if card["format"] in formats]
    given |= {"calibration": named_calibration(calibration, release, config, shipped)}
    if Path(out).suffix and not Path(out).is_dir():
        from credence.stages.annotate import AnnotateInputs, AnnotateOptions, annotate_tables
        from credence.stages.shift import with_stated

        for option, value in (("--ending", ending), ("--ids-across", ids_across or None)):
            if value is not None:
                problem = "it is for a folder of confidences, and --out is a file."
                raise refuse(option, problem, "Leave it out, or give a folder as --out.")
        given, asked = with_settings("annotate", given)
        for name, option in (("method", "--estimator"), ("class_proportions", "--stated")):
            if given["shift"] is not None and name in asked:
                problem = "--shift says already what confidences are corrected for."
                raise refuse(option, problem, "Leave one of them out.")
        written = [entry.name for entry in fields(AnnotateOptions) if entry.name != "out"]
        options = AnnotateOptions(out=out, **{name: given.pop(name) for name in written})
        settings = options.settings
        settings = replace(settings, shift=with_stated(settings.shift))
        inputs = AnnotateInputs(
            tables=expanded(tables), parts=settings.novelty.parts, estimate=settings, **given
        )
        annotate_tables(inputs, options)
        return
    from credence.stages.shards import annotate_shards

    settings_json = given["settings_json"]
    given, asked = with_settings("annotate", given)
    whole = ("also", "lists", "lists_record", "novelty_record")
    for_whole = {f"--{name.replace('_', '-')}": given.pop(name) for name in whole}
    for_whole |= {f"--{name}": True for name in asked}
    for_whole["--settings"] = None if settings_json == "{}" else settings_json
    del given["settings"]
    annotate_shards(
        tables, out, ending=ending, ids_across=ids_across, for_whole=for_whole, **given
    )


@stage_command(
    "lists.threshold_tables",
    "thresholds demo/calibration.csv --format phanns-labelled --calibration c.json "
    "--out thresholds.tsv",
)
@labelled_options
@labels_option
@file_options(
    calibration="Calibration file: adds thresholds on its confidences.",
    shift="File of --record of credence shift: estimates are then for its class proportions.",
)
@settings_options("thresholds")
@out_option("The thresholds: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def thresholds() -> None:
    """Find, for each class, the score above which predictions are right as often as you want.

    For each class, and for all together: the estimated threshold, and the higher one that is
    guaranteed for proteins of new families. Each guarantee holds for its own class and
    precision, not for all of the table at once.
    """


@stage_command(
    "lists.list_confidences",
    "list conf.tsv --calibration c.json --error 0.05 --out list.tsv",
    "list",
)
@click.argument("confidences")
@required_options(calibration="The calibration that CONFIDENCES were annotated with.")
@file_options(shift="The file of --shift, if CONFIDENCES were annotated with one.")
@click.option(
    "--error",
    type=Finite(0.0, 1.0, min_open=True, max_open=True),
    required=True,
    help="Error rate (FDR): at most this share of the list is wrong.",
)
@click.option(
    "--by-class",
    "--by-label",
    "by_class",
    is_flag=True,
    help="Make a list for each class, or label, by itself.",
)
@flag_options(
    of_background="List the predictions of background classes, in place of the others.",
    certain="Hold the upper bound of the error rate, not its estimate, below --error.",
)
@file_options(clusters="Table of clusters of these proteins: homologues then widen the interval.")
@settings_options("list")
@json_option
@spreadsheet_option
@out_option("The list: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def list_predictions() -> None:
    """List the predictions to work with: at most the share that you state is wrong.

    CONFIDENCES is a table from credence annotate. Predictions of background classes (Other, say)
    are left out, unless you ask for them. The error rate is that of the whole list, measured on
    held-out proteins; for one protein, read its confidence.
    """


@stage_command(
    "plan.plan_verification", "plan conf.tsv --calibration c.json --number 20 --out plan.tsv"
)
@click.argument("confidences")
@required_options(calibration="The calibration that CONFIDENCES were annotated with.")
@file_options(shift="The file of --shift, if CONFIDENCES were annotated with one.")
@default_option("--number", 50, "How many proteins you can verify.", type=click.IntRange(1))
@file_options(clusters="Table of clusters of these proteins: at most one of each is chosen.")
@spreadsheet_option
@out_option("The table to fill in: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def plan() -> None:
    """Choose the proteins whose verification at the bench would narrow the intervals most.

    Fill their true classes into the table that it writes: with it as --labels, credence trove add
    adds them to the calibration set.
    """


@stage_command("gff.annotate_gff", "gff conf.tsv --gff demo/my_phages.gff3 --out annotated.gff3")
@click.argument("confidences")
@required_options(gff="The GFF3 file of the genome, plain or .gz.")
@file_options(
    attribute="Attribute of the CDS lines that holds the protein ids; found unless given."
)
@flag_options(some="Leave out proteins of CONFIDENCES that are not in the GFF3 file.")
@out_option("The GFF3 file with the new attributes, plain or .gz.")
def gff() -> None:
    """Put confidences into the GFF3 file of a genome, so that a genome browser shows them.

    Each CDS gets the attributes credence_class, credence_confidence, credence_lower,
    credence_upper, credence_q_value, credence_decision and credence_note, as far as they are
    known; all else is kept byte for byte. CONFIDENCES is a table from credence annotate.
    """


@stage_command(
    "genomes.genome_calls",
    "genomes conf.tsv --calibration c.json --genomes demo/my_phages_genomes.tsv --out genomes.tsv",
)
@click.argument("confidences")
@required_options(calibration="The calibration that CONFIDENCES were annotated with.")
@file_options(
    shift="The file of --shift, if CONFIDENCES were annotated with one.",
    genomes="Table of id and genome; without it, the column genome of CONFIDENCES is read.",
    clusters="Table of clusters of these proteins: homologues count as right or wrong together.",
    labels="Table of id and true_class of proteins of some genomes: learn from these, too.",
    judged="Also write how good the learnt probabilities are, beside those of the formula.",
    record="Also write what the page shows of it, as JSON.",
)
@click.option("--name", default="query", help="Name of CONFIDENCES in that record.")
@settings_options("genomes")
@spreadsheet_option
@out_option("The genomes: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def genomes() -> None:
    """Estimate how many predictions of each genome are right, and how probably all are.

    Give the genome of each protein with --genomes. If your score table names it in a column
    (phage, say), credence annotate --spec '{"genome": "phage"}' keeps that column. Background
    predictions, and those without a confidence, do not count.

    With --labels also: "every call right" and "every prediction right" (background too) as
    outcomes learnt from genomes of known true classes, and judged on genomes left out.
    """


@stage_command(
    "watch.watch_sample", "watch conf.tsv --calibration c.json --date 2026-11-21 --log watch.tsv"
)
@click.argument("confidences")
@required_options(
    calibration="The calibration that CONFIDENCES were annotated with.",
    date="Date of the sample, like 2026-11-21; the log is kept in this order.",
    log="The log: .tsv, .tsv.gz, .tsv.zst or .parquet; made where it is missing.",
)
@json_option
def watch() -> None:
    """Log this sample beside earlier ones, and say when it is time to recalibrate.

    Scores, class proportions and the share of novel proteins are compared with those of the
    first samples. However long a log grows, at most one log in 20 gives a false alarm.
    """


@stage_command(
    "labels.doubtful_labels",
    "labels demo/calibration.csv --format phanns-labelled --clusters clusters.tsv "
    "--out labels.tsv",
)
@labelled_options
@labels_option
@file_options(
    families="Also write the families with two labels or more, as a table.",
    record="Also write what the page says of it, as JSON.",
)
@default_option(
    "--error",
    0.5,
    "Greatest share of the list whose labels are right after all; 1 for no limit.",
    type=Finite(0.0, 1.0, min_open=True),
)
@spreadsheet_option
@out_option("The list: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def labels() -> None:
    """Find proteins whose label is doubtful, among those of known class; no label is changed.

    A label is doubtful if the protein's scores (its family left out of the fit), or the scores
    and labels of its homologues, contradict it. How many labels of the list are right after all
    is estimated by planting wrong labels and looking for them.
    """


@stage_command(
    "novelty.learn_novelty",
    "novelty demo/calibration.csv --format phanns-labelled "
    "--proteins demo/proteins.fasta --out novelty.json",
)
@labelled_options
@repeated_options(proteins="FASTA file of the proteins of TABLE; repeat it.")
@match_option
@file_options(
    vectors="In place of --proteins: npz or Parquet file with the id and vector of each protein.",
    training="FASTA file, or vectors, of the classifier's training proteins.",
)
@settings_options("novelty")
@threads_option
@out_option("The novelty file, JSON; credence annotate and credence fit read it.")
def novelty() -> None:
    """Learn what known proteins look like, so that new ones far from all of them are flagged.

    Proteins are compared by their short residue words, length and chemistry; or by vectors of
    your own, as a protein language model gives them.
    """


@stage_command(
    "shift.shift_tables",
    "shift demo/my_phages.csv --calibration c.json --out proportions.tsv --record shift.json",
)
@tables_argument
@table_options
@click.option("--calibration", required=True, help="The calibration: a file from credence fit.")
@file_options(record="Also write the full result, for credence annotate --shift.")
@click.option("--name", default="", help="Name of the query set on the page.")
@settings_options("shift")
@spreadsheet_option
@six_decimals_option
@also_option
@out_option("The class proportions: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def shift() -> None:
    """Estimate which share of the proteins in TABLE is of each class (label shift).

    It assumes that only the class proportions differ from those of the calibration set. That
    assumption is tested, and the result is reported. Tables may be of any size.
    """


@stage_command(
    "events.learn_events",
    "events demo/calibration.csv --format phanns-labelled --ask two_best "
    '--named \'{"tail": ["Major tail", "Minor tail"]}\' --calibration c.json --out events.json',
)
@labelled_options
@settings_options("events")
@file_options(
    calibration="The calibration whose confidences the probabilities must agree with.",
    novelty="File from credence novelty of these proteins: adds the distance as a feature.",
    held_out="File of --held-out of credence fit; without it the method is fitted again.",
)
@out_option("The events, a JSON file, for credence annotate and credence report.")
def events() -> None:
    """Learn how probable it is that a protein is in a group of classes: any tail protein, say.

    Forecasters are tuned and judged in cross-validation by family. The probabilities agree with
    each other and with the confidence of the calibration.
    """


@stage_command(
    "releases.record_release",
    "release base --samples demo/calibration.csv --groups groups.tsv "
    "--calibration c.json --out releases/00-base/release.json",
)
@click.argument("name")
@click.option("--number", type=click.IntRange(0), default=0, show_default=True)
@click.option("--date", help="When its trove arrived; never the date of today.")
@click.option("--parent", help="release.json of the release before.")
@click.option("--samples", required=True, help="Labelled table of the release.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", required=True, help="Table of its groups.")
@click.option("--calibration", required=True, help="Its calibration.")
@click.option("--check", "summary", help="What credence check wrote of the base.")
@click.option("--attached", help="attach.json of its trove.")
@click.option("--publish", help="Folder for people: calibration, groups, record, attach.tsv.")
@out_option("The record, release.json.")
def release() -> None:
    """Write down what a release of the calibration set rests on.

    Digests make a chain of releases: that of each covers its inputs, its set
    and its parent's.
    """


@stage_command(
    "releases.compare_releases",
    "compare results/demo/releases/00-base "
    "results/demo/releases/01-htj --out changes.tsv --page changes.html",
)
@click.argument("older")
@click.argument("newer")
@file_options(table="Score table whose confidences are compared; unless given, the set itself.")
@table_options
@click.option("--method", help="The method to compare, if both have several.")
@file_options(
    classes="Also write the changes by class, as a table.",
    page="Also make a page of the changes, one HTML file.",
    record="Also write the full result, as JSON.",
    held_out="File of --held-out of credence fit for OLDER; without it, OLDER is fitted again.",
)
@json_option
@spreadsheet_option
@file_options(out="Confidences before and after by protein: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def compare() -> None:
    """Show which confidences changed between two releases of a calibration set, and why.

    OLDER and NEWER are folders of releases, or calibration files. Two files show only counts and
    bandwidths. Why a confidence moved, metrics and drift need the proteins: give the folders
    results/<run>/releases/<release>.
    """


@stage_command(
    "evaluate.evaluate_files",
    "evaluate demo/calibration.csv --format phanns-labelled "
    "--calibration c.json --metrics metrics.tsv --out findings.json",
)
@labelled_options
@click.option(
    "--calibration",
    "calibrations",
    multiple=True,
    required=True,
    help="A calibration file, fitted on TABLE (it is cross-validated) or on other proteins (it is "
    "judged as it is); repeat it for each method.",
)
@repeated_options(
    held_out="File of --held-out of credence fit for one of the methods; the others are fitted "
    "here."
)
@file_options(
    novelty="File from credence novelty: adds quality by identity with known proteins; the "
    "method macest needs it.",
    chosen="Method of the published confidences; the first unless given.",
)
@click.option("--check", "summary", help="What credence check wrote of this table.")
@repeated_options(attached="attach.json of a trove in TABLE; repeat it for each.")
@default_option(
    "--resample",
    "cluster",
    "What the intervals of metrics resample: whole clusters, or single rows as if homologues "
    "were independent (too narrow; to show the difference).",
    type=click.Choice(["cluster", "row"]),
)
@settings_options("evaluate")
@click.option("--metrics", help="Also write the metrics as a table.")
@click.option("--thresholds", help="Also write the thresholds of each class, as a table.")
@out_option("The findings, a JSON file; credence report makes a page of it.")
def evaluate() -> None:
    """Judge how well confidences hold on protein families that the calibration has not seen.

    If TABLE is the one that the calibrations were fitted on, each method is cross-validated by
    family: fitted without one fold of whole clusters, judged on that fold (held_out in the
    table of metrics). Proteins with the role test are judged by the finished calibrations.

    If TABLE is newly labelled, the finished calibrations are judged as they are (test in the
    table of metrics). Its calibration proteins are left out, and counted.
    """


@stage_command("report.report_findings", "report findings.json --out page/index.html")
@click.argument("found_in", metavar="FINDINGS")
@rows_option(
    "--query-set",
    "NAME CONFIDENCES CHECK",
    "A query set: its name, its table of confidences, and --out of credence check.",
    "queries",
)
@repeated_options(
    shift="File of --record of credence shift for a query set; repeat it.",
    changes="File of --record of credence compare for a release; repeat it, in order.",
)
@click.option("--events", help="File from credence events.")
@click.option("--labels", help="File of --record of credence labels.")
@repeated_options(
    novelty="File of --novelty-record of credence annotate for a query set; repeat it.",
    lists="File of --lists-record of credence annotate for a query set; repeat it.",
    genomes="File of --record of credence genomes for a query set; repeat it.",
)
@rows_option(
    "--read",
    "ROLE FILE",
    "A further input file, and what it was: training proteins, say; repeat it.",
)
@rows_option(
    "--truth",
    "NAME TABLE",
    "Query set and table of its true classes (id, true_class), which the page compares with the "
    "confidences; repeat it.",
)
@click.option(
    "--settings", "run_json", default="{}", help="Name, title and other facts of the run, as JSON."
)
@click.option("--findings", "complete", help="Also write the findings, query sets included.")
@click.option("--split", help="File of --summary of credence split.")
@click.option("--metrics", help="Table of metrics, to put beside the page.")
@click.option("--calibration", help="Calibration file, to put beside the page.")
@click.option("--archive", help="Also write a zip file of page and files, ready to deposit.")
@click.option("--put", "further", multiple=True, help="A further file for the archive; repeat it.")
@click.option("--index", help="Also write a page that lists all runs in folders beside this one.")
@out_option("The page; report.json is written beside it.")
def report() -> None:
    """Make the page of results: one HTML file that opens without the net.

    FINDINGS is the file from credence evaluate, or --findings of this command.
    """


@stage_command(
    "figures.draw_figures",
    "figures --findings results/demo/findings.json --out figures --formats pdf",
)
@click.option("--findings", "found_in", help="findings.json of a run, in its own folder.")
@click.option(
    "--records",
    help="In place of --findings: a file that verification/figure_records.py makes of a table.",
)
@out_option("Folder of the figures; made where it is missing.")
@click.option("--only", help="Numbers or names of figures, with commas: 09,17; all unless given.")
@default_option("--formats", "pdf,svg,png", "File formats of each figure, with commas.")
@default_option(
    "--columns",
    "both",
    "Width in columns of a journal: one (85 mm), two (174 mm).",
    type=click.Choice(["one", "two", "both"]),
)
def figures() -> None:
    """Draw the figures of a run for a journal, each with its numbers as a table.

    Methods that a figure needs and the run did not fit are fitted now. figures.tsv has a caption
    for each figure, or says why it is missing; figures.json has all that is drawn.
    """


@click.command(
    cls=GroupedHelp, epilog="Example: credence check-page reports/demo/report.json --require care"
)
@click.argument("record")
@default_option(
    "--require", "good", "The verdict that is good enough.", type=click.Choice(["good", "care"])
)
def check_page(record: str, require: str) -> int:
    """Say whether the confidences of a page are good to use, so that a workflow can stop.

    Ends with code 1 and the reasons where the verdict is worse than required.
    """
    from credence.records import from_record, read_json
    from credence.report.verdict import StatedVerdict

    remedy = "Give report.json of a finished run, of this version of credence."
    content = read_json(Path(record), remedy)
    if "verdict" not in content:
        raise refuse(record, "it holds no verdict.", remedy)
    verdict = from_record(StatedVerdict, content["verdict"], record, remedy)
    click.echo(f"{record}: {verdict.state}")
    worse = list(verdict.worse_than(require))
    for check in worse:
        about = f"{check.query_set}: " if check.query_set else ""
        echo(f"{check.state}: {about}{check.headline}. {check.text}")
    return 1 if worse else 0


@click.command(cls=GroupedHelp, epilog="Example: credence show calibrations")
@click.argument(
    "kind", type=click.Choice(["calibrations", "methods", "formats", "metrics", "programs"])
)
@click.argument("name", required=False)
@json_option
def show(kind: str, name: str | None, as_json: bool) -> None:
    """List what there is: calibrations, methods, table formats, metrics, installed programs.

    With a NAME, it shows the details of one. Methods are ordered from simple to complex. Names of
    bundled calibrations can be given as --calibration, those of formats as --format.
    """
    from credence.stages.methods import LISTS

    listed = LISTS[kind]()
    if name is not None and name not in listed:
        raise refuse("NAME", f"{name!r} is none of the {kind}.", nearest(name, list(listed)))
    chosen = {known: entry for known, entry in listed.items() if name in (None, known)}
    if as_json:
        facts = [entry.facts for entry in chosen.values()]
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for entry in chosen.values():
        click.echo("\n".join(entry.lines if name is not None else entry.lines[:2]))


@click.command(
    cls=GroupedHelp,
    epilog="""Example: credence simulate world --settings '{"n_calibration": 500, "seed": 7}'""",
)
@click.argument("folder")
@click.option(
    "--settings",
    "settings_json",
    default="{}",
    help="Settings of the world as JSON; the others keep their defaults.",
)
def simulate(folder: str, settings_json: str) -> None:
    """Write the simulated proteins of the demo into FOLDER: scores, sequences, labels.

    The truth is known: FOLDER/truth holds every protein's family and class,
    and all that was planted for a stage to find.
    """
    from credence.simulate.world import make_world, render_files
    from credence.stages.reading import json_settings
    from credence.stages.settings import world_settings
    from credence.tables.writing import open_output

    settings = world_settings(json_settings(settings_json, "--settings"), "--settings")
    for name, content in render_files(make_world(settings)).items():
        path = Path(folder) / name
        with open_output(path) as handle:
            handle.write(content if isinstance(content, bytes) else content.encode())
        echo(f"Wrote {path}")
