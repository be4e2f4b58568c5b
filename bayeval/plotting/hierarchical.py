"""Figures of the chapter on hierarchical models: pooling, predictive checks, forecasts, scaling."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, axes

__all__ = ["forecasts", "gains", "predictive", "reliability", "scaling", "shrinkage"]

MARKERS = "osD^v"
COLORS = BLUE, ORANGE, GREEN, PINK, AMBER


def shrinkage(alone, pooled, *, labels=("without pooling", "partially pooled"), axs=None):
    """Draw each model's estimates without and with pooling, a column of panels a parameter.

    Parameters
    ----------
    alone, pooled : dict of str to pandas.DataFrame
        For each parameter a table with columns ``mean``, ``low`` and ``high`` by model, the same
        models in both.
    labels : (str, str)
    axs : array of matplotlib.axes.Axes, optional
        One for each parameter.

    Returns
    -------
    array of matplotlib.axes.Axes
    """
    first = next(iter(alone.values()))
    rows = np.arange(len(first))[::-1]
    if axs is None:
        axs = plt.subplots(1, len(alone), sharey=True, figsize=(6.4, 0.32 * len(first) + 1))[1]
    for ax, name in zip(np.atleast_1d(axs), alone):
        for table, up, color, marker, label in ((alone[name], 0.16, GRAY, "o", labels[0]),
                                                (pooled[name], -0.16, ORANGE, "s", labels[1])):
            ax.hlines(rows + up, table["low"], table["high"], color=color, lw=1.5)
            ax.plot(table["mean"], rows + up, marker, color=color, ms=4.5, label=label)
        ax.set_xlabel(name)
        ax.grid(axis="y", visible=False)
    axs = np.atleast_1d(axs)
    axs[0].set_yticks(rows, first.index)
    axs[0].figure.legend(*axs[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return axs


def predictive(replicated, observed, *, xlabel, ylabel, ax=None):
    """Draw two statistics of replicated data for several models, and those of the real data.

    Parameters
    ----------
    replicated : dict of str to (array, array)
        For each model the two statistics of every replicated set.
    observed : (float, float)
    xlabel, ylabel : str
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(6, 3.8))
    for (name, (x, y)), color, marker in zip(replicated.items(), COLORS, MARKERS):
        ax.plot(x, y, marker, color=color, ms=3.5, alpha=0.5, mew=0, label=name)
    ax.plot(*observed, "*", color="black", ms=17, mec="white", label="real data")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.figure.legend(loc="outside upper center", ncols=2)
    return ax


def reliability(table, *, ax=None):
    """Draw how often attempts succeeded against the chance that was predicted.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``method``, ``predicted``, ``observed`` and ``attempts``, a row for each bin.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5, 4.6))
    ax.plot([0, 1], [0, 1], color=GRAY, lw=1, ls="--")
    for (name, rows), color, marker in zip(table.groupby("method", sort=False), COLORS, MARKERS):
        error = 1.96 * np.sqrt(rows["observed"] * (1 - rows["observed"]) / rows["attempts"])
        ax.errorbar(rows["predicted"], rows["observed"], error, fmt=f"{marker}-", color=color,
                    lw=1.2, ms=5, label=name)
    ax.set(xlabel="predicted chance of success", ylabel="share of successes", xlim=(-0.03, 1.03),
           ylim=(-0.03, 1.03), aspect="equal")
    ax.figure.legend(loc="outside upper center", ncols=2)
    return ax


def gains(table, *, marked=(), ax=None):
    """Draw what pooling gained each model in held-out score, against its average.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``average`` and ``gain``, a row for each model.
    marked : sequence
        Models to name.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(6, 3.8))
    ax.axhline(0, color=GRAY, lw=1)
    ax.plot(table["average"], table["gain"], "o", color=BLUE, ms=5)
    for name in marked:
        x, y = table.loc[name, ["average", "gain"]]
        ax.plot(x, y, "s", color=ORANGE, ms=7)
        ax.annotate(name, (x, y), xytext=(9, -4), textcoords="offset points", fontsize=10)
    ax.set(xlabel="average of the model", ylabel="gain in log score by pooling")
    return ax


