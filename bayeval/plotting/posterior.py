"""Figures of posteriors: densities, growing bands, forests of intervals, pulls of priors."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, SKY, axes

# From little data to much, light to dark.
SHADES = ("#9aa7b2", SKY, "#2f86c6", "#003a63")
# More points than this only make a blot.
POINTS = 6000


def densities(successes, trials, *, ax=None):
    """Uniform-prior posterior densities of one success rate as its attempts accumulate.

    Parameters
    ----------
    successes, trials : sequence of int
        Counts, in the order of the attempts; at most four of each.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7, 3.9))
    p = np.linspace(0, 1, 801)
    top = max(stats.beta(c + 1, n - c + 1).pdf(p).max()
              for c, n in zip(successes, trials, strict=True))
    for c, n, color in zip(successes, trials, SHADES, strict=False):
        density = stats.beta(c + 1, n - c + 1).pdf(p)
        ax.fill_between(p, density, color=color, alpha=0.13, lw=0)
        ax.plot(p, density, color=color, lw=2.4, label=f"{c} right of {n}" if n else "no attempt")
    ax.set(xlim=(0, 1), ylim=(0, 1.08 * top), xlabel="success rate p",
           ylabel="posterior density")
    ax.legend(loc="upper right", title="after", alignment="left")
    return ax


def growing_band(outcome, *, probabilities=(0.5, 0.95), ax=None):
    """Posterior of a success rate after each attempt: mean and equal-tailed bands.

    Parameters
    ----------
    outcome : sequence of {0, 1}, shape (N,)
        The attempts in order; right ones are ticked above the bands, wrong ones below.
    probabilities : sequence of float
        Of the bands.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7, 4.2))
    outcome = np.asarray(outcome)
    n = np.arange(len(outcome) + 1)
    c = np.concatenate([[0], np.cumsum(outcome)])
    law = stats.beta(c + 1, n - c + 1)
    for prob, alpha in zip(sorted(probabilities, reverse=True), (0.18, 0.35), strict=False):
        low, high = law.interval(prob)
        ax.fill_between(n, low, high, color=BLUE, alpha=alpha, lw=0, label=f"{prob:.0%} interval")
    ax.plot(n, law.mean(), color=BLUE, lw=2.4, label="posterior mean")
    ax.plot(n[1:], (c / np.maximum(n, 1))[1:], color=ORANGE, lw=1.3, ls=(0, (3, 1.5)),
            label="share right so far")
    when = np.arange(1, len(outcome) + 1)
    ax.vlines(when[outcome == 1], 1.02, 1.08, color=GREEN, lw=1.6)
    ax.vlines(when[outcome == 0], -0.08, -0.02, color=GRAY, lw=1.6)
    ax.set(xlim=(0, len(outcome) + 1), ylim=(-0.1, 1.1), xlabel="attempts made",
           ylabel="success rate p", yticks=np.linspace(0, 1, 6))
    ax.legend(ncols=2, loc="upper right", bbox_to_anchor=(1, 0.93), fontsize=9)
    return ax


def two_shares(first, second, *, names, ax=None):
    """Posterior draws of two category shares, on either side of the line where they are equal.

    Parameters
    ----------
    first, second : ndarray, shape (D,)
        Draws of the two shares; the first few thousand are drawn, all are counted.
    names : tuple of str
        Of the two categories.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.6, 5))
    ahead = first > second
    for where, color, name, place, align in (
            (ahead, ORANGE, names[0], (0.98, 0.05), "right"),
            (~ahead, BLUE, names[1], (0.02, 0.93), "left")):
        shown = where[:POINTS]
        ax.plot(first[:POINTS][shown], second[:POINTS][shown], ".", color=color, ms=4, alpha=0.35,
                mew=0)
        ax.text(*place, f"{name}\nmore common: {where.mean():.0%}", color=color, ha=align,
                va="bottom" if align == "right" else "top", transform=ax.transAxes,
                fontsize=11, weight="bold",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2})
    both = np.concatenate([first[:POINTS], second[:POINTS]])
    ends = both.min() - 0.01, both.max() + 0.01
    ax.plot(ends, ends, color=GRAY, lw=1.2)
    ax.set(xlim=ends, ylim=ends, xlabel=f"share of the {names[0]}",
           ylabel=f"share of the {names[1]}", aspect="equal")
    return ax


