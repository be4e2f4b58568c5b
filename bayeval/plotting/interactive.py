"""Figures to play with: charts with sliders, which need neither a server nor a network.

Each function takes results and returns a `Figure`. JupyterLab shows it as a chart, and so do the
pages of the book; everywhere else it is a picture of its first state. Needs
``bayeval[interactive]``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

from bayeval import _validate as check
from bayeval.metrics import pass_at_k
from bayeval.ranking import ranks

__all__ = ["Figure", "forecasts", "growing_board", "passk_curves", "prior_and_data"]

# The generation of Vega-Lite that JupyterLab brings along: what is used here is in the next, too.
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MIME_TYPE = "application/vnd.vegalite.v5+json"
# The colors of all figures. The style sheet of the book has a match for each in the dark.
BLUE, ORANGE, GRAY, PALE, INK, GRID = (
    "#0072b2", "#d55e00", "#444444", "#b8b8b8", "#222222", "#e4e4e4")
WIDTH, LETTERS, LINE = 460, 12, 18
CONFIG = {
    "background": "white",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"domainColor": GRAY, "tickColor": GRAY, "gridColor": GRID, "labelColor": INK,
             "titleColor": INK, "titleFontWeight": "normal", "labelFontSize": LETTERS,
             "titleFontSize": LETTERS, "labelLimit": 150, "labelOverlap": "greedy"},
    "legend": {"orient": "bottom", "title": None, "labelColor": INK, "labelFontSize": LETTERS,
               "labelLimit": 300, "symbolStrokeWidth": 2.5, "symbolSize": 300, "offset": 6},
    "text": {"color": INK, "fontSize": LETTERS + 1},
}
# Cells of the axis of success rates, equally wide in arcsin(sqrt(p)).
CELLS = 900


@dataclass(frozen=True)
class Figure:
    """A chart with controls, shown by the front ends that can, and as a picture by the others.

    Attributes
    ----------
    spec : dict
        The chart in Vega-Lite, with its data. Its ``usermeta["controls"]`` holds, for sliders
        whose numbers stand for others, a label and the text of each number.

    Examples
    --------
    >>> figure = prior_and_data(2, 3)
    >>> figure.svg()[:4]
    '<svg'
    """

    spec: dict = field(repr=False)

    def svg(self):
        """Draw the first state of the chart.

        Returns
        -------
        str
            An SVG picture.
        """
        import vl_convert

        return vl_convert.vegalite_to_svg(json.dumps(self.spec))

    def _repr_mimebundle_(self, include=None, exclude=None):
        # No HTML among them: JupyterLab would show that and not the chart.
        return {MIME_TYPE: self.spec, "image/svg+xml": self.svg(), "text/plain": repr(self)}


def prior_and_data(right, wrong, *, a=1, b=1):
    """Show how a beta prior and counts make the posterior of one success rate.

    The chart computes the densities by itself, for every setting of its four sliders.

    Parameters
    ----------
    right, wrong : int
        Counts to begin with, at most 80.
    a, b : float, default 1
        Prior counts of right and wrong to begin with: multiples of ½ from ½ to 20.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a count is not on its slider.

    Examples
    --------
    >>> figure = prior_and_data(2, 3, a=6, b=2)
    >>> [(p["name"], p["value"]) for p in figure.spec["params"] if "bind" in p]
    [('a', 6), ('b', 2), ('right', 2), ('wrong', 3)]
    """
    import altair as alt

    params = [_slider("a", "prior count of right, a", a, 0.5, 20, 0.5),
              _slider("b", "prior count of wrong, b", b, 0.5, 20, 0.5),
              _slider("right", "right answers", right, 0, 80),
              _slider("wrong", "wrong answers", wrong, 0, 80)]
    names = "prior", "likelihood, area 1", "posterior"
    laws = dict(zip(names, (("a", "b"), ("(right+1)", "(wrong+1)"),
                            ("(a+right)", "(b+wrong)")), strict=True))
    density, peaks = {}, []
    for i, (name, (x, y)) in enumerate(laws.items()):
        # A density may be infinite at 0 or 1, so the axis ends at its height near there.
        mode = f"{x}+{y}<=2 ? ({x}<1 ? 0.02 : 0.98) : clamp(({x}-1)/({x}+{y}-2), 0.02, 0.98)"
        params += [alt.param(name=f"norm{i}", expr=_log_beta(x, y)),
                   alt.param(name=f"mode{i}", expr=mode)]
        log = f"({x}-1)*log({{p}}) + ({y}-1)*log(1-{{p}}) - norm{i}"
        density[name] = f"exp({log})".format(p="datum.p")
        peaks.append(f"exp({log})".format(p=f"mode{i}"))
    params.append(alt.param(name="top", expr=f"1.05*max({', '.join(peaks)})"))

    step = f"{np.pi / 2 / CELLS:.17g}"
    grid = alt.Chart(alt.sequence(0, CELLS, as_="i")).transform_calculate(
        p=f"pow(sin((datum.i+0.5)*{step}), 2)")
    for i, name in enumerate(names):
        grid = grid.transform_calculate(**{f"f{i}": density[name]})
    # The mass of each cell, and the ends of the interval inside the cells into which they fall.
    grid = grid.transform_calculate(
        mass=f"datum.f2 * 2*sqrt(datum.p*(1-datum.p))*{step}",
    ).transform_window(so_far="sum(mass)").transform_joinaggregate(total="sum(mass)")
    for end, level in (("low", 0.025), ("high", 0.975)):
        rest = f"({level}*datum.total - datum.so_far + datum.mass)"
        grid = grid.transform_calculate(**{
            f"{end}_here": f"0<{rest} && {rest}<=datum.mass"
                           f" ? pow(sin((datum.i+{rest}/datum.mass)*{step}), 2) : null"})
    grid = grid.transform_joinaggregate(low="max(low_here)", high="max(high_here)")

    x = alt.X("p:Q", title="success rate p", scale=alt.Scale(domain=[0, 1]),
              axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f"))
    y = {"title": "density", "scale": alt.Scale(domain=[0, alt.ExprRef("top")], nice=False)}
    key = _keyed(names, (ORANGE, GRAY, BLUE), ((6, 3), (2, 2), (1, 0)))
    drawn = alt.Chart().transform_filter("datum.i%3==1")
    lines = [key(drawn.mark_line(clip=True, strokeWidth=2.5), name).encode(
                 x, alt.Y(f"f{i}:Q", **y)) for i, name in enumerate(names)]
    inside = drawn.transform_filter("datum.low<=datum.p && datum.p<=datum.high").mark_area(
        clip=True, color=BLUE, opacity=0.2).encode(x, alt.Y("f2:Q", **y))
    one = alt.Chart().transform_filter("datum.i==0").transform_calculate(
        mean="(a+right)/(a+b+right+wrong)")
    mean = one.mark_rule(color=BLUE, strokeWidth=1.5).encode(alt.X("mean:Q"))
    words = _words(
        one,
        "'Prior mean ' + format(a/(a+b), '.3f') + (right+wrong ? ', share right '"
        " + format(right/(right+wrong), '.3f') : ', no data')",
        "'Posterior mean ' + format(datum.mean, '.3f') + ', 95% interval '"
        " + format(datum.low, '.3f') + ' to ' + format(datum.high, '.3f')")
    return _figure(grid, [inside, *lines, mean, words], params, height=230)


def growing_board(boards, *, probability=0.95):
    """Show a leaderboard, with intervals and rank sets, as the attempts at each question grow.

    Parameters
    ----------
    boards : pandas.DataFrame
        Columns ``data``, ``prior`` and ``attempts`` (powers of two, the same for all); ``model``,
        ``score``, ``low``, ``high``, ``rank_low`` and ``rank_high`` as `bayeval.leaderboard`
        gives them; ``truth``.
    probability : float, default 0.95
        Of the intervals.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a column is missing, or the attempts are not successive powers of two.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.datasets.load("aime_2025")
    >>> board = bv.leaderboard(o).rename_axis("model").reset_index()
    >>> board = board.assign(data="AIME", prior="uniform", attempts=4, truth=board["score"])
    >>> len(growing_board(board).spec["data"]["values"])
    16
    """
    import altair as alt

    columns = ["data", "prior", "model", "score", "low", "high", "rank_low", "rank_high", "truth"]
    powers = _powers("boards", boards, columns)
    held = (boards["low"] <= boards["truth"]) & (boards["truth"] <= boards["high"])
    rows = boards[columns].round(5).assign(power=np.log2(boards["attempts"]).astype(int),
                                           first=(boards["rank_low"] == 1).astype(int),
                                           held=held.astype(int))
    sets, priors = (list(dict.fromkeys(boards[name])) for name in ("data", "prior"))
    params = [_select("board", "board", sets), _select("method", "prior", priors),
              _doublings(powers, start=powers[len(powers) // 3])]
    shown = alt.Chart(alt.Data(values=rows.to_dict("records"))).transform_filter(
        "datum.data==board && datum.prior==method && datum.power==power")
    board = alt.Chart()

    y = alt.Y("model:N", title=None, axis=alt.Axis(grid=False, ticks=False, domain=False),
              sort=alt.EncodingSortField("truth", op="max", order="descending"))
    end = 1.02 * boards["high"].max()
    x = {"title": f"score and {probability:.0%} interval (square-root axis)",
         "scale": alt.Scale(type="sqrt", domain=[0, end], nice=False),
         "axis": alt.Axis(values=[t for t in (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 1) if t <= end])}
    color = alt.condition("datum.first", alt.value(ORANGE), alt.value(BLUE))
    shape = alt.condition("datum.first", alt.value("square"), alt.value("circle"))
    interval = board.mark_rule(strokeWidth=3).encode(
        y, alt.X("low:Q", **x), alt.X2("high:Q"), color=color)
    truth = board.mark_tick(color=INK, thickness=2, size=18, opacity=1).encode(
        y, alt.X("truth:Q", **x))
    score = board.mark_point(filled=True, size=60, opacity=1).encode(
        y, alt.X("score:Q", **x), color=color, shape=shape)
    places = board.transform_calculate(
        ranks="datum.rank_low==datum.rank_high ? 'rank ' + datum.rank_low"
              " : 'ranks ' + datum.rank_low + ' to ' + datum.rank_high",
    ).mark_text(align="right", baseline="bottom", dy=-4, fontSize=LETTERS).encode(
        y, x=alt.value("width"), text="ranks:N")
    one = board.transform_aggregate(models="count()", firsts="sum(first)", held="sum(held)")
    words = _words(
        one, f"'After ' + {MADE}",
        "datum.firsts + ' of ' + datum.models + ' may be first (orange squares)'",
        "datum.held + ' of ' + datum.models + ' intervals hold the final score (tick)'")
    return _figure(shown, [interval, truth, score, places, words], params, powers=powers,
                   height=34 * boards.groupby("data")["model"].nunique().max().item())


def forecasts(table, *, probability=0.9):
    """Show the forecast of Pass@k against k as the attempts at each question grow, and the truth.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``model``, ``attempts`` (powers of two, the same for all) and ``k``; ``mean``,
        ``low`` and ``high`` as `bayeval.forecast` gives them; ``truth``.
    probability : float, default 0.9
        Of the intervals.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a column is missing, or the attempts are not successive powers of two.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("A", n, k, 0.1 * k, 0.0, 0.2 * k, 0.1 * k) for n in (1, 2) for k in (1, 4)]
    >>> columns = ["model", "attempts", "k", "mean", "low", "high", "truth"]
    >>> figure = forecasts(pd.DataFrame(rows, columns=columns))
    >>> figure.spec["data"]["values"][0]["k"]
    [1, 4]
    """
    import altair as alt

    lists = ["k", "mean", "low", "high", "truth"]
    powers = _powers("table", table, ["model", *lists])
    rows = [{"model": model, "power": int(np.log2(n)),
             "verdict": _verdict(*part.loc[part["k"].idxmax(), ["low", "truth", "high"]]),
             **{name: part[name].round(4).tolist() for name in lists}}
            for (model, n), part in table.groupby(["model", "attempts"], sort=False)]
    last = int(table["k"].max())
    params = [_select("model", "model", list(dict.fromkeys(table["model"]))),
              _doublings(powers, start=powers[len(powers) // 2])]
    shown = alt.Chart(alt.Data(values=rows)).transform_filter(
        "datum.model==model && datum.power==power")
    one = alt.Chart()
    curves = one.transform_flatten(lists)

    x = {"title": "k, attempts allowed", "scale": alt.Scale(type="log", domain=[1, last]),
         "axis": alt.Axis(values=[10**i for i in range(10) if 10**i <= last], format=",")}
    y = {"title": "Pass@k", "scale": alt.Scale(domain=[0, 1])}
    names = f"forecast, {probability:.0%}", "truth", "attempts made"
    key = _keyed(names, (BLUE, ORANGE, GRAY), ((1, 0), (6, 3), (2, 2)))
    smooth = {"interpolate": "monotone"}
    band = curves.mark_area(color=BLUE, opacity=0.22, **smooth).encode(
        alt.X("k:Q", **x), alt.Y("low:Q", **y), alt.Y2("high:Q"))
    lines = [key(curves.mark_line(strokeWidth=2.5, **smooth), name).encode(
                 alt.X("k:Q", **x), alt.Y(f"{column}:Q", **y))
             for name, column in zip(names, ("mean", "truth"))]
    made = key(one.transform_calculate(made="pow(2, datum.power)").mark_rule(strokeWidth=1.5),
               names[2]).encode(alt.X("made:Q", **x))
    words = _words(
        curves.transform_filter(f"datum.k=={last}"), f"'From ' + {MADE}",
        f"'Pass@{last:,}: ' + format(datum.mean, '.2f') + ', {probability:.0%} interval '"
        " + format(datum.low, '.2f') + ' to ' + format(datum.high, '.2f')",
        "'Truth: ' + format(datum.truth, '.2f') + ', ' + datum.verdict + ' the interval'")
    return _figure(shown, [band, *lines, made, words], params, height=240, powers=powers)


def passk_curves(o, *, pair=None):
    """Show the curves of Pass@k of all models, and compare any two of them at any k.

    Parameters
    ----------
    o : Outcomes
        With the same number of attempts at every question.
    pair : (str, str), optional
        The models to begin with; by default the first two.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If `pair` names an unknown model, or attempts differ.

    Examples
    --------
    >>> import bayeval as bv
    >>> figure = passk_curves(bv.datasets.load("aime_2025"))
    >>> [p["name"] for p in figure.spec["params"] if "bind" in p]
    ['first', 'second', 'k']
    """
    import altair as alt

    check.outcomes("o", o)
    n = int(o.n_trials.max())
    if (o.n_trials != n).any() or o.n_models < 2:
        raise ValueError("o must hold several models with the same attempts at every question; "
                         f"found {o.n_models} with {o.n_trials.min()} to {n}")
    start = tuple(pair or o.models[:2])
    for name in start:
        check.choice("pair", name, o.models)
    k = list(range(1, n + 1))
    values = pass_at_k(o, k)
    places = np.stack([ranks(column) for column in values.T], axis=1)
    rows = [{"model": name, "k": k, "pass": line.round(4).tolist(), "rank": place.tolist()}
            for name, line, place in zip(o.models, values, places)]
    models = sorted(o.models, key=str.casefold)
    params = [_select("first", "first model (blue)", models, start[0]),
              _select("second", "second model (orange)", models, start[1]),
              _slider("k", "k, attempts allowed", 1, 1, n)]
    all_curves = alt.Chart(alt.Data(values=rows)).transform_flatten(["k", "pass", "rank"])
    curves = alt.Chart()

    x = alt.X("k:Q", title="k, attempts allowed", scale=alt.Scale(domain=[1, n]),
              axis=alt.Axis(values=k if n <= 12 else alt.Undefined, format="d"))
    y = alt.Y("pass:Q", title="Pass@k", scale=alt.Scale(zero=False))
    others = curves.mark_line(color=PALE, strokeWidth=1).encode(x, y, detail="model:N")
    chosen = [curves.transform_filter(f"datum.model=={which}").mark_line(
                  color=color, strokeWidth=2.5, strokeDash=dash, point=alt.OverlayMarkDef(
                      color=color, filled=True, size=45)).encode(x, y)
              for which, color, dash in (("first", BLUE, [1, 0]), ("second", ORANGE, [6, 3]))]
    at = curves.transform_filter("datum.k==k")
    here = at.transform_filter("datum.model==first").mark_rule(
        color=GRAY, strokeDash=[2, 2], strokeWidth=1.5).encode(x)
    values = {f"{what}_{which}": f"datum.model=={which} ? datum['{what}'] : null"
              for what in ("pass", "rank") for which in ("first", "second")}
    one = at.transform_calculate(**values).transform_aggregate(
        **{name: f"max({name})" for name in values})
    words = _words(
        one, "'At k = ' + k + (datum.pass_first==datum.pass_second ? ', equal'"
        " : ', ' + (datum.pass_first>datum.pass_second ? first : second) + ' is ahead')",
        *(f"{which} + ': ' + format(datum.pass_{which}, '.3f') + ', rank ' + datum.rank_{which}"
          f" + ' of {o.n_models}'" for which in ("first", "second")))
    return _figure(all_curves, [others, here, *chosen, words], params, height=260)


# Words of the number of attempts that a slider of powers stands at.
MADE = ("format(pow(2, power), ',') + (power ? ' attempts' : ' attempt')"
        " + ' at each question'")


def _log_gamma(x):
    """Logarithm of the gamma function as an expression: Stirling's series, moved up by six."""
    z = f"({x}+6)"
    product = "*".join(f"({x}+{i})" for i in range(6))
    return (f"(({z}-0.5)*log({z}) - {z} + {np.log(2 * np.pi) / 2:.17g} + 1/(12*{z})"
            f" - 1/(360*pow({z},3)) + 1/(1260*pow({z},5)) - log({product}))")


