"""Figures of the chapter on the forecasting paper's experiments: grids, lines, costs, effects."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, SKY, axes

__all__ = ["cost", "effects", "errors", "lines", "ratios", "truths"]

# One look for each name wherever it appears: color, marker, line style.
LOOKS = [
    (ORANGE, "s", "-"),
    (PINK, "D", "-"),
    (GREEN, "^", "--"),
    (GREEN, "v", "-"),
    (BLUE, "P", "--"),
    (BLUE, "o", "-"),
    (GRAY, "x", ":"),
    (AMBER, "d", "-"),
]
# Marks on an axis of root mean squared errors of a probability.
ERRORS = [0.02, 0.05, 0.1, 0.2, 0.5]


def errors(tables, *, ax=None):
    """Draw root mean squared errors as heat maps.

    Parameters
    ----------
    tables : dict of str to dict of str to pandas.DataFrame
        Method (a row of panels) to data set (a column) to errors: k in rows, budgets in columns.
    ax : ndarray of matplotlib.axes.Axes, shape (methods, sets), optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    ax = _maps(tables, "root mean squared error", LogNorm(0.02, 0.5), "viridis", ax)
    ax[0, 0].figure.axes[-1].set_xticks(ERRORS, [f"{x:g}" for x in ERRORS])
    return ax


def ratios(tables, label, *, ax=None):
    """Draw ratios as heat maps, red below 1 and blue above.

    Parameters
    ----------
    tables : dict of str to dict of str to pandas.DataFrame
        As in `errors`.
    label : str
        What the ratio is.
    ax : ndarray of matplotlib.axes.Axes, shape (methods, sets), optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    ax = _maps(tables, label, LogNorm(1 / 3, 3), "RdBu", ax)
    ticks = [1 / 3, 0.5, 1, 2, 3]
    ax[0, 0].figure.axes[-1].set_xticks(ticks, ["⅓", "½", "1", "2", "3"])
    for row, panels in zip(ax, tables.values(), strict=True):
        for panel, table in zip(row, panels.values(), strict=True):
            for (y, x), value in np.ndenumerate(table.to_numpy()):
                dark = abs(np.log(value)) > np.log(2)
                panel.text(
                    x,
                    y,
                    f"{value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if dark else "black",
                )
    return ax


def _maps(tables, label, norm, cmap, ax):
    shape = len(tables), len(next(iter(tables.values())))
    ax = axes(
        ax,
        nrows=shape[0],
        ncols=shape[1],
        figsize=(5.8, 1.0 + 1.3 * shape[0]),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for row, (name, panels) in zip(ax, tables.items(), strict=True):
        for panel, (title, table) in zip(row, panels.items(), strict=True):
            image = panel.imshow(table, norm=norm, cmap=cmap, aspect="auto", origin="lower")
            panel.grid(visible=False)
            panel.set_xticks(
                range(table.shape[1]), [f"{b / 1000:g}" for b in table.columns], fontsize=8
            )
            panel.set_yticks(range(table.shape[0]), [f"{k:,}" for k in table.index], fontsize=8)
            if panel in ax[0]:
                panel.set_title(title, fontsize=10)
        row[0].set_ylabel(f"{name}\nk", fontsize=9)
    ax[-1, shape[1] // 2].set_xlabel("attempts in all (thousands)", fontsize=10)
    bar = ax[0, 0].figure.colorbar(
        image, ax=ax, location="bottom", shrink=0.8, aspect=40, extend="both", label=label
    )
    bar.ax.minorticks_off()
    return ax


def lines(panels, ylabel, *, ticks=None, reference=None, looks=None, ax=None):
    """Draw lines against the attempts in all, one panel a data set.

    Parameters
    ----------
    panels : dict of str to pandas.DataFrame
        Title to lines: names in rows, budgets in columns.
    ylabel : str
    ticks : sequence of float, optional
        Heights to mark, on a logarithmic axis; by default the axis is linear.
    reference : float, optional
        Height of a thin line.
    looks : sequence of int, optional
        Which of the module's looks each name has; by default the first, second, ...
    ax : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(panels), figsize=(5.8, 4.2), sharey=True)
    for panel, (title, table) in zip(ax, panels.items(), strict=True):
        if reference is not None:
            panel.axhline(reference, color=GRAY, lw=1)
        for i, (name, y) in zip(looks or range(len(table)), table.iterrows(), strict=False):
            color, mark, style = LOOKS[i]
            y = y.dropna()
            panel.plot(y.index, y, style, color=color, marker=mark, lw=1.6, label=name)
        panel.set(xscale="log", yscale="log" if ticks else "linear")
        panel.set_title(title, fontsize=11)
        low, high = table.columns.min(), table.columns.max()
        marks = [b for b in (100, 1000, 10_000, 100_000) if low <= b <= high]
        panel.set_xticks(marks, [f"{b / 1000:g}" for b in marks])
        panel.minorticks_off()
    if ticks:
        ax[0].set_yticks(ticks, [f"{y:g}" for y in ticks])
    ax[len(ax) // 2].set_xlabel("attempts in all (thousands)")
    ax[0].set_ylabel(ylabel)
    ax[0].figure.legend(
        *ax[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9
    )
    return ax


def cost(panels, direct, *, looks=None, ax=None):
    """Draw errors against the attempts in all, and what a direct measurement costs.

    Parameters
    ----------
    panels : dict of str to pandas.DataFrame
        As in `lines`.
    direct : dict of str to (float, float)
        Title to the attempts and the error of k attempts at every question.
    looks, ax
        As in `lines`.

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = lines(panels, "root mean squared error", ticks=ERRORS, looks=looks, ax=ax)
    for panel, (budget, error) in zip(ax, direct.values(), strict=True):
        panel.plot(budget, error, "*", color="black", ms=13, label="k attempts at every question")
    figure = ax[0].figure
    figure.legends[0].remove()
    figure.legend(
        *ax[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9
    )
    return ax


def truths(table, *, ax=None):
    """Draw what several calculations take for the true Pass@k of each model.

    Parameters
    ----------
    table : pandas.DataFrame
        Models in rows; columns ``plug-in``, ``share broken``, ``Bayes``, ``low`` and ``high``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.8, 3.6))
    y = np.arange(len(table))[::-1]
    ax.hlines(y, table["low"], table["high"], color=BLUE, lw=5, alpha=0.35, label="Bayes, 90%")
    for name, color, mark in (
        ("Bayes", BLUE, "o"),
        ("plug-in", ORANGE, "s"),
        ("share broken", "black", "|"),
    ):
        ax.plot(table[name], y, mark, color=color, ms=12 if mark == "|" else 7, mew=2, label=name)
    ax.set_yticks(y, table.index)
    ax.set(xlabel="Pass@k", xlim=(None, 1))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="upper left")
    return ax


