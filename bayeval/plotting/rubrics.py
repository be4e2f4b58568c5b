"""Figures of the chapter on rubrics: shares of categories, unused categories, orders, bounds."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import PercentFormatter

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, SKY, axes

__all__ = ["bounds", "orders", "profiles", "rank_ranges", "shares", "unused"]

# Narrow: names keep their letters when a phone shrinks the page's width.
WIDTH, LETTERS = 4.8, 8.5
# From the worst category to the best: wrong ones gray, right ones blue.
SIX = ("#4d4d4d", "#8c8c8c", "#c9c9c9", "#a9d3ee", "#3f97cf", "#0b4a80")
LOOKS = ((ORANGE, "s"), (BLUE, "o"), (GREEN, "^"), (PINK, "D"), (AMBER, "v"), (SKY, "P"))


def shares(table, *, colors=SIX, ax=None):
    """Draw the shares of the categories of each model as one bar, best category on the left.

    Parameters
    ----------
    table : pandas.DataFrame, shape (L, C+1)
        Shares, a row for each model (the first on top), a column for each category, worst first.
    colors : sequence, shape (C+1,)
        Of the columns.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, rows = _named_rows(table.index, ax, 0.24)
    left = np.zeros(len(table))
    for column, color in reversed(list(zip(table, colors, strict=True))):
        ax.barh(rows, table[column], left=left, height=0.82, color=color, label=column,
                edgecolor="white", lw=0.6)
        left = left + table[column].to_numpy()
    ax.grid(visible=False)
    ax.set(xlim=(0, 1), xlabel="share of the attempts")
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncol=2,
                     fontsize=9, columnspacing=1.2, handlelength=1.2)
    return ax


def unused(extra, panels, *, axs=None):
    """Draw scores against the number of categories that no attempt fell into.

    Parameters
    ----------
    extra : array_like, shape (E,)
        Numbers of unused categories.
    panels : dict
        Title to a dict from model to (scores of shape (E,), avg@N).
    axs : sequence of matplotlib.axes.Axes, optional
        One for each panel.

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    if axs is None:
        axs = axes(figsize=(5.6, 3.5), ncols=len(panels), sharex=True, sharey=True)
    for ax, (title, lines) in zip(axs, panels.items(), strict=True):
        for (name, (score, avg)), (color, marker) in zip(lines.items(), LOOKS, strict=False):
            ax.plot(extra, score, marker + "-", color=color, ms=4, lw=1.6, label=name)
            ax.axhline(avg, color=color, lw=1, ls=":")
        ax.set(xticks=extra)
        ax.set_title(title, fontsize=10.5)
    axs[0].set(ylabel="score, and avg@N (dotted)")
    axs[len(axs) // 2].set(xlabel="categories that nothing fell into")
    axs[0].figure.legend(*axs[0].get_legend_handles_labels(), loc="outside upper center",
                         ncol=3, fontsize=9)
    return axs


def orders(ranks, *, highlight=(), ax=None):
    """Draw the rank of each model under each rubric, as lines from left to right.

    Parameters
    ----------
    ranks : pandas.DataFrame, shape (L, R)
        Ranks, a row for each model, a column for each rubric.
    highlight : sequence of str
        Models to draw in color; the others are gray.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(WIDTH, 0.26 * len(ranks) + 1.2))
    x = np.arange(ranks.shape[1])
    looks = dict(zip(highlight, LOOKS, strict=False))
    for model, row in ranks.iterrows():
        color, marker = looks.get(model, ("#a8a8a8", "o"))
        hit = model in looks
        ax.plot(x, row, color=color, marker=marker, ms=5 if hit else 3, lw=2.2 if hit else 1,
                zorder=3 if hit else 2)
        for place, end, align in ((-0.25, row.iloc[0], "right"), (x[-1] + 0.25, row.iloc[-1],
                                                                  "left")):
            ax.text(place, end, model, ha=align, va="center", fontsize=LETTERS,
                    color=GRAY, weight="bold" if hit else "normal")
    ax.set_xticks(x, ranks.columns, rotation=40, ha="right", rotation_mode="anchor")
    ax.set(xlim=(-0.15, x[-1] + 0.15), ylim=(len(ranks) + 0.6, 0.4), yticks=[])
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return ax


def profiles(table, *, highlight, ax=None):
    """Draw the chance of each category or a better one, model by model.

    Parameters
    ----------
    table : pandas.DataFrame, shape (L, C)
        Chances, a row for each model, a column for each threshold.
    highlight : sequence of str
        Models to draw in color.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.2, 4.0))
    x = np.arange(table.shape[1])
    rest = table.drop(index=list(highlight))
    ax.plot(x, rest.T, color="#c4c4c4", lw=1, zorder=1)
    for model, (color, marker) in zip(highlight, LOOKS, strict=False):
        ax.plot(x, table.loc[model], marker + "-", color=color, label=model)
    ax.set_xticks(x, table.columns, rotation=25, ha="right", rotation_mode="anchor")
    ax.set(ylim=(0, 1), ylabel="chance of this or better")
    ax.legend(loc="upper right", fontsize=9)
    return ax


def rank_ranges(table, *, ax=None):
    """Draw the ranks that weights can give each model: all rising ones, and a smaller set.

    Parameters
    ----------
    table : pandas.DataFrame
        Indexed by model, first on top. Columns ``low`` and ``high`` (under all weights that
        rise), ``low_half`` and ``high_half`` (under those of the smaller set), and ``rank``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, rows = _named_rows(table.index, ax, 0.22)
    ax.hlines(rows, table["low"] - 0.4, table["high"] + 0.4, color=SKY, lw=6, alpha=0.55,
              label="any rising weights")
    ax.hlines(rows, table["low_half"] - 0.4, table["high_half"] + 0.4, color=BLUE, lw=6,
              label="right counts half or more")
    ax.plot(table["rank"], rows, "D", color=ORANGE, ms=4.5, label="right counts all")
    ax.set(xlim=(0, len(table) + 1), xticks=[1, 4, 8, 12, len(table)], xlabel="rank")
    ax.grid(axis="y", visible=False)
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", fontsize=9)
    return ax


def bounds(table, *, ax=None):
    """Draw the bounds that lost attempts leave, the average of the scored ones, and the truth.

    Parameters
    ----------
    table : pandas.DataFrame
        Indexed by model, first on top. Columns ``low`` and ``high`` (all lost attempts worst,
        all best), ``scored`` and ``truth``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, rows = _named_rows(table.index, ax, 0.24)
    ax.hlines(rows, table["low"], table["high"], color=SKY, lw=6, alpha=0.6,
              label="lost: all wrong to all right")
    ax.plot(table["scored"], rows, "o", mfc="white", mec=ORANGE, mew=1.6, ms=6,
            label="scored attempts only")
    ax.plot(table["truth"], rows, "D", color=BLUE, ms=4.5, label="nothing lost")
    ax.set(xlim=(0, None), xlabel="avg@N")
    ax.grid(axis="y", visible=False)
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", fontsize=9)
    return ax


def _named_rows(names, ax, height):
    """Axes with one named row for each of the names, the first on top."""
    ax = axes(ax, figsize=(WIDTH, height * len(names) + 1.5))
    rows = np.arange(len(names))
    ax.set(ylim=(len(names) - 0.4, -0.6), yticks=rows)
    ax.set_yticklabels(names, fontsize=LETTERS)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=9)
    ax.spines[["left"]].set_visible(False)
    return ax, rows
