"""One report of an evaluation: what was found, what is settled, and what was assumed.

`report` computes every number once. A terminal table, a page and JSON are three ways to show them;
the figures are drawn when a page is made.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import math
import warnings
from dataclasses import dataclass
from importlib import resources

import numpy as np
import pandas as pd

from bayeval import _validate as check
from bayeval._text import clean, number, percent, probability_text, trials
from bayeval.design import plan_trials
from bayeval.forecast import ForecastWarning, forecast
from bayeval.metrics import pass_at_k
from bayeval.multiplicity import rank_probabilities, superiority
from bayeval.posterior import posterior
from bayeval.ranking import leaderboard

__all__ = ["Report", "report"]

#: Version of the layout of `Report.to_dict`.
SCHEMA = 1
PAIRS_PLANNED = 5
# Models whose scores spread less than this many of their standard deviations are close.
CLOSE = 2.0
# Rows of open pairs on a page, letters of a name in a figure.
PAIRS_SHOWN, LETTERS = 40, 40
PRIORS = {"learned": "a beta law of difficulty, learned for each model from its own questions",
          "uniform": "uniform for each question by itself"}


@dataclass(frozen=True, eq=False)
class Report:
    """What an evaluation says; made by `report`.

    Attributes
    ----------
    board : pandas.DataFrame
        The leaderboard, best first, with ``avg``, ``best`` (probability of being the best),
        ``planned``, ``errored``, and ``if_wrong`` and ``if_right``: avg@N if all missing attempts
        were wrong, or right.
    pairs : pandas.DataFrame
        One row a pair, surest first: ``better``, ``worse``, ``gap``, ``probability`` (on these
        questions), ``population`` (for new questions of the kind), ``settled``, and ``robust``:
        whether avg@N keeps this order whatever the missing attempts would have been.
    plans : pandas.DataFrame
        Trials per question that would settle open pairs of neighbors, from the top of the board.
    passes : pandas.DataFrame
        One row a model and k: ``mean``, ``low``, ``high`` of Pass@k, and the unbiased ``estimate``
        where there are k attempts at every question.
    facts : dict
        Numbers of models, questions and attempts, and the options.
    notes, assumptions : tuple of str
    sources : tuple of str
    sentence : str
        To put in a paper.
    """

    board: pd.DataFrame
    pairs: pd.DataFrame
    plans: pd.DataFrame
    passes: pd.DataFrame
    facts: dict
    notes: tuple
    assumptions: tuple
    sources: tuple
    sentence: str

    def to_dict(self):
        """The report as plain lists, text and numbers; what is undefined is None.

        Returns
        -------
        dict
        """
        tables = {name: _records(getattr(self, name)) for name in
                  ("board", "pairs", "plans", "passes")}
        return {"schema": SCHEMA, **_plain(self.facts), **tables, "notes": list(self.notes),
                "assumptions": list(self.assumptions), "sources": list(self.sources),
                "sentence": self.sentence}

    def to_json(self):
        """The report as JSON.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self):
        """The report as one page that asks nothing of the network; every label is escaped.

        Returns
        -------
        str
        """
        try:
            import jinja2
        except ImportError:
            raise ValueError("the page needs jinja2 and matplotlib: "
                             "pip install 'bayeval[cli]'") from None
        text = resources.files("bayeval").joinpath("templates/report.html").read_text("utf-8")
        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined,
                                         trim_blocks=True, lstrip_blocks=True,
                                         finalize=lambda x: clean(x) if type(x) is str else x)
        environment.filters |= {"number": number, "percent": percent, "trials": trials,
                                "chance": probability_text}
        open_ = self.pairs[~self.pairs["settled"]]
        return environment.from_string(text).render(
            r=self, figures=_figures(self), open=_rows(open_[:PAIRS_SHOWN]), n_open=len(open_),
            n_settled=int(self.pairs["settled"].sum()), board=_rows(self.board.reset_index()),
            plans=_rows(self.plans), passes=_passes_by_model(self.passes), facts=self.facts)