def effects(table, *, ax=None):
    """Draw ratios with their intervals on a logarithmic axis, grouped by claim.

    Parameters
    ----------
    table : pandas.DataFrame
        Index (claim, data set); columns ``value``, ``low`` and ``high``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    claims = table.index.unique(0)
    ax = axes(ax, figsize=(5.8, 0.9 + 0.28 * (len(table) + len(claims))))
    ax.axvline(1, color=GRAY, lw=1)
    y, ticks, names = 0.0, [], []
    for claim in claims:
        ax.text(
            0.01,
            -y,
            claim,
            transform=ax.get_yaxis_transform(),
            fontsize=10,
            weight="bold",
            va="center",
            bbox={"color": "white", "pad": 1},
        )
        y += 1
        for (name, row), color in zip(table.loc[claim].iterrows(), (SKY, AMBER, PINK, "black")):
            ax.plot([row["low"], row["high"]], [-y, -y], color=color, lw=3.5)
            ax.plot(row["value"], -y, "o", color=color, mec="white", ms=8)
            ticks.append(-y)
            names.append(name)
            y += 1
    ax.set_yticks(ticks, names)
    ax.set(xscale="log", ylim=(-y + 0.4, 0.6), xlabel="times better")
    ax.xaxis.set_major_formatter(plt.FuncFormatter(lambda x, _: f"{x:g}"))
    ax.grid(axis="y", visible=False)
    return ax
