"""Figures of the first page: ranks that flip, and the intervals that say so."""

from __future__ import annotations

import numpy as np

from bayeval.plotting._style import BLUE, GRAY, ORANGE, axes
from bayeval.ranking import ranks

__all__ = ["flips", "intervals"]

# Half as wide as the page, with letters that a phone can show.
SIZE, LETTERS = (4.0, 3.1), 9


def flips(first, second, models, *, ax=None):
    """Join each model's rank in two halves of its attempts; models that change places stand out.

    Parameters
    ----------
    first, second : array_like, shape (L,)
        Scores in either half; higher is better, and no two are equal.
    models : sequence of str
        Names.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=SIZE)
    first, second = np.asarray(first), np.asarray(second)
    reversed_ = np.subtract.outer(first, first) * np.subtract.outer(second, second) < 0
    for name, start, end, moves in zip(models, ranks(first), ranks(second), reversed_.any(axis=1)):
        color, width = (ORANGE, 2) if moves else (GRAY, 1)
        ax.plot([0, 1], [start, end], "o-", color=color, lw=width)
        ax.text(1.06, end, name, va="center", fontsize=LETTERS, color=color)
    ax.set(xlim=(-0.05, 2.2), xticks=[0, 1], xticklabels=["one half", "other half"],
           ylim=(len(first) + 0.5, 0.5), yticks=range(1, len(first) + 1), ylabel="rank")
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    ax.grid(False)
    return ax


def intervals(board, *, ax=None):
    """Draw each model's score with its interval, and write the ranks that it may have.

    Parameters
    ----------
    board : pandas.DataFrame
        Made by `bayeval.leaderboard`.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=SIZE)
    rows = np.arange(1, len(board) + 1)
    ax.hlines(rows, board["low"], board["high"], color=BLUE, lw=2)
    ax.plot(board["score"], rows, "o", color=BLUE)
    outside = ax.get_yaxis_transform()  # x in shares of the axis, y in rows
    for row, low, high in zip(rows, board["rank_low"], board["rank_high"]):
        text = f"{low}" if low == high else f"{low} to {high}"
        ax.text(1.04, row, text, transform=outside, va="center", fontsize=LETTERS)
    ax.text(1.04, 0, "ranks", transform=outside, va="center", fontsize=LETTERS, color=GRAY)
    ax.set(ylim=(len(board) + 0.5, 0.5), yticks=rows, yticklabels=board.index, xlabel="score")
    ax.tick_params(axis="y", labelsize=LETTERS, length=0)
    return ax
