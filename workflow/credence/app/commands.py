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
    "--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to."
)


@stage_command(
    "split.cluster_proteins",
    "cluster demo/proteins.fasta --training demo/training.fasta "
    "--relatives relatives.tsv --out clusters.tsv",
)
@click.argument("proteins")
@file_options(
    training="FASTA file of the classifier's training set.",
    clstr="A .clstr file of CD-HIT; then nothing is clustered.",
    relatives="Also write which proteins have a relative in training.",
)
@pieces_options
@match_option
@settings_options("cluster")
@threads_option
@click.option("--timeout", type=click.FloatRange(1.0), help="Seconds that the engine may take.")
@out_option("The clusters: id, cluster, representative, identity, coverage.")
def cluster() -> None:
    """Find families: groups of homologous proteins among PROTEINS.

    Two are relatives at 40 % identity over 80 % of the shorter one, unless you set it
    otherwise. With --training it also says who is a relative of what the classifier learnt from.
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
    labels="In place of TABLE, where nothing is scored yet: a table of id and true_class, or as "
    """JSON {"table": …, "label_column": …} or, of the headers of --proteins, {"pattern": …}."""
)
@rows_option(
    "--class",
    "CLASS FASTA",
    "In place of TABLE: a class and a FASTA file of its proteins; repeat it.",
    "of_class",
)
@file_options(
    clusters="Table of clusters; without it each protein is its own.",
    training="FASTA file of the classifier's training set.",
    relatives="Table of training relatives, from credence cluster.",
    proteins="FASTA file of the table's proteins, for the audit.",
)
@flag_options(
    own_clusters="CLUSTERS is a table of your own, not what credence cluster wrote: the page "
    "says so."
)
@match_option
@settings_options("split")
@threads_option
@pieces_options
@file_options(summary="Also write what the page says of the split, as JSON.")
@out_option("The groups: id, cluster, group, role, reason.")
def split() -> None:
    """Split proteins into groups that share no family, so that a test on one is honest.

    Every class has about the same share in each group.
    No scores are needed: --labels, or --class for each class, take the place of TABLE. Proteins
    calibrate, or are for what --roles says, but for relatives of training proteins, which
    are set aside with their reason. An audit says who has a relative in
    another group; it needs sequences.
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
@repeated_options(clusters="Table of given clusters; then nobody searches.")
@file_options(trove_clusters="The same of the trove.")
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
@file_options(novelty="What credence novelty wrote, for methods that ask where proteins lie.")
@repeated_options(
    proteins="FASTA file of the proteins, by which others find them again; repeat it."
)
@match_option
@scale_option
@flag_options(logits="The scores are logits: the softmax of each row is read.")
@file_options(
    read_as="How later tables are read, as JSON, where TABLE is what credence check wrote; else "
    "as TABLE is."
)
@file_options(tools="What credence combine wrote with --record, of a table that it wrote.")
@click.option(
    "--design-effect",
    type=Finite(1.0),
    help="Of --format counts: so many proteins are taken for one family.",
)
@file_options(
    held_out="Also write its confidences by fits without the proteins' families, in five folds: "
    "evaluate and events with --folds 5, and compare, then need not find them again."
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
@file_options(calibration="In place of --tools, of unlabelled TABLE: what credence fit wrote.")
@repeated_options(tool="With it: table of a further tool, as name=table; one may be left out.")
@file_options(
    answers="With it: also write the answer of each tool, and how sure it was.",
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
    calibration="What credence fit wrote.",
    release="In its place: name or folder of a release of the run.",
    run="In their place: name of a run, whose calibration, events and settings are taken, and "
    "novelty where --proteins are given.",
)
@default_option(
    "--config",
    "config.yaml",
    "The configuration of that run; read with the name of a release or a run.",
)
@table_options
@file_options(
    shift="What credence shift wrote with --record; or none: no correction for the class "
    "proportions of TABLE, which are estimated otherwise.",
    events="What credence events wrote of the same set.",
    novelty="What credence novelty wrote: how far each protein is from those.",
    proteins="FASTA file of the proteins of TABLE: for --novelty, and to find calibration ones.",
    vectors="For --novelty, in place of --proteins: their vectors, npz or Parquet.",
)
@match_option
@repeated_options(tool="Table of a further tool, as name=table, with a calibration of several.")
@file_options(
    answers="What credence combine wrote with --answers, of a table that it wrote.",
    novelty_record="Also write what was found of novelty, as JSON.",
)
@click.option("--name", default="query", help="What to call TABLE there.")
@flag_options(ids_across="With a folder as --out: no id may be in two TABLEs.")
@click.option(
    "--ending",
    type=click.Choice([".tsv", ".tsv.gz", ".tsv.zst", ".parquet"]),
    help="The same: kind of files; that of each TABLE unless given.",
)
@file_options(
    lists="Also write lists of the proteins that can be used into this folder.",
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

    Needs nothing but the table and a calibration file. The class proportions of the
    table are estimated, and confidences corrected for them. Tables of any size:
    they are read piece by piece. TABLE may be a folder of tables, or a pattern in quotes.
    An --out without an ending is a folder: each table gets a file there, by itself; the
    same command again goes on with those that are missing or out of date. Of several tools
    the first may be missing: give --tool alone.
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
    calibration="What credence fit wrote: for thresholds on its confidences as well.",
    shift="What credence shift wrote: estimates are for these class proportions, as lists are.",
)
@settings_options("thresholds")
@out_option("The thresholds: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def thresholds() -> None:
    """Find for each class the score from which on predictions are right as often as you want.

    For each class, and for all together: the threshold as estimated, and the one
    that is guaranteed for proteins of new families. Each is a statement by itself.
    """


@stage_command(
    "lists.list_confidences",
    "list conf.tsv --calibration c.json --error 0.05 --out list.tsv",
    "list",
)
@click.argument("confidences")
@required_options(calibration="What they were annotated with.")
@file_options(shift="The same: what credence shift wrote.")
@click.option(
    "--error",
    type=Finite(0.0, 1.0, min_open=True, max_open=True),
    required=True,
    help="Error rate that the list may hold.",
)
@flag_options(
    by_class="A list for each class, each by itself.",
    of_background="The list of background predictions, in place of the calls.",
    certain="The upper bound of the error rate, not its estimate, is at most --error.",
)
@file_options(clusters="Table of clusters of the listed proteins, for the interval.")
@settings_options("list")
@json_option
@spreadsheet_option
@out_option("The list: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def list_predictions() -> None:
    """List the predictions to work with: at most the share that you state is wrong.

    CONFIDENCES is what credence annotate wrote. Calls are predictions of any class that is
    not background. The error is that of the list, as held-out proteins show it, not that of
    a protein in it.
    """


@stage_command(
    "plan.plan_verification", "plan conf.tsv --calibration c.json --number 20 --out plan.tsv"
)
@click.argument("confidences")
@required_options(calibration="What they were annotated with.")
@file_options(shift="The same: what credence shift wrote.")
@default_option("--number", 50, "How many can be verified.", type=click.IntRange(1))
@file_options(clusters="Table of clusters of these proteins: then one of each is chosen.")
@spreadsheet_option
@out_option("The table to fill in: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def plan() -> None:
    """Choose the proteins whose verification at the bench would teach most.

    Those whose classes narrow the intervals of the table most, where most of its
    predictions are. Filled in, the table gives the labels of a trove.
    """


@stage_command("gff.annotate_gff", "gff conf.tsv --gff demo/my_phages.gff3 --out annotated.gff3")
@click.argument("confidences")
@required_options(gff="The GFF3 file of the genome, plain or .gz.")
@file_options(attribute="Which attribute of its CDS holds the ids; else the one that does.")
@flag_options(some="Leave out what of CONFIDENCES is not in the file.")
@out_option("The same file with further attributes, plain or .gz.")
def gff() -> None:
    """Put confidences into the GFF3 file of a genome, so that a genome browser shows them.

    Each CDS gets the attributes credence_class, credence_confidence, credence_lower,
    credence_upper, credence_q_value, credence_decision and credence_note, as far as they are
    known; all else is kept byte for byte. CONFIDENCES is what credence annotate wrote.
    """


@stage_command(
    "genomes.genome_calls",
    "genomes conf.tsv --calibration c.json --genomes demo/my_phages_genomes.tsv --out genomes.tsv",
)
@click.argument("confidences")
@required_options(calibration="What they were annotated with.")
@file_options(
    shift="The same: what credence shift wrote.",
    genomes="Table of id and genome; else the column genome of CONFIDENCES.",
    clusters="Table of clusters of these proteins: relatives are right or wrong alike.",
    labels="Table of id and true_class of proteins of some genomes: learn from these, too.",
    judged="Also write how good what is learnt is, beside what is worked out.",
    record="Also write what the page shows of it, as JSON.",
)
@click.option("--name", default="query", help="What to call CONFIDENCES there.")
@settings_options("genomes")
@spreadsheet_option
@out_option("The genomes: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def genomes() -> None:
    """Say of each genome how many of its predictions are right, and whether all are.

    A score table names genomes, contigs or samples in a column: credence annotate --spec
    '{"genome": "phage"}' keeps it. Calls are the predictions that have a confidence.

    With --labels also: "every call right" and "every prediction right" (background too) as
    outcomes learnt from genomes of known true classes, and judged on genomes left out.
    """


@stage_command(
    "watch.watch_sample", "watch conf.tsv --calibration c.json --date 2026-11-21 --log watch.tsv"
)
@click.argument("confidences")
@required_options(
    calibration="What they were annotated with.",
    date="When the sample was taken or annotated, like 2026-11-21; the log is in this order.",
    log="The log: .tsv, .tsv.gz, .tsv.zst or .parquet; made where it is missing.",
)
@json_option
def watch() -> None:
    """Log this sample beside earlier ones, and say when it is time to recalibrate.

    Samples are compared with the first ones by the same calibration: their scores, their
    class proportions, what is flagged as novel. Whatever their number, an alarm is false at
    most once in 20 logs.
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
    "Share of right labels that the list may hold; 1 for all that more speaks against.",
    type=Finite(0.0, 1.0, min_open=True),
)
@spreadsheet_option
@out_option("The list: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def labels() -> None:
    """Find proteins whose label is doubtful, among those of known class; no label is changed.

    By their scores, with their family left out, and by the scores and labels of their
    relatives. How many of the list are right labels is found with planted wrong ones.
    """


@stage_command(
    "novelty.learn_novelty",
    "novelty demo/calibration.csv --format phanns-labelled "
    "--proteins demo/proteins.fasta --out novelty.json",
)
@labelled_options
@repeated_options(proteins="FASTA file of the proteins; repeat it.")
@match_option
@file_options(
    vectors="In place of --proteins: npz or Parquet with an id and a vector for each.",
    training="FASTA file, or vectors, of what the classifier was trained on.",
)
@settings_options("novelty")
@threads_option
@out_option("The novelty file, JSON; credence annotate and credence fit read it.")
def novelty() -> None:
    """Learn what known proteins look like, so that new ones far from all of them are flagged.

    A protein's place is made of what it consists of: words of residues, length
    and chemistry; or of vectors of your own, as a protein language model gives
    them.
    """


@stage_command(
    "shift.shift_tables",
    "shift demo/my_phages.csv --calibration c.json --out proportions.tsv --record shift.json",
)
@tables_argument
@table_options
@click.option("--calibration", required=True, help="What credence fit wrote.")
@file_options(record="Also write all that was found, for credence annotate --shift.")
@click.option("--name", default="", help="Name of the query set on the page.")
@settings_options("shift")
@spreadsheet_option
@six_decimals_option
@also_option
@out_option("The class proportions: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def shift() -> None:
    """Estimate which share of the proteins in TABLE is of each class (label shift).

    Only the class proportions may differ from the calibration set's; whether
    that is so is tested, and reported. Tables of any size: they are read piece
    by piece.
    """


@stage_command(
    "events.learn_events",
    "events demo/calibration.csv --format phanns-labelled --ask two_best "
    '--named \'{"tail": ["Major tail", "Minor tail"]}\' --calibration c.json --out events.json',
)
@labelled_options
@settings_options("events")
@file_options(
    calibration="What credence fit wrote: the confidence to agree with.",
    novelty="What credence novelty wrote of this set: the feature distance.",
    held_out="What credence fit wrote with --held-out; else the method is fitted again here.",
)
@out_option("The events, a JSON file, for credence annotate and credence report.")
def events() -> None:
    """Learn how probable it is that a protein is in a group of classes: any tail protein, say.

    Forecasters are tuned and judged on whole clusters left out. Probabilities are
    made to contradict neither each other nor the confidence of the calibration.
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
@file_options(table="A score table: compare the confidences of its proteins.")
@table_options
@click.option("--method", help="Method compared, where both have several.")
@file_options(
    classes="Also write the changes by class, as a table.",
    page="Also make a page of them, one HTML file.",
    record="Also write all that was found, as JSON.",
    held_out="What credence fit wrote of OLDER with --held-out; else it is fitted again here.",
)
@json_option
@spreadsheet_option
@file_options(out="Confidences before and after by protein: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def compare() -> None:
    """Show which confidences changed between two releases of a calibration set, and why.

    Both are folders of releases, or calibration files: these have counts and
    bandwidths; what moved a confidence, metrics and drift need the proteins,
    which the folders of results/ hold.
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
    help="What credence fit wrote: from this table; or, to judge it as it is, from others. Once "
    "for each method.",
)
@repeated_options(
    held_out="What credence fit wrote with --held-out of one of the methods; "
    "others are fitted here."
)
@file_options(
    novelty="What credence novelty wrote: for quality by identity with known proteins, and for "
    "methods that ask where proteins lie.",
    chosen="Method of the published confidences; else the first.",
)
@click.option("--check", "summary", help="What credence check wrote of this table.")
@repeated_options(attached="attach.json of a trove in it; each once.")
@default_option(
    "--resample",
    "cluster",
    "What intervals of metrics draw; row takes relatives for independent, to show how "
    "wrong that is.",
    type=click.Choice(["cluster", "row"]),
)
@settings_options("evaluate")
@click.option("--metrics", help="Also write the metrics as a table.")
@click.option("--thresholds", help="Also write from where on predictions can be used, as a table.")
@out_option("The findings, a JSON file; credence report makes a page of it.")
def evaluate() -> None:
    """Judge how well confidences hold on protein families that the calibration has not seen.

    TABLE is the one that the calibrations were fitted on: each method is fitted again without
    one fold of whole clusters after the other; the numbers called held-out are of proteins left
    out. Proteins of the role test are judged too, by the finished calibrations.

    Or TABLE is newly labelled: the finished calibrations are judged as they are, and the numbers
    are called test. Proteins that calibrated are left out, and counted.
    """


@stage_command("report.report_findings", "report findings.json --out page/index.html")
@click.argument("found_in", metavar="FINDINGS")
@rows_option(
    "--query-set",
    "NAME CONFIDENCES CHECK",
    "A query set: its name, its confidences, and what credence check wrote of it.",
    "queries",
)
@repeated_options(
    shift="What credence shift wrote of a query set with --record; repeat it.",
    changes="What credence compare wrote of a release with --record; repeat it, in order.",
)
@click.option("--events", help="What credence events wrote.")
@click.option("--labels", help="What credence labels wrote with --record.")
@repeated_options(
    novelty="What credence annotate wrote of a query set with --novelty-record; repeat it.",
    lists="The same with --lists-record; repeat it.",
    genomes="What credence genomes wrote of a query set with --record; repeat it.",
)
@rows_option(
    "--read",
    "ROLE FILE",
    "A further file that the run read, and as what: training proteins, clusters; repeat it.",
)
@rows_option(
    "--truth",
    "NAME TABLE",
    "True classes of a query set, shown beside what was promised: id, true_class; repeat it.",
)
@click.option("--settings", "run_json", default="{}", help="What to say of the run, as JSON.")
@click.option("--findings", "complete", help="Also write the findings, query sets included.")
@click.option("--split", help="What credence split wrote with --summary.")
@click.option("--metrics", help="Table of metrics, to put beside the page.")
@click.option("--calibration", help="Calibration file, to put beside the page.")
@click.option("--archive", help="Also write a zip file of all this, ready to deposit.")
@click.option("--put", "further", multiple=True, help="A further file for the archive; repeat it.")
@click.option("--index", help="Also write a page over all runs whose folders lie beside it.")
@out_option("The page; report.json is written beside it.")
def report() -> None:
    """Make the page of results: one HTML file that needs nothing else.

    FINDINGS is what credence evaluate wrote, or --findings of this command.
    """


@stage_command(
    "figures.draw_figures",
    "figures --findings results/demo/findings.json --out figures --formats pdf",
)
@click.option("--findings", "found_in", help="findings.json of a run, in its own folder.")
@click.option(
    "--records", help="In its place: records, as verification/figure_records.py makes of a table."
)
@out_option("Folder of the figures; made where it is missing.")
@click.option("--only", help="Numbers or names of figures, with commas: 09,17. All unless given.")
@default_option("--formats", "pdf,svg,png", "What is made of each, with commas.")
@default_option(
    "--columns",
    "both",
    "Columns of a journal that it fills: one (85 mm), two (174 mm).",
    type=click.Choice(["one", "two", "both"]),
)
def figures() -> None:
    """Draw the figures of a run for a journal, each with its numbers as a table.

    What the run did not fit is fitted now; figures.json in the folder holds all
    that is drawn. figures.tsv says what each shows, with a caption, and why one
    is missing.
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

    With a NAME, all that is known of it. Methods stand from simple to complex. A bundled
    calibration can be named where a command takes --calibration, a format where one takes
    --format.
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
