"""Figures of the chapter on sequential design: widths of a plan, wrong pairs, replays, looks."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, axes

__all__ = ["false_alarms", "replays", "widths", "wrong_after"]

LOOKS = ((GRAY, "o"), (AMBER, "v"), (PINK, "D"), (BLUE, "s"), (GREEN, "^"))


def widths(table, *, ax=None):
    """Draw widths of intervals against trials, for these questions and for the population.

    Parameters
    ----------
    table : pandas.DataFrame
        Indexed by trials; columns are pairs of the number of questions and "these" or "all".
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.8))
    for questions, color in zip(table.columns.unique(0), (ORANGE, BLUE, GREEN)):
        ax.plot(table.index, table[questions, "all"], color=color,
                label=f"{questions:,} questions")
        ax.plot(table.index, table[questions, "these"], color=color, ls="--")
    ax.plot([], [], color=GRAY, label="for such questions")
    ax.plot([], [], color=GRAY, ls="--", label="for these questions")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="trials per question", ylabel="width of the 95% interval",
           yticks=[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
           xlim=(table.index[0], table.index[-1]))
    ax.legend(fontsize=9, loc="lower left")
    return ax


def wrong_after(curves, *, ax=None):
    """Draw the probability of a wrong order against the share of the variance taken off.

    Parameters
    ----------
    curves : pandas.DataFrame
        Indexed by the share of the variance that the attempts take off; one column for each gap
        in standard deviations.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.6))
    for gap, (color, _) in zip(curves, ((GRAY, ""), (ORANGE, ""), (BLUE, ""), (GREEN, ""))):
        ax.plot(curves.index, curves[gap], color=color, label=f"{gap:g} sd apart")
    ax.set(xlabel="share of the variance that attempts take off",
           ylabel="P(wrong order) afterwards", xlim=(0, 1), ylim=(0, 0.51))
    ax.legend()
    return ax


def false_alarms(curves, level, *, ax=None):
    """Draw the share of runs that have claimed a difference so far, and at one look.

    Parameters
    ----------
    curves : pandas.DataFrame
        Indexed by attempts; columns ``"so far"`` and ``"at this look"``.
    level : float
        Of the test.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 3.4))
    ax.plot(curves.index, curves["so far"], color=ORANGE, label="significant at some look so far")
    ax.plot(curves.index, curves["at this look"], color=BLUE, label="significant at this look")
    ax.axhline(level, color=GRAY, lw=1, ls="--", label=f"{level:.0%}")
    ax.set(xlabel="attempts per question", ylabel="share of runs", ylim=0,
           xlim=(curves.index[0], curves.index[-1]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
    ax.legend(loc="upper left")
    return ax


def replays(means, errors, *, axs=None):
    """Draw wrong pairs and right winners against rounds, one row of axes for each board.

    Parameters
    ----------
    means, errors : pandas.DataFrame
        Columns ``wrong`` and ``winner``; index levels board, policy and rounds. Errors are drawn
        as bars of one standard error each way.
    axs : ndarray of matplotlib.axes.Axes, shape (boards, 2), optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    boards = means.index.unique("board")
    if axs is None:
        axs = axes(figsize=(6.4, 2.4 * len(boards) + 0.9), nrows=len(boards), ncols=2,
                   sharex=True, squeeze=False)
    policies = means.index.unique("policy")
    means, errors = means.sort_index(), errors.sort_index()
    for row, board in zip(axs, boards):
        for ax, name in zip(row, ("wrong", "winner")):
            for i, (policy, (color, marker)) in enumerate(zip(policies, LOOKS)):
                line, bar = means.loc[board, policy][name], errors.loc[board, policy][name]
                ax.errorbar(line.index + 0.12 * (i - len(policies) / 2), line, bar, color=color,
                            marker=marker, ms=4, lw=1.3, elinewidth=0.8, label=policy)
            ax.set_title(board, fontsize=10)
        row[0].set(ylabel="wrong pairs", ylim=0)
        row[1].set(ylabel="winner right", ylim=(0, 1.05))
    for ax in axs[-1]:
        ax.set(xlabel="rounds spent", xticks=np.arange(2, 17, 2))
    handles, labels = axs[0, 0].get_legend_handles_labels()
    axs[0, 0].figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9)
    return axs
