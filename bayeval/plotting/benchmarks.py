"""Figures of the benchmarks: how many times as fast, and how cost grows."""

from __future__ import annotations

import numpy as np

from bayeval.plotting._style import BLUE, GRAY, GREEN, ORANGE, PINK, axes

__all__ = ["growth", "ratios"]


def ratios(table, *, ax=None):
    """Draw how many times as fast each task is, at each size, on a logarithmic axis.

    Parameters
    ----------
    table : pandas.DataFrame, shape (tasks, sizes)
        Ratios of times, above 1 where the first side is the faster one; NaN where not measured.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.8, 0.36 * len(table) + 1.4))
    rows = np.arange(len(table))
    ax.hlines(rows, table.min(axis=1), table.max(axis=1), color=GRAY, lw=1, alpha=0.4)
    for size, color, marker in zip(table.columns, (PINK, GREEN, BLUE, ORANGE), "osD^"):
        ax.plot(table[size], rows, marker, color=color, ms=6, label=size)
    ax.axvline(1, color=GRAY, lw=1, ls="--")
    ax.set(xscale="log", yticks=rows, yticklabels=table.index, ylim=(len(table) - 0.5, -0.5),
           xlabel="times as fast as scorio")
    ax.tick_params(axis="y", length=0)
    ax.legend(title="models x questions x attempts", loc="lower center", bbox_to_anchor=(0.4, 1),
              ncols=2, fontsize=9, title_fontsize=9)
    return ax


def growth(size, times, xlabel, *, groups=None, ax=None):
    """Draw time against size for several programs, both on logarithmic axes.

    Parameters
    ----------
    size : array_like, shape (S,)
    times : dict of str to array_like, shape (S,)
        Seconds of each program; NaN where not measured.
    xlabel : str
    groups : array_like, shape (S,), optional
        Thin lines join the sizes of a group.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(3.2, 3.2))
    size = np.asarray(size, dtype=float)
    groups = np.zeros(len(size)) if groups is None else np.asarray(groups)
    for (name, seconds), color, marker in zip(times.items(), (BLUE, ORANGE), "o^"):
        milliseconds = 1e3 * np.asarray(seconds, dtype=float)
        for group in np.unique(groups):
            own = groups == group
            ax.plot(size[own], milliseconds[own], color=color, lw=0.8, alpha=0.6)
        ax.plot(size, milliseconds, marker, color=color, ms=5, label=name)
    ends = np.array([size.min(), size.max()])
    low = 1e3 * np.nanmin(np.asarray(next(iter(times.values())), dtype=float))
    ax.plot(ends, low * ends / ends[0], color=GRAY, lw=1, ls="--", label="linear")
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="milliseconds")
    return ax
