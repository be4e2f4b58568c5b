"""Figures of the chapter on past results: what they help, and how far they are trusted."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, SKY, axes

__all__ = ["discounts", "gains", "old_and_new", "sensitivity", "worth"]

LOOKS = ((ORANGE, "s"), (BLUE, "o"), (GREEN, "^"), (PINK, "D"), (AMBER, "v"), (SKY, "P"))


def old_and_new(table, *, axs=None):
    """Draw the quality of an order and of a score against past attempts.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``correlation``, ``D``, ``N``, ``tau`` and ``rmse``.
    axs : ndarray of matplotlib.axes.Axes, shape (2, R), optional
        A column for each correlation.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    columns = table.groupby("correlation")
    if axs is None:
        axs = axes(figsize=(5.6, 4.8), nrows=2, ncols=len(columns), sharex=True, sharey="row")
    for (r, part), column in zip(columns, np.transpose(axs), strict=True):
        for ax, name in zip(column, ("tau", "rmse"), strict=True):
            for (n, line), (color, marker) in zip(part.groupby("N"), LOOKS, strict=False):
                ax.plot(line["D"], line[name], color=color, marker=marker, ms=4, lw=1.5,
                        label=f"{n} new")
            ax.set_xscale("symlog", base=2, linthresh=1)
            ax.xaxis.set_major_locator(FixedLocator([0, 1, 4, 16, 64]))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            ax.tick_params(labelsize=9)
        column[0].set_title(f"correlation {r:g}", fontsize=9.5)
    axs[0, 0].set_ylabel(r"Kendall's $\tau_b$")
    axs[1, 0].set_ylabel("error of the score")
    axs[-1, axs.shape[1] // 2].set_xlabel("past attempts D at each question")
    axs[0, -1].figure.legend(*axs[0, 0].get_legend_handles_labels(), loc="outside upper right",
                             ncol=3, fontsize=9)
    return axs


def worth(curves, points, best, *, ax=None):
    """Draw the error of a pooled score against the discount: formula, simulation, best discount.

    Parameters
    ----------
    curves, points : dict
        Name to pandas.Series of root-mean-square errors, indexed by the discount.
    best : dict
        Name to (discount, error) where the formula is lowest.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.4, 3.5))
    for (name, curve), (color, marker) in zip(curves.items(), LOOKS, strict=False):
        ax.plot(curve.index, curve, color=color, lw=1.5)
        ax.plot(points[name].index, points[name], marker, color=color, ms=5, label=name)
        ax.plot(*best[name], marker="o", mfc="none", mec="black", mew=1.4, ms=11, ls="none")
    ax.plot([], [], marker="o", mfc="none", mec="black", mew=1.4, ms=9, ls="none", label="best")
    ax.set(xlabel="discount", ylabel="error of the score", ylim=(0, None))
    ax.legend(loc="upper left", title="the past is off by", fontsize=9, alignment="left")
    return ax


def discounts(panels, *, axs=None):
    """Draw posterior densities of the discount.

    Parameters
    ----------
    panels : dict
        Title to a dict from name to (discount, density), both of shape (X,).
    axs : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    if axs is None:
        axs = axes(figsize=(5.6, 2.9), ncols=len(panels), sharex=True)
    for ax, (title, curves) in zip(axs, panels.items(), strict=True):
        ax.axhline(1, color=GRAY, lw=1, ls=":")
        for (name, (x, y)), (color, _), style in zip(curves.items(), LOOKS, ("-", "--", "-."),
                                                     strict=False):
            ax.plot(x, y, color=color, ls=style, lw=1.7, label=name)
        ax.set(xlim=(0, 1), ylim=(0, None), xticks=(0, 0.5, 1))
        ax.set_title(title, fontsize=9.5)
        ax.set_xticklabels(["0", "½", "1"])
        ax.tick_params(labelsize=9)
    axs[0].set_ylabel("posterior density")
    axs[len(panels) // 2].set_xlabel("discount")
    axs[0].figure.legend(*axs[0].get_legend_handles_labels(), loc="outside upper right", ncol=3,
                         fontsize=9)
    return axs


def gains(table, *, axs=None):
    """Draw, for every pair of versions and every prior, how well it predicts: a dot each.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``new``, ``prior``, ``log loss`` and ``error``, a row for each pair and prior.
    axs : sequence of two matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    names = list(dict.fromkeys(table["new"]))
    if axs is None:
        axs = axes(figsize=(5.6, 0.34 * len(names) + 1.2), ncols=2, sharey=True)
    for ax, column in zip(axs, ("log loss", "error"), strict=True):
        for (prior, part), (color, marker) in zip(table.groupby("prior", sort=False), LOOKS,
                                                  strict=False):
            rows = [names.index(name) for name in part["new"]]
            ax.plot(part[column], rows, marker, color=color, ms=5, alpha=0.85, label=prior)
        ax.tick_params(axis="y", length=0)
        ax.set(yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5))
        ax.set_yticklabels(names, fontsize=8)
    axs[0].set_xlabel("log loss")
    axs[1].set_xlabel("error of the score")
    axs[0].figure.legend(*axs[0].get_legend_handles_labels(), loc="outside upper right", ncol=2,
                         fontsize=9, columnspacing=1, handletextpad=0.2)
    return axs


def sensitivity(panels, *, axs=None):
    """Draw score and interval under every prior that a reader might have chosen.

    Parameters
    ----------
    panels : dict
        Title to (table, lines): a pandas.DataFrame with a row for each prior and columns
        ``mean``, ``low`` and ``high``, and a dict from name to value for vertical lines.
    axs : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    rows = len(next(iter(panels.values()))[0])
    if axs is None:
        axs = axes(figsize=(5.6, 0.3 * rows + 1.3), ncols=len(panels), sharey=True)
    for ax, (title, (table, lines)) in zip(axs, panels.items(), strict=True):
        y = np.arange(rows)
        past = np.array(["past" in name for name in table.index])
        for chosen, color, marker in ((~past, BLUE, "o"), (past, ORANGE, "s")):
            ax.hlines(y[chosen], table["low"][chosen], table["high"][chosen], color=color, lw=2.4)
            ax.plot(table["mean"][chosen], y[chosen], marker, color=color, ms=5)
        for (name, x), style in zip(lines.items(), ("-", "--", ":"), strict=False):
            ax.axvline(x, color="black", lw=1.1, ls=style, label=name, zorder=1)
        ax.margins(x=0.08)
        ax.set(yticks=y, ylim=(rows - 0.5, -0.5), xlabel="score and 95% interval")
        ax.set_yticklabels(table.index, fontsize=8.5)
        ax.set_title(title, fontsize=9.5)
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelsize=9)
        ax.grid(axis="y", visible=False)
    axs[0].figure.legend(*axs[0].get_legend_handles_labels(), loc="outside upper right", ncol=2,
                         fontsize=9)
    return axs
