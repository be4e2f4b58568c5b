"""Figures of the chapter on ranking: forests, rank sets, decision rules, trials, convergence."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator

from bayeval.plotting._style import BLUE, GRAY, GREEN, ORANGE, axes

__all__ = ["convergence", "forest", "rank_sets", "right_order", "rules"]

# Tall and narrow: a table's rows keep their letters when a phone shrinks the page's width.
WIDTH, ROW, LETTERS = 4.5, 0.19, 8.5
HAIR = "#e4e4e4"


def forest(board, *, avg=None, ax=None):
    """Draw each model's score with its interval; those that may be first stand out.

    Parameters
    ----------
    board : pandas.DataFrame
        Made by `bayeval.leaderboard`.
    avg : pandas.Series, optional
        avg@N by model, drawn as hollow diamonds.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, rows = _table(board, ax)
    for first, color, marker in ((True, ORANGE, "s"), (False, BLUE, "o")):
        part = (board["rank_low"] == 1) == first
        label = "may be first" if first else "not first"
        ax.hlines(rows[part], board["low"][part], board["high"][part], color=color, lw=2)
        ax.plot(board["score"][part], rows[part], marker, color=color, ms=4.5, label=label)
    if avg is not None:
        ax.plot(avg.loc[board.index], rows, "D", mfc="none", mec=GRAY, ms=4.5, mew=1,
                label="avg@N")
    ax.set_xlabel(f"score and {board.attrs['probability']:.0%} interval")
    _legend_above(ax)
    return ax


def rank_sets(board, *, ax=None):
    """Draw the ranks that each model may have as a bar, and its rank by score as a dot.

    Parameters
    ----------
    board : pandas.DataFrame
        Made by `bayeval.leaderboard`.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, rows = _table(board, ax)
    for first, color, marker in ((True, ORANGE, "s"), (False, BLUE, "o")):
        part = (board["rank_low"] == 1) == first
        label = "may be first" if first else "not first"
        ax.hlines(rows[part], board["rank_low"][part] - 0.4, board["rank_high"][part] + 0.4,
                  color=color, lw=5, alpha=0.45)
        ax.plot(board["rank"][part], rows[part], marker, color=color, ms=4, label=label)
    L = len(board)
    ticks = [1, *range(10, L, 10)] if L > 20 else range(1, L + 1, 3)
    ax.set(xlim=(0, L + 1), xticks=[*ticks, L] if L - ticks[-1] > L / 10 else ticks,
           xlabel="rank (dot) and rank set (bar)")
    _legend_above(ax)
    return ax


def rules(by_trials, by_gap, *, axs=None):
    """Draw how often decision rules stay silent and how often they name the worse model.

    Parameters
    ----------
    by_trials, by_gap : pandas.DataFrame
        Columns ``rule``, ``silent``, ``wrong`` and ``trials`` or ``gap``.
    axs : ndarray of matplotlib.axes.Axes, shape (2, 2), optional
        Rows: silent, wrong; columns: against trials, against the gap.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (2, 2)
    """
    if axs is None:
        axs = axes(figsize=(5.6, 5.4), nrows=2, ncols=2, sharex="col", sharey="row")
    looks = ((ORANGE, "o"), (GREEN, "^"), (BLUE, "s"))
    for column, (table, x) in enumerate(((by_trials, "trials"), (by_gap, "gap"))):
        for (rule, lines), (color, marker) in zip(table.groupby("rule", sort=False), looks,
                                                  strict=True):
            for row, y in enumerate(("silent", "wrong")):
                axs[row, column].plot(lines[x], lines[y], marker + "-", color=color, ms=4, lw=1.5,
                                      label=rule)
    axs[1, 0].set_xscale("log", base=2)
    axs[1, 0].xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axs[1, 0].set(xlabel="trials per question", ylabel="names the worse model")
    axs[0, 0].set(ylabel="stays silent")
    axs[1, 1].set(xlabel="true gap of the scores")
    axs[0, 0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
    axs[1, 0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.1%}"))
    axs[1, 0].set_ylim(bottom=0)
    axs[0, 0].figure.legend(*axs[0, 0].get_legend_handles_labels(), loc="outside upper center",
                            ncol=3, columnspacing=1, handlelength=1.6)
    return axs


def right_order(trials, closed, simulated, marks, *, ax=None):
    """Draw the probability of the right order against trials, with trials to read off.

    Parameters
    ----------
    trials : array_like, shape (N,)
    closed : array_like, shape (N,)
        The closed form at these trials.
    simulated : pandas.Series
        Shares of simulated evaluations with the right order, indexed by trials.
    marks : dict
        Trials to the probability that they are marked with.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.8))
    ax.plot(trials, closed, color=BLUE, label="closed form")
    ax.plot(simulated.index, simulated, "o", color=ORANGE, ms=6, label="simulation")
    for n, p in marks.items():
        ax.plot([n, n, trials[0] * 0.85], [0, p, p], color=GRAY, lw=0.9, ls="--", zorder=1)
        ax.annotate(f"{n} trials", (n, 0.5), (-3, 6), textcoords="offset points", rotation=90,
                    ha="right", va="bottom", color=GRAY, fontsize=9)
    ax.set_xscale("log")
    ax.set(xlim=(trials[0] * 0.85, trials[-1] * 1.18), ylim=(0.5, 1.01),
           xlabel="trials per question", ylabel="probability of the right order")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.legend(loc="upper left", bbox_to_anchor=(0.02, 0.88))
    return ax


def convergence(trials, taus, *, ax=None):
    """Draw mean Kendall tau-b against trials, with the band of the middle 80% of runs.

    Parameters
    ----------
    trials : array_like, shape (N,)
    taus : dict
        Name to array of shape (runs, N).
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.6))
    looks = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"))
    for (name, tau), (color, marker) in zip(taus.items(), looks, strict=False):
        ax.fill_between(trials, *np.quantile(tau, [0.1, 0.9], axis=0), color=color, alpha=0.18,
                        lw=0)
        ax.plot(trials, tau.mean(axis=0), marker + "-", color=color, ms=4.5, label=name)
    ax.set_xscale("log", base=2)
    ax.set(xticks=trials, ylim=(None, 1.02), xlabel="trials per question",
           ylabel=r"Kendall's $\tau_b$ with the full order")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.legend(loc="lower right")
    return ax


def _table(board, ax):
    """Axes with one named row a model, best on top; a line each, as bands would look like tiers."""
    L = len(board)
    ax = axes(ax, figsize=(WIDTH, ROW * L + 1.0))
    rows = np.arange(1, L + 1)
    for row in rows:
        ax.axhline(row, color=HAIR, lw=0.5, zorder=0)
    ax.set(ylim=(L + 0.6, 0.4), yticks=rows)
    ax.set_yticklabels(board.index, fontsize=LETTERS)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=9, top=L > 30, labeltop=L > 30)
    ax.xaxis.label.set_fontsize(9.5)
    ax.grid(axis="y", visible=False)
    ax.spines[["left"]].set_visible(False)
    return ax, rows


def _legend_above(ax):
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncol=3,
                     fontsize=9, columnspacing=1, handletextpad=0.3)