def _log_beta(a, b):
    return f"{_log_gamma(a)} + {_log_gamma(b)} - {_log_gamma(f'({a}+{b})')}"


def _slider(name, label, value, low, high, step=1):
    import altair as alt

    if not (low <= value <= high and (value - low) % step == 0):
        raise ValueError(f"{name} must be one of {low}, {low + step}, ..., {high}; found {value}")
    return alt.param(name=name, value=value, bind=alt.binding_range(
        min=low, max=high, step=step, name=f"{label} "))


def _doublings(powers, *, start):
    return _slider("power", "attempts: 2 to the power of", start, powers[0], powers[-1])


def _select(name, label, options, value=None):
    import altair as alt

    return alt.param(name=name, value=options[0] if value is None else value,
                     bind=alt.binding_select(options=options, name=f"{label} "))


def _keyed(names, colors, dashes):
    """A function that gives lines their color, their dashes and their entry in the legend."""
    import altair as alt

    color, dash = (alt.Scale(domain=list(names), range=list(looks)) for looks in (colors, dashes))

    def key(chart, name):
        # A constant column: constants themselves may not bring a scale.
        return chart.transform_calculate(line=f"'{name}'").encode(
            alt.Color("line:N", scale=color), alt.StrokeDash("line:N", scale=dash))

    return key


