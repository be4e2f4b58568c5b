"""The command line: from a log to a report, to a plan, to a forecast, to a check."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich import box
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Table
    from rich.text import Text
except ImportError:
    sys.exit("bayeval: the command line needs typer and rich: pip install 'bayeval[cli]'")

import numpy as np
import pandas as pd

import bayeval as bv
from bayeval._text import clean, number, percent, probability_text, table_text, trials

# What is wrong with a command; typer may bring its own click, so ask it.
WRONG_USAGE = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

BAD_DATA, USAGE, WORSE, INTERRUPTED = 1, 2, 3, 130
ROLES = ("model", "question", "outcome", "trial", "successes", "trials", "error", "task")
# Columns of a table that is not shown on a terminal.
WIDTH = 120
# Open pairs shown on a terminal; the page and the JSON hold more.
SHOWN = 12
NAMES = ("model", "side", "ahead", "behind", "name", "license", "size")

app = typer.Typer(
    name="bayeval", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Bayesian evaluation of language models, from logs of repeated attempts.",
    epilog="Exit codes: 0 done, 1 bad data, 2 wrong usage, 3 worse (compare --fail-if-worse).")
data_app = typer.Typer(no_args_is_help=True, help="List and export the data sets of the book.")
app.add_typer(data_app, name="data")


class Prior(StrEnum):
    learned = "learned"
    uniform = "uniform"


class Errors(StrEnum):
    missing = "missing"
    failed = "failed"


class Questions(StrEnum):
    all = "all"
    shared = "shared"


class By(StrEnum):
    model = "model"
    file = "file"


Results = Annotated[list[str], typer.Argument(
    metavar="RESULTS...", help="Files, folders or patterns: Inspect logs, lm-evaluation-harness "
    "samples, CSV, JSON lines, Parquet, .npz.")]
Probability = Annotated[float, typer.Option(help="Of intervals and of claims about pairs.")]
PriorOption = Annotated[Prior, typer.Option(help="Prior of each question's success chance.")]
ErrorsOption = Annotated[Errors, typer.Option(
    help="What attempts are that ended in an error.")]
QuestionsOption = Annotated[Questions, typer.Option(
    help="Keep all questions, or those that all models were asked.")]
ByOption = Annotated[By, typer.Option(
    help="Several files of one model: further attempts, or models of their own.")]
Metric = Annotated[str | None, typer.Option(help="The score to read, if there are several.")]
Filter = Annotated[str | None, typer.Option(help="The filter of lm-evaluation-harness to read.")]
Threshold = Annotated[float | None, typer.Option(
    help="Score from which on an attempt is right, for scores other than 0 and 1.")]
Categories = Annotated[str | None, typer.Option(
    help="All scores that occur, worst first, such as none,part,full.")]
Columns = Annotated[list[str] | None, typer.Option(
    "--column", metavar="ROLE=NAME", help="Column of a table, where its name does not tell: model, "
    "question, outcome, trial, successes, trials, error or task. May be repeated.")]
Repeats = Annotated[bool | None, typer.Option(
    help="Columns A.1, A.2 of a wide table are repeats of A, or models.")]
JsonFile = Annotated[str | None, typer.Option(
    "--json", metavar="FILE", help="Write the report as JSON; - for the standard output.")]


@app.command()
def report(
    results: Results,
    weights: Annotated[str | None, typer.Option(
        help="The rubric: one weight a category, such as 0,0.5,1.")] = None,
    prior: PriorOption = Prior.learned,
    probability: Probability = 0.95,
    pass_k: Annotated[str | None, typer.Option(
        help="The k of Pass@k, such as 1,4,16.")] = None,
    errors: ErrorsOption = Errors.missing,
    questions: QuestionsOption = Questions.all,
    by: ByOption = By.model,
    metric: Metric = None,
    filter: Filter = None,
    threshold: Threshold = None,
    categories: Categories = None,
    column: Columns = None,
    repeats: Repeats = None,
    html: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the report as one page.")] = None,
    json_file: JsonFile = None,
):
    """Report scores with intervals, ranks, settled and open pairs, and Pass@k.

    Examples:

      bayeval report logs/

      bayeval report runs.csv --pass-k 1,4,16 --html report.html --json report.json

      bayeval report graded.csv --weights 0,0.5,1 --prior uniform --probability 0.9
    """
    rubric = _numbers("--weights", weights, float)
    ks = _numbers("--pass-k", pass_k, int)
    o = _read(results, errors=errors, questions=questions, by=by, metric=metric, filter=filter,
              threshold=threshold, column=column, repeats=repeats,
              categories=None if categories is None else categories.split(","))
    r = bv.report(o, weights=rubric, prior=str(prior), probability=probability, pass_k=ks)
    for note in r.notes[len(o.notes):]:
        _note(note)
    files = [(html, r.to_html)] if html is not None else []
    if json_file not in (None, "-"):
        files.append((Path(json_file), r.to_json))
    texts = [(path, make()) for path, make in files]
    for path, text in texts:
        _write(path, text)
    if json_file == "-":
        sys.stdout.write(r.to_json())
    else:
        _print_report(r)
        for path, _ in texts:
            _say(f"wrote {path}")


@app.command()
def compare(
    new: Annotated[str, typer.Argument(help="Results of the new model.")],
    old: Annotated[str, typer.Argument(help="Results of the old model, on the same questions.")],
    fail_if_worse: Annotated[float | None, typer.Option(
        metavar="P", help="Exit with code 3 if the new model is worse with at least this "
        "probability.")] = None,
    population: Annotated[bool, typer.Option(
        "--population", help="Decide for new questions of the kind, not for these.")] = False,
    prior: PriorOption = Prior.learned,
    probability: Probability = 0.95,
    errors: ErrorsOption = Errors.missing,
    metric: Metric = None,
    filter: Filter = None,
    threshold: Threshold = None,
    column: Columns = None,
    json_file: JsonFile = None,
):
    """Compare a new model with an old one, and fail if it is worse.

    Example:

      bayeval compare new.eval old.eval --fail-if-worse 0.95
    """
    if fail_if_worse is not None and not 0.5 < fail_if_worse < 1:
        raise typer.BadParameter("it must lie between 0.5 and 1", param_hint="--fail-if-worse")
    sides = [_read([path], errors=errors, metric=metric, filter=filter, threshold=threshold,
                   column=column) for path in (new, old)]
    for path, o in zip((new, old), sides):
        if o.n_models != 1:
            raise ValueError(f"{path}: it holds {o.n_models} models; compare takes one on each "
                             "side (report takes many)")
    shared = [q for q in sides[0].questions if q in set(sides[1].questions)]
    if not shared:
        raise ValueError("the two files share no question")
    if sides[0].categories != sides[1].categories:
        raise ValueError(f"the categories differ: {sides[0].categories} and {sides[1].categories}")
    left_out = sum(o.n_questions - len(shared) for o in sides)
    sides = [o.select(questions=shared) for o in sides]
    weights = None if sides[0].is_binary else [float(c) for c in sides[0].categories]
    o = bv.Outcomes.from_category_counts(
        np.concatenate([side.counts for side in sides]), models=["new", "old"], questions=shared,
        categories=sides[0].categories, planned=np.concatenate([side.planned for side in sides]))
    r = bv.report(o, weights=weights, prior=str(prior), probability=probability)
    here = float(bv.superiority(o, paired=False, weights=weights, prior=str(prior))
                 .loc["old", "new"])
    there = float(bv.superiority(o, paired=True, weights=weights).loc["old", "new"])
    worse = there if population else here
    failed = fail_if_worse is not None and worse >= fail_if_worse
    found = {"questions": len(shared), "left_out": left_out, "worse_these_questions": here,
             "worse_new_questions": there, "decided_on": "new" if population else "these",
             "fail_if_worse": fail_if_worse, "failed": failed, "board": r.to_dict()["board"]}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
    else:
        if json_file is not None:
            _write(Path(json_file), text)
        _print_comparison(new, old, r, found)
    if failed:
        raise typer.Exit(WORSE)


@app.command()
def plan(
    pilot: Annotated[list[str] | None, typer.Argument(
        metavar="[PILOT]...", help="Results of a pilot, which say how hard the questions "
        "are.")] = None,
    gap: Annotated[float | None, typer.Option(
        help="Smallest difference of two models that matters.")] = None,
    width: Annotated[float | None, typer.Option(
        help="Width that the interval of one model may have.")] = None,
    score: Annotated[float, typer.Option(
        help="Without a pilot: the score that is expected.")] = 0.5,
    questions: Annotated[int | None, typer.Option(
        help="Number of questions, without a pilot.")] = None,
    probability: Probability = 0.95,
    power: Annotated[float, typer.Option(
        help="Probability with which the gap is to be settled.")] = 0.8,
    metric: Metric = None,
    filter: Filter = None,
    threshold: Threshold = None,
    column: Columns = None,
):
    """Plan trials per question: for a gap between two models, or for the width of an interval.

    Examples:

      bayeval plan --gap 0.05 --score 0.6 --questions 30

      bayeval plan pilot.csv --width 0.04
    """
    if (gap is None) == (width is None):
        raise typer.BadParameter("give one of them", param_hint="--gap / --width")
    if pilot:
        if questions is not None:
            raise typer.BadParameter("the pilot says how many there are", param_hint="--questions")
        o = _read(pilot, metric=metric, filter=filter, threshold=threshold, column=column)
        names = o.models
        p = np.atleast_2d(np.clip(bv.posterior(o, prior="learned").question_mean, 0, 1))
        basis = "from the pilot"
    else:
        if questions is None:
            raise typer.BadParameter("say how many, or give a pilot", param_hint="--questions")
        if questions < 1 or not 0 <= score <= 1:
            raise typer.BadParameter("at least 1 question, and a score from 0 to 1",
                                     param_hint="--questions / --score")
        names, p, basis = ("a model",), np.full((1, questions), score), \
            "all questions equally hard, which needs the most trials"
    if gap is not None:
        # The noisier a model's attempts, the more trials it takes: plan for the noisiest.
        noise = p[int((p * (1 - p)).sum(axis=1).argmax())]
        found = bv.design.plan_trials(noise, noise, rho=probability, power=power, gap=gap)
        _say(f"{trials(found.n_trials)} trials per question and model "
             f"({trials(found.total_runs)} runs for two models): a gap of {gap:g} on "
             f"{p.shape[1]} questions is then settled at {probability:g} with probability "
             f"{found.power:.2f} ({basis}).")
        return
    for name, row in zip(names, p):
        n = bv.design.plan_width(row, width, probability=probability)
        _say(f"{clean(name)}: {trials(n)} trials per question ({trials(n * p.shape[1])} runs) "
             f"make the {probability:g} interval of the score on these {p.shape[1]} questions "
             f"{width:g} wide ({basis}).")


@app.command()
def forecast(
    results: Results,
    k: Annotated[str, typer.Option("--k", help="Attempts allowed, such as 1,10,1000.")],
    method: Annotated[str, typer.Option(
        help="bayes, zero-inflated, averaged, mle and others of bayeval.forecast.")] = "bayes",
    probability: Probability = 0.95,
    errors: ErrorsOption = Errors.missing,
    metric: Metric = None,
    filter: Filter = None,
    threshold: Threshold = None,
    column: Columns = None,
    json_file: JsonFile = None,
):
    """Forecast Pass@k, also far beyond the attempts made.

    Example:

      bayeval forecast runs.csv --k 1,10,1000
    """
    ks = _numbers("--k", k, int)
    o = _read(results, errors=errors, metric=metric, filter=filter, threshold=threshold,
              column=column)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = bv.forecast(o, ks, method=method)
        mean = np.reshape(f.mean, (o.n_models, len(ks)))
        try:
            interval = f.interval(probability)
            low, high = (np.reshape(x, mean.shape) for x in (interval.low, interval.high))
        except ValueError:  # the method gives points only
            low = high = np.full(mean.shape, np.nan)
    for text in dict.fromkeys(str(w.message) for w in caught):
        _note(text)
    rows = [{"model": m, "k": k_j, "mean": float(mean[i, j]), "low": _finite(low[i, j]),
             "high": _finite(high[i, j])} for i, m in enumerate(o.models)
            for j, k_j in enumerate(ks)]
    text = json.dumps({"method": method, "probability": probability, "forecasts": rows}, indent=1,
                      ensure_ascii=False) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
        return
    if json_file is not None:
        _write(Path(json_file), text)
    table = _table("model", *(f"Pass@{k_j}" for k_j in ks))
    for i, model in enumerate(o.models):
        table.add_row(Text(clean(model)), *(
            _with_interval(mean[i, j], low[i, j], high[i, j]) for j in range(len(ks))))
    _console().print(table)


@app.command()
def counts(
    results: Results,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE",
                                      help="CSV or Parquet file to write.")],
    errors: ErrorsOption = Errors.missing,
    by: ByOption = By.model,
    metric: Metric = None,
    filter: Filter = None,
    threshold: Threshold = None,
    column: Columns = None,
    repeats: Repeats = None,
):
    """Reduce logs to a small table of successes and trials, which every command reads.

    Attempts that ended in an error stay in a column of their own, so that later commands can still
    take them for failures.

    Example:

      bayeval counts logs/*.jsonl --out counts.csv
    """
    o = _read(results, errors=errors, by=by, metric=metric, filter=filter, threshold=threshold,
              column=column, repeats=repeats)
    table = o.to_frame()
    o.require_binary()
    table = table.rename(columns={"right": "successes", "scored": "trials"})
    table["errors"] = 0 if o.errors == "failed" else o.errored.ravel()
    _write_table(out, table[["model", "question", "successes", "trials", "planned", "errors"]])
    _say(f"wrote {out}: {len(table)} rows")


@data_app.command("list")
def data_list():
    """List the evaluations that the book uses.

    Example:

      bayeval data list
    """
    table = _table("name", "size", "license")
    for name in bv.datasets.names():
        card = bv.datasets.card(name)
        table.add_row(name, card.size, card.license)
    _console().print(table)


@data_app.command("export")
def data_export(
    name: Annotated[str, typer.Argument(help="As in `bayeval data list`.")],
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="FILE",
        help="CSV or Parquet file to write; without it, the table is printed as CSV.")] = None,
):
    """Export one of the book's evaluations as a table.

    Example:

      bayeval data export aime_2025 --out aime.csv
    """
    table, card = bv.datasets.frame(name), bv.datasets.card(name)
    if out is None:
        sys.stdout.write(_as_text(table).to_csv(index=False))
    else:
        _write_table(out, table)
    _say(f"{out or name}: {len(table)} rows, {card.size}; license: {card.license}",
         error=out is None)


# -- reading ------------------------------------------------------------------------------------


def _read(results, *, column=None, **options):
    roles = {}
    for item in column or []:
        role, found, name = item.partition("=")
        if not found or role not in ROLES:
            raise typer.BadParameter(f"{item!r} is not ROLE=NAME", param_hint="--column")
        roles[role] = name
    options = {key: str(value) if isinstance(value, StrEnum) else value
               for key, value in options.items()}
    with _progress() as progress:
        o = bv.read(list(results), quiet=True, progress=progress, **options, **roles)
    for source in o.sources:
        _say(str(source), error=True)
    for note in o.notes:
        _note(note)
    return o


@contextlib.contextmanager
def _progress():
    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield None
        return
    with Progress(TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(),
                  TimeRemainingColumn(), console=console, transient=True) as bar:
        tasks = {}

        def step(path, done, size):
            if path not in tasks:
                tasks[path] = bar.add_task(clean(path.name), total=size)
            bar.update(tasks[path], completed=done, total=size)

        yield step


def _numbers(option, text, kind):
    if text is None:
        return None
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise typer.BadParameter(f"{text!r} is not a list of {what} such as 1,2",
                                 param_hint=option) from None


# -- writing -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _whole(path):
    """A temporary file beside `path` that takes its place only when it is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as problem:
        raise ValueError(f"{path} cannot be written ({problem.strerror})") from None
    os.close(handle)
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except OSError as problem:
        raise ValueError(f"{path} cannot be written ({problem.strerror})") from None
    finally:
        Path(name).unlink(missing_ok=True)


def _write(path, text):
    with _whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _write_table(path, table):
    if path.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(f"{path} must end in .csv or .parquet", param_hint="--out")
    with _whole(path) as temporary:
        if path.suffix == ".parquet":
            table.to_parquet(temporary, index=False)
            return
        _as_text(table).to_csv(temporary, index=False)


def _as_text(table):
    """The table as a CSV file holds it: no cell that a spreadsheet would run as a formula."""
    for name in table.columns:
        if pd.api.types.is_string_dtype(table[name]) or table[name].dtype == object:
            table = table.assign(**{name: table[name].map(table_text, na_action="ignore")})
    return table


def _console():
    console = Console(highlight=False)
    if sys.stdout.isatty():
        return console
    width = os.environ.get("COLUMNS", "")
    return Console(highlight=False, force_terminal=False, no_color=True,
                   width=int(width) if width.isdecimal() and int(width) else WIDTH)


def _say(text, error=False):
    sys.stdout.flush()
    print(clean(text), file=sys.stderr if error else sys.stdout)


def _note(text):
    _say(f"note: {text}", error=True)


def _table(*columns, title=None):
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False,
                  show_edge=False)
    for column in columns:
        # Names may be folded, numbers not.
        table.add_column(column, justify="left" if column in NAMES else "right", overflow="fold",
                         no_wrap=column not in NAMES)
    return table


def _show(console, table):
    console.print(table)
    console.print()


def _finite(x):
    return float(x) if np.isfinite(x) else None


def _with_interval(mean, low, high):
    return number(mean) if low != low else f"{number(mean)} ({_span(low, high)})"


def _span(low, high):
    return f"{number(low)}–{number(high)}" if low >= 0 else f"{number(low)} to {number(high)}"


def _print_report(r):
    console, facts = _console(), r.facts
    missing = facts["planned"] > facts["attempts"]
    table = _table("model", "rank (set)", "score", f"{facts['probability']:g} interval", "P(best)",
                   "avg@N", "attempts", title="Models")
    for m in r.board.itertuples():
        table.add_row(
            Text(clean(m.Index)), f"{m.rank} ({m.rank_low}–{m.rank_high})", number(m.score),
            _span(m.low, m.high), probability_text(m.best), number(m.avg), f"{m.attempts:,}")
    _show(console, table)
    if missing:
        table = _table("model", "planned", "scored", "errors", "coverage", "avg@N between",
                       title="Missing attempts: avg@N if all of them were wrong, and right")
        for m in r.board[r.board["planned"] > r.board["attempts"]].itertuples():
            table.add_row(Text(clean(m.Index)), f"{m.planned:,}", f"{m.attempts:,}",
                          f"{m.errored:,}", percent(m.coverage), _span(m.if_wrong, m.if_right))
        _show(console, table)
    if len(r.pairs):
        open_ = r.pairs[~r.pairs["settled"]]
        console.print(f"Pairs settled at probability {facts['probability']:g}: "
                      f"{int(r.pairs['settled'].sum())} of {len(r.pairs)}.\n")
        if len(open_):
            table = _table("ahead", "behind", "gap", "P, these questions", "P, new questions",
                           title="Open pairs" + (f" (the {SHOWN} surest)" * (len(open_) > SHOWN)))
            for pair in open_[:SHOWN].itertuples():
                table.add_row(Text(clean(pair.better)), Text(clean(pair.worse)),
                              number(pair.gap), probability_text(pair.probability),
                              probability_text(pair.population))
            _show(console, table)
    if len(r.plans):
        table = _table("ahead", "behind", "gap", "trials made", "needed", "more",
                       title="Trials per question that would settle neighbors, if the gap is real")
        for p in r.plans.itertuples():
            table.add_row(Text(clean(p.better)), Text(clean(p.worse)), number(p.gap),
                          trials(p.made), trials(p.needed), trials(p.more))
        _show(console, table)
    if len(r.passes):
        ks = sorted(set(r.passes["k"]))
        table = _table("model", *(f"Pass@{k}" for k in ks), title="Pass@k")
        for model, part in r.passes.groupby("model", sort=False):
            table.add_row(Text(clean(model)), *(
                _with_interval(c.mean, c.low, c.high)
                for c in part.sort_values("k").itertuples(name="Cell")))
        _show(console, table)
    for line in r.assumptions:
        console.print(Text(f"Assumed: {clean(line)}"))
    console.print()
    console.print(Text(clean(r.sentence)))


def _print_comparison(new, old, r, found):
    table = _table("side", "score", f"{r.facts['probability']:g} interval", "avg@N", "attempts",
                   "coverage")
    for name, path in (("new", new), ("old", old)):
        m = r.board.loc[name]
        table.add_row(Text(f"{name}: {clean(path)}"), number(m["score"]),
                      _span(m["low"], m["high"]), number(m["avg"]),
                      f"{int(m['attempts']):,}", percent(m["coverage"]))
    _console().print(table)
    if found["left_out"]:
        _note(f"{found['left_out']} questions stand on one side only and are left out")
    _say(f"P(new is worse) = {probability_text(found['worse_these_questions'])} on these "
         f"{found['questions']} questions, {probability_text(found['worse_new_questions'])} for "
         "new questions of the kind.")
    if found["fail_if_worse"] is not None:
        _say(f"{'Worse' if found['failed'] else 'Not worse'} at {found['fail_if_worse']:g}, "
             f"decided on {found['decided_on']} questions.")


def main(arguments=None):
    """Run the command line; returns the exit code.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 done, 1 bad data, 2 wrong usage, 3 worse, 130 interrupted.
    """
    try:
        code = typer.main.get_command(app).main(args=arguments, prog_name="bayeval",
                                                standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except WRONG_USAGE as problem:
        context = getattr(problem, "ctx", None)
        hint = "" if context is None else f" (see {context.command_path} --help)"
        text = " ".join(problem.format_message().split())
        _say(f"bayeval: {text}{hint}", error=True)
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        _say("bayeval: interrupted", error=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output went away: nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError) as problem:
        text = " ".join(str(problem).split()) or type(problem).__name__
        # The readers name their arguments; say the options of the command line instead.
        text = re.sub(rf"\(({'|'.join(ROLES)})\)", r"(--column \1=NAME)", text)
        text = re.sub(r"\((metric|filter|threshold|categories|repeats)\)", r"(--\1)", text)
        text = text.replace("repeats=True", "--repeats").replace("repeats=False", "--no-repeats")
        _say(f"bayeval: {text}", error=True)
        return BAD_DATA


if __name__ == "__main__":
    sys.exit(main())
