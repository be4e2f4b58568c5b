"""Figures of the chapter on calibration: coverage, priors of a score, uniformity, two estimands."""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bayeval.plotting._style import BLUE, GRAY, GREEN, ORANGE, PINK, axes

__all__ = ["coverage_of", "coverage_strips", "forest", "laws", "score_priors", "uniformity",
           "widths"]

LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PINK, "D"))
BAND = "#e9e9e9"


def coverage_of(curves, points, *, nominal=0.95, ax=None):
    """Draw coverage against attempts: formula as lines, simulation as markers.

    Parameters
    ----------
    curves, points : dict
        Name to pandas.Series of coverage, indexed by attempts.
    nominal : float
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.4, 3.8))
    ax.axhline(nominal, color=GRAY, lw=1, ls="--")
    for (name, curve), (color, marker) in zip(curves.items(), LOOKS, strict=False):
        ax.plot(curve.index, curve, color=color, lw=1.5)
        ax.plot(points[name].index, points[name], marker, color=color, ms=6, label=name)
    _attempts(ax, 2)
    ax.set(ylim=(-0.03, 1.03), ylabel="coverage of 95% intervals")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
    ax.legend(loc="lower right", title="success rates", alignment="left")
    return ax


def score_priors(densities, scores, *, axs=None):
    """Draw prior densities of a score above the scores of real models.

    Parameters
    ----------
    densities : dict
        Name to (x, density).
    scores : dict
        Name of a board to the scores of its models.
    axs : sequence of two matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (2,)
    """
    if axs is None:
        axs = axes(figsize=(5.4, 4.4), nrows=2, sharex=True, height_ratios=(1.3, 1))
    top, bottom = axs
    for (name, (x, y)), (color, _), style in zip(densities.items(), LOOKS, ("-", "--", "-."),
                                                 strict=False):
        top.plot(x, y, color=color, ls=style, label=name)
    top.set(ylabel="prior density", ylim=(0, None))
    top.legend(loc="upper right", fontsize=9)
    for row, values in enumerate(scores.values()):
        bottom.plot(values, np.full(len(values), row), "|", color=GRAY, ms=11, mew=1.1)
    bottom.set(xlim=(-0.01, 1.01), ylim=(len(scores) - 0.5, -0.5), yticks=range(len(scores)),
               yticklabels=list(scores), xlabel="score")
    bottom.grid(axis="y", visible=False)
    bottom.tick_params(axis="y", length=0, labelsize=9)
    return axs


def uniformity(values, *, probability=0.95, axs=None):
    """Draw how far the distribution of ranks or PIT values is from uniform.

    Each panel shows the empirical distribution function minus that of the uniform law, and the
    band that holds the whole curve with the given probability if the values are uniform
    (Säilynoja et al. 2022, as computed by ArviZ).

    Parameters
    ----------
    values : dict
        Title to array of values in [0, 1].
    probability : float
    axs : ndarray of matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # once a day, of ArviZ's own next version
        from arviz.stats.ecdf_utils import ecdf_confidence_band

    if axs is None:
        rows = -(-len(values) // 2)
        axs = axes(figsize=(5.6, 2.5 * rows + 0.3), nrows=rows, ncols=2, sharex=True)
    at = np.linspace(0, 1, 101)[1:-1]
    bands = {}
    for ax, (title, u) in zip(np.ravel(axs), values.items(), strict=True):
        u = np.sort(u)
        if len(u) not in bands:
            bands[len(u)] = ecdf_confidence_band(len(u), at, at, probability, method="optimized")
        low, high = bands[len(u)]
        gap = np.searchsorted(u, at, side="right") / len(u) - at
        out = ((gap < low - at) | (gap > high - at)).any()
        ax.fill_between(at, low - at, high - at, color=BAND)
        ax.axhline(0, color=GRAY, lw=0.8)
        ax.plot(at, gap, color=ORANGE if out else BLUE, lw=1.6, drawstyle="steps-mid")
        ax.set_title(title, fontsize=10)
        reach = 1.15 * max(np.abs(gap).max(), (high - at).max())
        ax.set(ylim=(-reach, reach), xlim=(0, 1))
    for ax in np.atleast_2d(axs)[-1]:
        ax.set_xlabel("rank of the truth")
    for ax in np.atleast_2d(axs)[:, 0]:
        ax.set_ylabel("ECDF minus uniform")
    return axs


def laws(panels, truth, *, axs=None):
    """Draw learned laws of the success rate beside the rates of the questions themselves.

    Parameters
    ----------
    panels : dict
        Title to (x, draws): distribution functions at x, shape (D, X), drawn from the posterior.
    truth : array_like, shape (M,)
        Success rates of the questions.
    axs : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    if axs is None:
        axs = axes(figsize=(5.6, 3.1), ncols=len(panels), sharey=True)
    for ax, (title, (x, draws)) in zip(axs, panels.items(), strict=True):
        ax.plot(x, draws.T, color=BLUE, lw=0.6, alpha=0.25)
        ax.plot([], [], color=BLUE, lw=1.2, label="learned")
        ax.plot(x, x, color=ORANGE, ls="--", label="uniform")
        rates = np.sort(truth)
        ax.step(np.concatenate([[x[0]], rates, [1]]),
                np.concatenate([[0], np.arange(1, len(rates) + 1), [len(rates)]]) / len(rates),
                where="post", color="black", lw=1.6, label="truth")
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set(xlim=(x[0], 1), ylim=(0, 1.02), xlabel="success rate p", title=title)
    axs[0].set_ylabel("share of questions below p")
    axs[0].legend(loc="center left", fontsize=9)
    return axs


def forest(models, truth, intervals, *, low=None, ax=None):
    """Draw intervals of small scores on a logarithmic axis, with the truth as a bar.

    Parameters
    ----------
    models : sequence of str
    truth : array_like, shape (L,)
    intervals : dict
        Name to the posterior means, low ends and high ends of L models.
    low : float, optional
        Lower end of the axis; intervals may go on beyond it.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    order = np.argsort(-np.asarray(truth))
    rows = np.arange(len(order))
    ax = axes(ax, figsize=(4.8, 0.36 * len(order) + 1.1))
    gap = 0.44 / len(intervals)
    for i, (name, (mean, left, right)) in enumerate(intervals.items()):
        y = rows + (i - (len(intervals) - 1) / 2) * gap
        color, marker = ((ORANGE, "s"), (BLUE, "o"), (GREEN, "^"))[i]
        ax.hlines(y, left[order], right[order], color=color, lw=2.4)
        ax.plot(mean[order], y, marker, color=color, ms=4.5, label=name)
    ax.plot(np.asarray(truth)[order], rows, "|", color="black", ms=15, mew=1.6, label="truth")
    ax.set_xscale("log")
    ax.set(yticks=rows, ylim=(len(order) - 0.4, -0.6), xlabel="score and 95% interval",
           xlim=(low, None))
    ax.set_yticklabels(np.asarray(models)[order], fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncol=3,
                     fontsize=9, columnspacing=1, handletextpad=0.3)
    return ax


def widths(measured, predicted, *, floor=None, ax=None):
    """Draw widths of intervals against attempts on logarithmic axes.

    Parameters
    ----------
    measured, predicted : dict
        Name to pandas.Series of widths, indexed by attempts; markers and lines.
    floor : float, optional
        Width that the second series cannot fall below.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.4, 3.6))
    for (name, points), (color, marker) in zip(measured.items(), LOOKS, strict=False):
        ax.plot(predicted[name].index, predicted[name], color=color, lw=1.3)
        ax.plot(points.index, points, marker, color=color, ms=6, label=name)
    if floor is not None:
        ax.axhline(floor, color=GRAY, lw=1, ls="--")
        ax.annotate("endless attempts", (1, floor), (0, -4), textcoords="offset points",
                    va="top", color=GRAY, fontsize=9)
    ax.set_yscale("log")
    _attempts(ax, 4)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.set(ylabel="width of the 95% interval")
    ax.legend(loc="lower left")
    return ax


def coverage_strips(table, order, *, nominal=0.95, axs=None):
    """Draw the coverage of every interval in every situation: a dot each, a column an estimand.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``interval``, ``estimand`` and ``coverage``.
    order : dict
        Intervals from top to bottom: the name in the table to the name to be shown.
    nominal : float
    axs : sequence of two matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    if axs is None:
        axs = axes(figsize=(5.4, 0.34 * len(order) + 1.2), ncols=2, sharey=True)
    spread = np.random.default_rng(0)
    for ax, estimand in zip(axs, ("questions", "population"), strict=True):
        part = table[table["estimand"] == estimand]
        ax.axvline(nominal, color=GRAY, lw=1, ls="--", zorder=1)
        for row, name in enumerate(order):
            x = part.loc[part["interval"] == name, "coverage"].to_numpy()
            y = row + spread.uniform(-0.26, 0.26, len(x))
            good = np.abs(x - nominal) <= 0.03
            ax.plot(x[~good], y[~good], "s", color=ORANGE, ms=3, alpha=0.55)
            ax.plot(x[good], y[good], "o", color=BLUE, ms=3, alpha=0.55)
        ax.set(xlim=(-0.03, 1.03), ylim=(len(order) - 0.5, -0.5), xlabel="coverage",
               yticks=range(len(order)))
        ax.xaxis.set_major_locator(FixedLocator([0, 0.5, nominal]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0%}"))
        ax.set_yticklabels(order.values(), fontsize=9)
        ax.set_title("these questions" if estimand == "questions" else "new questions",
                     fontsize=10.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
    return axs


def _attempts(ax, every):
    """A base-2 axis of attempts with a label at each power of `every`."""
    ax.set_xscale("log", base=every)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("attempts at each question")
