"""How numbers and labels are written in tables, pages and files."""

from __future__ import annotations

import math


def number(x):
    """A score with three decimals, as text; a dash if there is none.

    Parameters
    ----------
    x : float

    Returns
    -------
    str

    Examples
    --------
    >>> from bayeval._text import number
    >>> number(0.12345), number(float("nan")), number(81.5)
    ('0.123', '–', '81.5')
    """
    if x is None or x != x:
        return "–"
    return f"{x:.3f}" if abs(x) < 10 else f"{x:.4g}"


def probability_text(p):
    """A probability as text that never rounds to certainty.

    Parameters
    ----------
    p : float

    Returns
    -------
    str

    Examples
    --------
    >>> from bayeval._text import probability_text
    >>> probability_text(0.99999), probability_text(0.5), probability_text(1e-9)
    ('> 0.999', '0.500', '< 0.001')
    """
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(x):
    """A share in percent, as text; never rounded up to 100 %.

    Parameters
    ----------
    x : float

    Returns
    -------
    str

    Examples
    --------
    >>> from bayeval._text import percent
    >>> percent(1.0), percent(0.9999), percent(0.25)
    ('100 %', '99.9 %', '25.0 %')
    """
    if x is None or x != x:
        return "–"
    return "100 %" if x >= 1 else f"{math.floor(x * 1000) / 10:.1f} %"


def trials(x):
    """A number of trials as text; NaN is out of reach."""
    return "out of reach" if x != x else f"{x:,.0f}" if x == int(x) else f"{x:,.1f}"


def table_text(text):
    """Text that a spreadsheet does not run as a formula: it gets an apostrophe in front.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> from bayeval._text import table_text
    >>> table_text("=1+1"), table_text("gpt"), table_text("-0.5")
    ("'=1+1", 'gpt', '-0.5')
    """
    text = str(text)
    try:
        float(text)
    except ValueError:
        risky = text.lstrip()[:1] in ("=", "+", "-", "@")
        return f"'{text}" if risky or text[:1] in ("\t", "\r", "\n") else text
    return text


def clean(text):
    """Text without what a terminal would obey or a page could not hold.

    Examples
    --------
    >>> from bayeval._text import clean
    >>> clean("a\x1b[31m\u202eb")
    'a�[31m�b'
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
