"""Figures of the chapter on multiple comparisons: claims, ranks, whole orders, the first place."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap, PowerNorm
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from bayeval.plotting._style import BLUE, GRAY, GREEN, ORANGE, PINK, axes

__all__ = ["claims_map", "excess_of_first", "false_shares", "rank_heat", "whole_order"]

# From the strictest rule to the most lenient; the last one stands out.
STEPS = ("#08306b", "#2171b5", "#6baed6", "#bdd7e7", ORANGE)
UNCLAIMED = "#efefef"


def claims_map(claims, *, ax=None):
    """Draw which pairs of a board are claimed, colored by the strictest rule that claims them.

    Parameters
    ----------
    claims : dict of str to ndarray of bool, shape (L, L)
        For each rule, strictest first, whether it claims that the row's model is better than
        the column's; models in the order of the board.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(4.8, 4.8))
    L = len(next(iter(claims.values())))
    level = np.full((L, L), len(claims))
    for step, claimed in reversed(list(enumerate(claims.values()))):
        level[claimed] = step
    level = np.minimum(level, level.T)  # scores and probabilities may order a pair differently
    shown = np.ma.masked_where(np.tril(np.ones((L, L), dtype=bool)), level)
    colors = [*STEPS[:len(claims) - 1], STEPS[-1], UNCLAIMED]
    ax.imshow(shown, cmap=ListedColormap(colors), vmin=-0.5, vmax=len(claims) + 0.5,
              extent=(0.5, L + 0.5, L + 0.5, 0.5), interpolation="nearest")
    names = [f"{name}: {claimed.sum():,}" for name, claimed in claims.items()]
    ax.legend([Patch(color=c) for c in colors],
              [*names, f"no rule: {(shown == len(claims)).sum():,}"], loc="lower left",
              fontsize=9, title="pairs claimed", title_fontsize=9, alignment="left",
              handlelength=1, borderaxespad=0.2)
    ticks = [1, *range(10, L - 3, 10), L]
    ax.set(xticks=ticks, yticks=ticks, xlabel="rank of the lower model",
           ylabel="rank of the higher model")
    ax.grid(visible=False)
    return ax