def report(o, *, weights=None, prior="learned", probability=0.95, pass_k=None):
    """Everything that one table of counts says about its models.

    Parameters
    ----------
    o : Outcomes
        For instance from `read`, whose account of the files then becomes part of the report.
    weights : array_like, shape (C+1,), optional
        The rubric. By default 0 and 1 for binary outcomes, and for graded scores that were read
        from a file the scores themselves.
    prior : {"learned", "uniform"}, Dirichlet or Past, default "learned"
        As in `posterior`.
    probability : float, default 0.95
        Of the intervals, and of a claim about a pair.
    pass_k : int or sequence of int, optional
        The k of Pass@k; by default 1, n and 4 n for n attempts. Only for binary outcomes.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        As in `posterior`; or if two models share no question.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> r = bv.report(o)
    >>> r.board.index.tolist(), r.pairs["settled"].tolist()
    (['A', 'B', 'C'], [True, True, False])
    """
    check.outcomes("o", o)
    probability = check.probability("probability", probability)
    values = getattr(o, "values", None)
    if weights is None and values is not None:
        weights = values
    weights = check.weights(weights, o.n_categories)
    notes = list(getattr(o, "notes", ()))
    many = o if not o.single else _as_many(o)
    _refuse_empty(many)
    p = posterior(many, weights=weights, prior=prior)
    board = _board(many, p, weights, prior, probability)
    pairs = _pairs(many, p, weights, prior, probability, board, notes)
    plans = _plans(many, p, pairs, board, probability)
    passes = _passes(many, pass_k, probability, notes, board)
    n = many.n_trials
    facts = {"models": many.n_models, "questions": many.n_questions,
             "categories": [str(c) for c in many.categories], "weights": weights.tolist(),
             "attempts": int(n.sum()), "planned": int(many.planned.sum()),
             "attempts_per_question": [int(n.min()), int(n.max())],
             "prior": str(prior), "probability": probability,
             "errors": getattr(o, "errors", "missing"), "binary": bool(many.is_binary)}
    return Report(board=board, pairs=pairs, plans=plans, passes=passes, facts=facts,
                  notes=tuple(notes), assumptions=tuple(_assumptions(facts)),
                  sources=tuple(map(str, getattr(o, "sources", ()))),
                  sentence=_sentence(facts, board, pairs))


# -- the numbers ---------------------------------------------------------------------------------


def _as_many(o):
    """One model as several of one: tables have a row for each."""
    return type(o)(**{**vars(o), "single": False})


def _refuse_empty(o):
    scored = o.n_trials.sum(axis=1)
    if (scored == 0).any():
        name = o.models[int(np.argmax(scored == 0))]
        raise ValueError(f"model {name!r} has no scored attempt")


def _board(o, p, weights, prior, probability):
    board = leaderboard(o, weights=weights, prior=prior, probability=probability)
    columns = {"avg": _avg(o, weights),
               "best": rank_probabilities(p)[1].to_numpy() if o.n_models > 1 else np.ones(1),
               "planned": o.planned.sum(axis=1),
               "errored": o.errored.sum(axis=1) if hasattr(o, "errored") else 0,
               "if_wrong": _avg(o.missing_as(o.categories[int(weights.argmin())]), weights),
               "if_right": _avg(o.missing_as(o.categories[int(weights.argmax())]), weights)}
    out = board.join(pd.DataFrame(columns, index=pd.Index(o.models, name="model")))
    out.attrs = dict(board.attrs)
    return out


def _avg(o, weights):
    """avg@N over the questions with attempts."""
    n = o.n_trials
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nanmean(np.where(n > 0, o.counts @ weights / n, np.nan), axis=1)


def _pairs(o, p, weights, prior, probability, board, notes):
    columns = ["better", "worse", "gap", "probability", "population", "settled", "robust"]
    if o.n_models < 2:
        return pd.DataFrame(columns=columns).astype({"settled": bool, "robust": bool})
    here = superiority(o, paired=False, weights=weights, prior=prior).to_numpy()
    there = superiority(o, paired=True, weights=weights).to_numpy()
    i, j = np.triu_indices(o.n_models, 1)
    # The row of the pair goes by the order of the board; equal probabilities keep it.
    place = pd.Series(range(len(board)), index=board.index)[list(o.models)].to_numpy()
    swap = place[i] > place[j]
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    pairs = pd.DataFrame({
        "better": [o.models[x] for x in i], "worse": [o.models[x] for x in j],
        "gap": np.asarray(p.mean)[i] - np.asarray(p.mean)[j], "probability": here[i, j],
        "population": there[i, j], "settled": here[i, j] >= probability})
    pairs["robust"] = board["if_wrong"][pairs["better"]].to_numpy() \
        > board["if_right"][pairs["worse"]].to_numpy()
    doubtful = int((pairs["settled"] & ~pairs["robust"]).sum())
    if doubtful:
        notes.append("pairs settled only if missing attempts are missing at random, since other "
                     "outcomes of theirs would turn the order of avg@N: "
                     f"{doubtful} of {int(pairs['settled'].sum())}")
    wrong = float((1 - pairs["probability"][pairs["settled"]]).sum())
    if wrong >= 0.5:
        notes.append("many comparisons were made at once; settled pairs that are expected to be "
                     f"false: {wrong:.1f} of {int(pairs['settled'].sum())}")
    spread, noise = np.std(p.mean, ddof=1), np.median(p.sd)
    if o.n_models > 2 and spread < CLOSE * noise:
        notes.append(f"the models are close (their scores vary by {number(spread)}, each is known "
                     f"to {number(noise)}): among nearly equal models some pairs look settled by "
                     "luck, so pool the models before you claim one (bayeval.pooled)")
    return pairs.sort_values(["probability", "gap"], ascending=False, kind="stable") \
        .reset_index(drop=True)[columns]