def _words(chart, *lines):
    """The state in words above the axes, from expressions on a single row."""
    import altair as alt

    text = " + '\\n' + ".join(f"({line})" for line in lines)
    return chart.transform_calculate(words=text).mark_text(
        align="left", lineBreak="\n", lineHeight=LINE,
    ).encode(x=alt.value(0), y=alt.value(-LINE * len(lines)), text="words:N",
             ).properties(name="words")


def _powers(name, table, columns):
    """Exponents of the column ``attempts``; errors say what the table lacks."""
    missing = [column for column in ("attempts", *columns) if column not in table]
    if missing:
        raise ValueError(f"{name} must have the columns {', '.join(('attempts', *columns))}; "
                         f"{', '.join(missing)} not found")
    powers = np.log2(np.unique(table["attempts"]))
    if not powers.size or (powers != powers[0] + np.arange(powers.size)).any() or powers[0] % 1:
        raise ValueError(f"{name} must have attempts 1, 2, 4, ... without a gap; "
                         f"found {np.unique(table['attempts']).tolist()}")
    return powers.astype(int).tolist()


def _verdict(low, truth, high):
    return "below" if truth < low else "above" if high < truth else "inside"


def _figure(data, layers, params, *, height, powers=()):
    """Put layers over one source of rows, with its transforms."""
    import altair as alt

    controls = {"power": {"label": "attempts at each question",
                          "values": {str(p): f"{2**p:,}" for p in powers}}} if powers else {}
    chart = alt.layer(*layers, data=data.data, transform=data.transform, width=WIDTH,
                      height=height, autosize=alt.AutoSizeParams(type="pad", resize=True),
                      usermeta={"controls": controls, "embedOptions": {"actions": False}})
    spec = chart.add_params(*params).to_dict()
    return Figure({**spec, "$schema": SCHEMA, "config": CONFIG})