def forecasts(table, *, ax=None):
    """Draw forecasts of averages that were held out: an interval for each method, and the truth.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``what`` (label of the row), ``method``, ``mean``, ``low``, ``high`` and ``truth``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    rows = {what: -i for i, what in enumerate(dict.fromkeys(table["what"]))}
    ax = axes(ax, figsize=(5.6, 0.42 * len(rows) + 1))
    methods = list(dict.fromkeys(table["method"]))
    for i, (method, color) in enumerate(zip(methods, (GRAY, BLUE, GREEN))):
        part = table[table["method"] == method]
        y = part["what"].map(rows) + 0.24 * ((len(methods) - 1) / 2 - i)
        ax.hlines(y, part["low"], part["high"], color=color, lw=3.5, alpha=0.8, label=method)
    truth = table.drop_duplicates("what")
    for what, value in zip(truth["what"], truth["truth"]):
        ax.plot([value] * 2, [rows[what] - 0.4, rows[what] + 0.4], color=ORANGE, lw=2.2)
    ax.plot([], [], color=ORANGE, lw=2.2, label="held out")
    ax.set_yticks(list(rows.values()), rows)
    ax.set(xlabel="average", xlim=(-0.02, 1.02))
    ax.grid(axis="y", visible=False)
    ax.figure.legend(loc="outside upper center", ncols=2)
    return ax


def scaling(table, lines, *, floor, axs=None):
    """Draw success rates of checkpoints against training tokens, a panel for each benchmark.

    Parameters
    ----------
    table : pandas.DataFrame
        A row for each checkpoint: ``benchmark``, ``size`` and ``tokens`` (numbers), ``rate``,
        ``low`` and ``high`` (of the posterior), ``never`` (whether it had no success).
    lines : pandas.DataFrame
        The surface: ``benchmark``, ``size``, ``tokens`` and ``rate``.
    floor : float
        Lowest rate that is shown.
    axs : array of matplotlib.axes.Axes, optional
        One for each benchmark.

    Returns
    -------
    array of matplotlib.axes.Axes
    """
    names = list(dict.fromkeys(table["benchmark"]))
    if axs is None:
        axs = plt.subplots(len(names), 1, sharex=True, figsize=(6, 3.1 * len(names) + 0.6))[1]
    sizes = np.unique(table["size"])
    colors = dict(zip(sizes, plt.colormaps["viridis"](np.linspace(0, 0.88, len(sizes)))))
    for ax, name in zip(np.atleast_1d(axs), names):
        for size, color in colors.items():
            line = lines[(lines["benchmark"] == name) & (lines["size"] == size)]
            ax.plot(line["tokens"], line["rate"], color=color, lw=1.2)
            part = table[(table["benchmark"] == name) & (table["size"] == size)]
            # Sizes stand beside one another.
            x = part["tokens"] * 1.06 ** (list(sizes).index(size) - (len(sizes) - 1) / 2)
            some, never = ~part["never"], part["never"] & (part["high"] > floor)
            ax.vlines(x[some], part["low"][some], part["high"][some], color=color, lw=1.2)
            ax.plot(x[some], part["rate"][some], "o", color=color, ms=4)
            ax.vlines(x[never], floor, part["high"][never], color=color, lw=1)
            ax.plot(x[never], part["high"][never], "v", mfc="white", mec=color, ms=5)
        ax.set(xscale="log", yscale="log", ylim=(floor, 0.2), ylabel="success rate")
        ax.set_title(name, fontsize=11)
    axs = np.atleast_1d(axs)
    axs[-1].set_xlabel("training tokens")
    handles = [Line2D([], [], color=colors[s], marker="o", ms=4, label=_short(s)) for s in sizes]
    axs[0].figure.legend(handles=handles, title="parameters", loc="outside upper center",
                         ncols=min(5, len(sizes)))
    return axs


def _short(size):
    return f"{size / 1e9:g}B" if size >= 1e9 else f"{size / 1e6:g}M"