def _plans(o, p, pairs, board, probability):
    """Trials for the open pairs of neighbors on the board."""
    columns = ["better", "worse", "gap", "made", "needed", "more"]
    if o.n_models < 2 or not o.is_binary or np.any(p.weights != [0, 1]):
        return pd.DataFrame(columns=columns)
    names = list(board.index)
    neighbors = set(itertools.pairwise(names))
    rows = []
    question = dict(zip(o.models, np.clip(p.question_mean, 0, 1)))
    n = dict(zip(o.models, o.n_trials))
    open_ = [pair for pair in pairs[~pairs["settled"]].itertuples()
             if (pair.better, pair.worse) in neighbors]
    for pair in sorted(open_, key=lambda pair: names.index(pair.better))[:PAIRS_PLANNED]:
        a, b = question[pair.better], question[pair.worse]
        made = float(np.mean([n[pair.better], n[pair.worse]]))
        try:
            needed = plan_trials(a, b, rho=probability, power=0.8).n_trials
        except ValueError:  # a gap of nothing, or beyond a thousand million trials
            needed = math.nan
        rows.append([pair.better, pair.worse, pair.gap, made, needed,
                     max(0.0, math.ceil(needed - made)) if needed == needed else math.nan])
    return pd.DataFrame(rows, columns=columns)