def lead(probability, *, ax=None):
    """Probability that one category is the more common, attempt by attempt.

    Parameters
    ----------
    probability : ndarray, shape (N + 1,)
        After 0, 1, ..., N attempts.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7, 3.3))
    n = np.arange(len(probability))
    for above, color in ((True, ORANGE), (False, BLUE)):
        ax.fill_between(n, probability, 0.5, color=color, alpha=0.3, lw=0, interpolate=True,
                        where=(probability >= 0.5) if above else (probability <= 0.5))
    ax.plot(n, probability, color=GRAY)
    ax.axhline(0.5, color=GRAY, lw=1)
    ax.set(xlim=(0, n[-1]), ylim=(0, 1), xlabel="attempts made",
           ylabel="probability that the\nwrong answer is more common")
    ax.text(0.01, 0.93, "wrong answer ahead", color="#a84a00", weight="bold",
            transform=ax.transAxes, va="top")
    ax.text(0.01, 0.07, "right answer ahead", color=BLUE, weight="bold", transform=ax.transAxes)
    return ax


def forest(labels, center, low, high, *, special=(), naive=None, naive_label="", xlabel="",
           ax=None):
    """Intervals under each other, the first label on top.

    Parameters
    ----------
    labels : sequence of str, shape (R,)
    center, low, high : array_like, shape (R,)
    special : collection of str
        Labels to draw heavier.
    naive : array_like, shape (R,), optional
        A point estimate to show as a hollow mark beside each interval.
    naive_label, xlabel : str
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7, 1.1 + 0.235 * len(labels)))
    y = np.arange(len(labels))[::-1]
    heavy = np.isin(labels, list(special))
    for rows, color, width, marker in ((~heavy, BLUE, 2.2, "o"), (heavy, ORANGE, 4.5, "D")):
        ax.hlines(y[rows], np.asarray(low)[rows], np.asarray(high)[rows], color=color, lw=width)
        ax.plot(np.asarray(center)[rows], y[rows], marker, color=color, ms=5.5 + width / 3)
    if naive is not None:
        ax.plot(naive, y, "o", mfc="white", mec=GRAY, mew=1.4, ms=5.5, label=naive_label)
        ax.legend(loc="lower right")
    ax.set_yticks(y, labels)
    for tick, bold in zip(ax.get_yticklabels(), heavy, strict=True):
        tick.set_weight("bold" if bold else "normal")
    ax.grid(axis="y", visible=False)
    ax.set(ylim=(-0.7, len(labels) - 0.3), xlabel=xlabel)
    return ax


def cost(times, *, ax=None):
    """Seconds against size, one panel for each size that grows, on logarithmic scales.

    Parameters
    ----------
    times : pandas.DataFrame
        Columns `grows` (what is varied), `size`, `counting` and `moments` (seconds).
    ax : sequence of matplotlib.axes.Axes, optional
        One for each panel.

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    groups = list(times.groupby("grows", sort=False))
    if ax is None:
        ax = axes(figsize=(7.6, 3.5), ncols=len(groups), sharey=True)
    for panel, (name, rows) in zip(ax, groups, strict=True):
        for column, color, marker in (("counting", ORANGE, "o"), ("moments", BLUE, "s")):
            panel.loglog(rows["size"], rows[column], marker=marker, color=color, label=column)
        panel.set(xlabel=name)
        panel.minorticks_off()
    ax[0].set(ylabel="seconds")
    ax[0].legend(loc="upper left")
    return ax


def affine(series, *, ax=None):
    """Posterior means against avg@N, with the line that each number of attempts lies on.

    Parameters
    ----------
    series : dict
        Label to (N, avg, mean): attempts of every question, and arrays over models.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(6.4, 5.2))
    ax.plot([0, 1], [0, 1], color=GRAY, lw=1, ls=":")
    ax.text(0.88, 0.91, "equal", color=GRAY, ha="right", fontsize=9)
    for (label, (n, avg, mean)), color, marker in zip(
            series.items(), (BLUE, GREEN, ORANGE), ("o", "s", "D"), strict=False):
        ax.plot([0, 1], [1 / (n + 2), (n + 1) / (n + 2)], color=color, lw=1, alpha=0.7)
        ax.plot(avg, mean, marker, color=color, ms=7 if marker == "D" else 5, alpha=0.85,
                mew=0.6, mec="white", label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="avg@N", ylabel="posterior mean, uniform prior")
    ax.legend(loc="upper left")
    return ax