def false_shares(claims, q, marks, *, ax=None):
    """Draw each claim's probability of being false, and the mean over all surer claims.

    Parameters
    ----------
    claims : pandas.DataFrame
        All pairs, surest first, with ``probability`` and ``false_share``.
    q : float
        The bound on the mean.
    marks : dict of str to int
        Numbers of claims to mark, with their labels.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.8))
    count = np.arange(1, len(claims) + 1)
    ax.plot(count, 1 - claims["probability"], color=ORANGE, label="the last claim alone")
    ax.plot(count, claims["false_share"], color=BLUE, ls="--",
            label="mean of all claims so far")
    ax.axhline(q, color=GRAY, lw=1, ls=":")
    ax.annotate(f"q = {q:g}", (count[0], q), (2, 3), textcoords="offset points", color=GRAY,
                fontsize=9)
    for label, n in marks.items():
        ax.axvline(n, color=GRAY, lw=0.8)
        ax.annotate(f"{label}: {n:,}", (n, 0.5), (-3, 0), textcoords="offset points",
                    rotation=90, ha="right", va="top", color=GRAY, fontsize=9)
    ax.set(xlim=(0, len(claims) * 1.01), ylim=(0, 0.51), xlabel="claims, surest first",
           ylabel="probability of being false")
    ax.legend(loc="upper left")
    return ax


def rank_heat(table, summary, *, rows=25, ax=None):
    """Draw the probability of each rank for the first models of a board, with their rank sets.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bayeval.rank_probabilities`.
    summary : pandas.DataFrame
        From `bayeval.rank_summary`, whose order is drawn.
    rows : int, default 25
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    summary = summary.iloc[:rows]
    last = int(summary["rank_high"].max())
    ax = axes(ax, figsize=(4.5, 0.2 * len(summary) + 1.8))
    P = table.loc[summary.index].to_numpy()[:, :last]
    image = ax.imshow(P, cmap="Blues", norm=PowerNorm(0.5, 0, 1), aspect="auto",
                      extent=(0.5, last + 0.5, len(P) + 0.5, 0.5), interpolation="nearest")
    for row, (low, high) in enumerate(zip(summary["rank_low"], summary["rank_high"]), start=1):
        ax.plot([low - 0.5, high + 0.5, high + 0.5, low - 0.5, low - 0.5],
                [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5], color=GRAY, lw=0.8)
    ax.plot(summary["expected_rank"], np.arange(1, len(P) + 1), "o", color=ORANGE, ms=3.5,
            label="expected rank")
    ax.set(yticks=np.arange(1, len(P) + 1), xticks=[1, *range(5, last + 1, 5)], xlabel="rank")
    ax.set_yticklabels(summary.index, fontsize=8.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", aspect=30, pad=0.02,
                             ticks=[0, 0.05, 0.2, 0.5, 1], format="{x:g}")
    bar.ax.tick_params(labelsize=9)
    bar.set_label("probability", fontsize=9.5)
    ax.legend(loc="upper right")
    return ax


def whole_order(curves, simulated, *, mark=None, ax=None):
    """Draw how likely the whole order of a board comes out right, against trials.

    Parameters
    ----------
    curves : pandas.DataFrame
        Probabilities; one row for each number of trials, one column for each number of models.
    simulated : pandas.DataFrame
        The same from simulation, at some of the trials.
    mark : int, optional
        Number of trials to mark.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.8))
    looks = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PINK, "D"))
    for L, (color, marker) in zip(curves, looks):
        ax.plot(curves.index, curves[L], color=color)
        ax.plot(simulated.index, simulated[L], marker, color=color, ms=5.5, label=f"{L} models")
    if mark is not None:
        ax.axvline(mark, color=GRAY, lw=0.9, ls="--")
        ax.annotate(f"{mark} trials", (mark, 1), (-3, -2), textcoords="offset points",
                    rotation=90, ha="right", va="top", color=GRAY, fontsize=9)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.set(xlim=(curves.index[0], curves.index[-1]), ylim=(-0.02, 1.02),
           xlabel="trials per question", ylabel="whole order right")
    ax.legend(loc="upper left")
    return ax


def excess_of_first(excess, *, normal=None, axs=None):
    """Draw by how much estimates for the first-placed model exceed its truth, on average.

    Parameters
    ----------
    excess : pandas.DataFrame
        Columns ``world``, ``models``, ``estimate`` and ``excess``.
    normal : dict of str to pandas.Series, optional
        By world, a theoretical curve indexed by the number of models.
    axs : sequence of matplotlib.axes.Axes, optional
        One for each world.

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    worlds = excess["world"].unique()
    if axs is None:
        axs = np.atleast_1d(axes(figsize=(5.2, 2.3 * len(worlds) + 0.9), nrows=len(worlds),
                                 sharex=True, sharey=True))
    looks = ((ORANGE, "s"), (PINK, "D"), (BLUE, "o"), (GREEN, "^"))
    sizes = np.unique(excess["models"])
    for ax, world in zip(axs, worlds):
        here = excess[excess["world"] == world]
        for (name, line), (color, marker) in zip(here.groupby("estimate", sort=False), looks):
            ax.plot(line["models"], line["excess"], marker + "-", color=color, ms=5, lw=1.5,
                    label=name)
        if normal and world in normal:
            ax.plot(normal[world].index, normal[world], color=GRAY, lw=1, ls="--",
                    label="equal models, in theory")
        ax.axhline(0, color=GRAY, lw=0.8)
        ax.set_title(world, fontsize=10.5)
        ax.set_ylabel("estimate less truth")
    axs[0].set_xscale("log", base=2)
    axs[-1].set(xticks=sizes, xlabel="models on the board")
    axs[-1].xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axs[-1].xaxis.set_minor_locator(NullLocator())
    handles = {}
    for ax in axs:
        handles |= dict(zip(*ax.get_legend_handles_labels()[::-1]))
    axs[0].figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncol=2,
                         fontsize=9)
    return axs
