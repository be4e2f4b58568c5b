"""The style file, the named colors, and the axes that a figure draws on."""

from __future__ import annotations

from importlib.resources import files

import matplotlib.pyplot as plt

STYLE = str(files("bayeval") / "bayeval.mplstyle")
# Okabe and Ito's color-blind-safe palette, by role.
BLUE, ORANGE, GREEN, PINK, OLIVE, SKY, GRAY, AMBER = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A6A00", "#56B4E9", "#444444", "#E69F00")

plt.style.use(STYLE)


def axes(ax=None, **figure):
    """Return `ax`, or the axes of a new figure."""
    return plt.subplots(**figure)[1] if ax is None else ax