def interval_kinds(successes, trials, *, probability=0.95, ax=None):
    """One posterior density and three kinds of interval under it.

    Parameters
    ----------
    successes, trials : int
    probability : float, default 0.95
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    from bayeval import Outcomes, posterior

    ax = axes(ax, figsize=(7, 3.9))
    p = np.linspace(0, 1, 801)
    density = stats.beta(successes + 1, trials - successes + 1).pdf(p)
    ax.fill_between(p, density, color=SKY, alpha=0.35, lw=0)
    ax.plot(p, density, color=BLUE)
    top = density.max()
    result = posterior(Outcomes.from_counts([successes], trials))
    for i, (kind, color) in enumerate(
            (("equal-tailed", BLUE), ("hdi", GREEN), ("normal", ORANGE)), start=1):
        interval = result.interval(probability, kind=kind)
        y = -0.13 * top * i
        ax.plot([interval.low, interval.high], [y, y], color=color, lw=5,
                solid_capstyle="butt")
        name = {"hdi": "highest density", "normal": "mean ± 1.96 sd"}.get(kind, kind)
        ax.text(interval.low - 0.015, y, name, color=color, ha="right", va="center",
                weight="bold")
    ax.axvspan(1, 1.14, color=GRAY, alpha=0.12, lw=0)
    ax.text(1.07, 0.5 * top, "impossible", rotation=90, ha="center", va="center", color=GRAY)
    ax.axhline(0, color=GRAY, lw=0.8)
    ax.set(xlim=(0, 1.14), ylim=(-0.48 * top, 1.05 * top), xlabel="success rate p",
           ylabel="posterior density", yticks=[t for t in ax.get_yticks() if 0 <= t <= top])
    return ax


def caterpillar(panels, *, ax=None):
    """Intervals of many evaluations around the truth; those that miss it stand out.

    Parameters
    ----------
    panels : dict
        Title to (low, high, truth), arrays over evaluations.
    ax : sequence of matplotlib.axes.Axes, optional
        One for each panel.

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    if ax is None:
        ax = axes(figsize=(7, 5), nrows=len(panels), sharex=True, sharey=True)
    for panel, (title, (low, high, truth)) in zip(ax, panels.items(), strict=True):
        x = np.arange(len(low))
        low, high = low - truth, high - truth
        missed = (low > 0) | (high < 0)
        panel.vlines(x[~missed], low[~missed], high[~missed], color=BLUE, lw=2)
        panel.vlines(x[missed], low[missed], high[missed], color=ORANGE, lw=2)
        panel.axhline(0, color=GRAY, lw=1.2)
        panel.set_title(f"{title}: {missed.sum()} of {len(x)} miss")
        panel.set(ylabel="interval − truth", xlim=(-1, len(x)))
        panel.grid(axis="x", visible=False)
    ax[-1].set(xlabel="evaluation")
    return ax


def prior_pull(alpha, curves, truth, *, ax=None):
    """Interval of the score against the prior count of each category, and the truth.

    Parameters
    ----------
    alpha : array_like, shape (A,)
        Prior counts.
    curves : dict
        Label to (mean, low, high), arrays over `alpha`.
    truth : float
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7, 4.2))
    for (label, (mean, low, high)), color in zip(
            curves.items(), (ORANGE, BLUE, PINK, AMBER), strict=False):
        ax.fill_between(alpha, low, high, color=color, alpha=0.22, lw=0)
        ax.plot(alpha, mean, color=color, marker="o", ms=4, label=label)
    ax.axhline(truth, color=GRAY, lw=1.5, ls="--", label="truth (10,000 attempts)")
    for x, name in ((0.5, "Jeffreys"), (1.0, "uniform")):
        ax.axvline(x, color=GRAY, lw=0.8, ls=":")
        ax.text(x * 0.96, 0.02, name, rotation=90, ha="right", va="bottom", color=GRAY,
                fontsize=9, transform=ax.get_xaxis_transform())
    ax.set(xscale="log", xlabel="prior count of each category, α",
           ylabel="posterior of the score", ylim=(0, None))
    ax.minorticks_off()
    ax.set_xticks([0.01, 0.03, 0.1, 0.3, 1, 2], ["0.01", "0.03", "0.1", "0.3", "1", "2"])
    ax.legend(loc="upper left")
    return ax