def _passes(o, pass_k, probability, notes, board):
    columns = ["model", "k", "mean", "low", "high", "estimate"]
    if not o.is_binary:
        if pass_k is not None:
            raise ValueError(f"pass_k needs right and wrong: the outcomes have {o.n_categories} "
                             "categories (say from which score on an attempt is right: threshold)")
        return pd.DataFrame(columns=columns)
    n = max(1, int(np.median(o.n_trials[o.n_trials > 0])))
    k = check.attempts("pass_k", [1, n, 4 * n] if pass_k is None else pass_k)
    k = np.unique(k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = forecast(o, k)
        interval = f.interval(probability)
    notes += dict.fromkeys(str(w.message) for w in caught
                           if issubclass(w.category, ForecastWarning))
    rows = []
    for model in board.index:
        row = o.models.index(model)
        for column, k_i in enumerate(k.tolist()):
            enough = (o.n_trials[row] >= k_i).all()
            rows.append([model, k_i, f.mean[row, column], interval.low[row, column],
                         interval.high[row, column],
                         pass_at_k(o.select(models=model), k_i) if enough else math.nan])
    return pd.DataFrame(rows, columns=columns)


def _assumptions(facts):
    graded = "" if facts["binary"] else " The score is the mean of the rubric's weights " \
        f"{_list(facts['weights'])} for the outcomes {_list(facts['categories'])}."
    prior = PRIORS.get(facts["prior"], facts["prior"])
    return [
        "Scores, intervals, ranks and the column “these questions” are about these "
        f"{facts['questions']} questions; the column “new questions” is about the population that "
        "they were drawn from." + graded,
        f"Prior: {prior}.",
        f"Intervals hold the score with probability {facts['probability']:g} each (equal tails); "
        "a pair is settled if the probability of its order, these questions, is at least that.",
        "Attempts at one question are exchangeable: no change of model, prompt or grader on the "
        "way.",
        "Missing attempts are missing at random; the bounds say what else is possible."
        if facts["errors"] == "missing" else
        "Attempts that ended in an error count as failures; others that are missing are missing "
        "at random.",
        "Models are independent given their outcomes; equal scores count half for each side.",
    ]


def _sentence(facts, board, pairs):
    first = board.iloc[0]
    low, high = facts["attempts_per_question"]
    attempts = f"{low}" if low == high else f"{low} to {high}"
    plural = "s" if high != 1 else ""
    text = (f"On {facts['questions']} questions with {attempts} attempt{plural} each, "
            f"{board.index[0]} scored {number(first['score'])} "
            f"({100 * facts['probability']:g}% equal-tailed credible interval "
            f"{number(first['low'])} to {number(first['high'])}; {facts['prior']} prior)")
    if len(board) > 1:
        text += (f"; its rank set is {int(first['rank_low'])} to {int(first['rank_high'])} of "
                 f"{len(board)}, "
                 f"it is the best with probability {probability_text(first['best'])}, and the "
                 f"settled pairs at {facts['probability']:g} are {int(pairs['settled'].sum())} of "
                 f"{len(pairs)}")
    errored = int(board["errored"].sum())
    if errored and facts["errors"] == "failed":
        text += f"; attempts that ended in an error, {errored}, count as failures"
    missing = facts["planned"] - facts["attempts"]
    if missing:
        text += (f"; {missing} of {facts['planned']} planned attempts are missing, which leaves "
                 f"its observed mean between {number(first['if_wrong'])} and "
                 f"{number(first['if_right'])}")
    return text + "."


# -- helpers ---------------------------------------------------------------------------------


def _list(items):
    return ", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in items)


def _plain(x):
    """Python's own types, with None for what is not finite."""
    if isinstance(x, dict):
        return {str(key): _plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [_plain(value) for value in x]
    x = x.item() if isinstance(x, np.generic) else x
    return None if isinstance(x, float) and not math.isfinite(x) else x


def _rows(table):
    return [_plain_row(row) for row in table.to_dict("records")]


def _plain_row(row):
    return {key: value.item() if isinstance(value, np.generic) else value
            for key, value in row.items()}


def _records(table):
    frame = table.reset_index() if table.index.name == "model" else table
    return [_plain(row) for row in frame.to_dict("records")]


def _passes_by_model(passes):
    ks = sorted(set(passes["k"]))
    return {"k": ks, "rows": [
        {"model": model, "cells": _rows(part.sort_values("k"))}
        for model, part in passes.groupby("model", sort=False)]}


# -- figures --------------------------------------------------------------------------------------


def _figures(r):
    """The figures as images for a page: text and source of each."""
    try:
        import matplotlib.pyplot as plt

        from bayeval.plotting import ranking
    except ImportError:
        raise ValueError("the page needs matplotlib and seaborn: "
                         "pip install 'bayeval[cli]'") from None
    out = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font lacks
        board = r.board.copy()
        board.index = [_short(name) for name in board.index]
        board.attrs = r.board.attrs
        ax = ranking.forest(board)
        out.append(_image(ax.figure, "Score of each model with its interval, best first; the same "
                          "numbers are in the table of models."))
        if len(r.passes):
            out.append(_image(_pass_figure(r).figure, "Pass@k of the models against k; the same "
                              "numbers are in the table of Pass@k."))
        plt.close("all")
    return out


def _pass_figure(r):
    from bayeval.plotting._style import axes

    ax = axes(figsize=(4.5, 3.4))
    shown = list(r.board.index[:6])
    for model in shown:
        part = r.passes[r.passes["model"] == model].sort_values("k")
        line, = ax.plot(part["k"], part["mean"], "o-", ms=3.5, lw=1.4, label=_short(model))
        ax.fill_between(part["k"], part["low"], part["high"], color=line.get_color(), alpha=0.12,
                        lw=0)
    ks = sorted(set(r.passes["k"]))
    ax.set_xscale("log")
    ax.set_xticks(ks, [f"{k:,}" for k in ks])
    ax.set_xticks([], minor=True)
    ax.set(xlabel="k", ylabel="Pass@k", ylim=(0, 1.02))
    ax.legend(loc="best", fontsize=7)
    for text in ax.get_legend().get_texts():
        text.set_parse_math(False)
    return ax


def _short(name):
    name = clean(name)
    return name if len(name) <= LETTERS else f"{name[:LETTERS - 1]}…"


def _image(figure, alt):
    for text in [label for ax in figure.axes for label in ax.get_yticklabels()]:
        text.set_parse_math(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight",
                   metadata={"Date": None, "Creator": None})
    return {"alt": alt, "src": "data:image/svg+xml;base64,"
            + base64.b64encode(buffer.getvalue()).decode("ascii")}

