"""Figures to play with: their numbers, and how the built pages show them in a browser."""

import json
import re
import subprocess
import sys

import bs4
import numpy as np
import pandas as pd
import pytest
import vl_convert
from browsing import AXE, Visit, axe
from conftest import ROOT, missing
from scipy import stats

import bayeval as bv
from bayeval.plotting import _style, interactive

MARK = "script.interactive"
# Each figure of the book, and its page.
FIGURES = {
    "fig-passk-play": "chapters/01-passk-pitfalls.html",
    "fig-dir-play": "chapters/02-dirichlet-posterior.html",
    "fig-rank-grow": "chapters/03-credible-ranking.html",
    "fig-fc-grow": "chapters/10-beta-binomial-forecasting.html",
}


def growing():
    """A small table for the growing board: two attempts or four, two boards, two priors."""
    o = bv.datasets.load("aime_2025")
    parts = []
    for data, models in {"first": o.models[:3], "second": o.models[3:8]}.items():
        for n in (2, 4):
            kept = bv.simulate.subsample(o.select(models=models), n, rng=1)
            for prior in ("uniform", "learned"):
                board = bv.leaderboard(kept, prior=prior).rename_axis("model").reset_index()
                parts.append(board.assign(data=data, prior=prior, attempts=n, truth=board["score"]))
    return pd.concat(parts)


def forecasting():
    rows = [
        (m, n, k, 0.1 * k, 0.05 * k, 0.2 * k, 0.1 * k + shift)
        for m, shift in (("A", 0), ("B", 0.5))
        for n in (1, 2, 4)
        for k in (1, 2, 4)
    ]
    columns = ["model", "attempts", "k", "mean", "low", "high", "truth"]
    return pd.DataFrame(rows, columns=columns)


MAKERS = {
    "prior": lambda: interactive.prior_and_data(2, 3, a=6, b=2),
    "board": lambda: interactive.growing_board(growing()),
    "forecasts": lambda: interactive.forecasts(forecasting()),
    "curves": lambda: interactive.passk_curves(bv.datasets.load("aime_2025")),
}


@pytest.fixture(scope="module", params=MAKERS)
def made(request):
    return MAKERS[request.param]()


def words(svg):
    """The state in words: the lines of the text with more than one line."""
    texts = bs4.BeautifulSoup(svg, "html.parser").find_all("text")
    (lines,) = [t.find_all("tspan") for t in texts if t.find_all("tspan")]
    return [line.get_text() for line in lines]


# --- Without a browser -----------------------------------------------------------------------


def test_front_ends_are_offered_the_chart_and_its_picture(made):
    bundle = made._repr_mimebundle_()
    # With HTML among them JupyterLab would not show the chart.
    assert set(bundle) == {interactive.MIME_TYPE, "image/svg+xml", "text/plain"}
    assert json.loads(json.dumps(bundle[interactive.MIME_TYPE])) == made.spec
    assert len(bundle["text/plain"]) < 100
    assert len(words(bundle["image/svg+xml"])) >= 2


def test_jupyterlab_knows_the_kind_of_chart():
    static = ROOT.joinpath(sys.prefix, "share", "jupyter", "lab", "static")
    if not static.is_dir():
        missing("JupyterLab is not installed: its renderers were not looked at.")
    core = next(static.glob("jlab_core.*.js")).read_text(encoding="utf-8")
    assert interactive.MIME_TYPE in core


def test_older_vega_lite_draws_the_same(made):
    """JupyterLab compiles charts with an older version than the book's pages."""
    old = vl_convert.vegalite_to_svg(json.dumps(made.spec), vl_version="5.8")
    assert words(old) == words(made.svg())


def test_no_chart_asks_another_host(made):
    data = {key: value for key, value in made.spec.items() if key != "$schema"}
    assert "://" not in json.dumps(data)
    assert made.spec["usermeta"]["embedOptions"] == {"actions": False}


def test_colors_are_those_of_all_figures_and_have_a_match_in_the_dark():
    for name in ("BLUE", "ORANGE", "GRAY"):
        assert getattr(interactive, name) == getattr(_style, name).lower()
    style = (ROOT / "_static" / "interactive.css").read_text(encoding="utf-8")
    for maker in MAKERS.values():
        for color in re.findall(r'(?:fill|stroke)="(#\w+)"', maker().svg()):
            assert re.search(rf'\[data-theme="dark"\].*"{color}"\]', style), color


def test_nothing_is_drawn_before_it_is_asked_for():
    code = "import bayeval.plotting.interactive, sys; print('altair' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
    assert run.stderr == ""


def test_growing_board_counts_what_the_table_says():
    boards = growing()
    start = boards[(boards["data"] == "first") & (boards["prior"] == "uniform")]
    start = start[start["attempts"] == 4]
    (_, first, held) = words(interactive.growing_board(boards).svg())
    assert first.startswith(f"{(start['rank_low'] == 1).sum()} of 3 may be first")
    assert held.startswith("3 of 3 intervals hold")


def test_forecasts_say_where_the_truth_lies():
    table = forecasting()
    lines = words(interactive.forecasts(table).svg())
    assert lines == [
        "From 2 attempts at each question",
        "Pass@4: 0.40, 90% interval 0.20 to 0.80",
        "Truth: 0.40, inside the interval",
    ]
    lines = words(interactive.forecasts(table[table["model"] == "B"]).svg())
    assert lines[2] == "Truth: 0.90, above the interval"


def test_curves_rank_models_as_pass_at_k_does():
    o = bv.datasets.load("aime_2025")
    pair = o.models[5], o.models[2]
    scores = bv.pass_at_k(o, 1)
    lines = words(interactive.passk_curves(o, pair=pair).svg())
    for line, name in zip(lines[1:], pair, strict=True):
        score = scores[o.models.index(name)]
        assert line == f"{name}: {score:.3f}, rank {1 + (scores > score).sum()} of 16"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interactive.prior_and_data(2, 81), "wrong must be one of 0, 1, ..., 80; found 81"),
        (lambda: interactive.prior_and_data(2, 3, a=0.7), "a must be one of 0.5, 1.0, ..., 20"),
        (lambda: interactive.forecasts(forecasting().drop(columns="low")), "low not found"),
        (lambda: interactive.forecasts(forecasting().query("attempts != 2")), r"found \[1, 4\]"),
        (lambda: interactive.growing_board(growing().assign(attempts=3)), r"found \[3\]"),
        (
            lambda: interactive.passk_curves(bv.datasets.load("aime_2025"), pair=("A", "B")),
            "pair must be",
        ),
        (
            lambda: interactive.passk_curves(bv.datasets.load("livecodebench_v1")),
            "same attempts at every question; found 45 with 1 to 10",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- In the built pages ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def parsed(site):
    pages = {
        page.relative_to(site).as_posix(): page.read_text("utf-8")
        for page in site.rglob("*.html")
        if page.relative_to(site).parts[0] != "_static"
    }
    return {
        name: bs4.BeautifulSoup(text, "html.parser")
        for name, text in pages.items()
        if 'class="interactive"' in text
    }


def test_every_figure_is_tested_and_has_its_words(parsed):
    found = {}
    for name, html in parsed.items():
        for source in html.select(MARK):
            figure = source.find_parent("figure")
            found[figure["id"]] = name
            assert len(figure.select_one("img")["alt"].split()) > 10
            assert figure.select_one("figcaption .caption-number")
            assert figure.select_one("figcaption .caption-text")
    assert found == FIGURES


def test_figures_are_light(site, parsed):
    for name, html in parsed.items():
        weight = sum(len(source.get_text()) for source in html.select(MARK))
        assert weight < 300_000, name
    assert (site / "_static" / "vega.js").stat().st_size < 1_000_000


class Shown:
    """A page with one figure in view, and everything that was asked for on the way."""

    def __init__(self, browser, server, name):
        self.visit = Visit(browser, server, viewport={"width": 1280, "height": 900})
        self.page = self.visit.page
        self.asked = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.visit.open(FIGURES[name])
        self.before = list(self.asked)
        self.figure = self.page.locator(f"#{name}")
        self.figure.scroll_into_view_if_needed()
        self.page.wait_for_selector(f"#{name}.has-chart")
        self.chart = self.figure.locator(".interactive-chart svg")
        self.controls = self.figure.locator(".interactive-controls :is(input, select)")

    def words(self):
        lines = self.chart.locator(".words_marks tspan")
        return lines.evaluate_all("lines => lines.map(line => line.textContent)")

    def control(self, label):
        """The slider or the selection that a screen reader calls so."""
        return self.figure.get_by_role("slider", name=label, exact=True).or_(
            self.figure.get_by_role("combobox", name=label, exact=True)
        )

    def press(self, label, key, times=1):
        """Press a key on the control with this label; the chart has followed on return."""
        control = self.control(label)
        control.focus()
        for _ in range(times):
            self.page.keyboard.press(key)
        # Two frames: the chart computes after the event.
        self.page.evaluate(
            "new Promise(done => requestAnimationFrame("
            "() => requestAnimationFrame(() => setTimeout(done, 50))))"
        )


@pytest.fixture(scope="module", params=FIGURES)
def shown(browser, server, request):
    shown = Shown(browser, server, request.param)
    yield shown
    shown.visit.context.close()


def test_chart_takes_the_place_of_the_picture(shown):
    assert shown.chart.is_visible()
    assert not shown.figure.locator("img").is_visible()
    alt = shown.figure.locator("img").get_attribute("alt")
    assert shown.figure.locator("[role=graphics-document]").get_attribute("aria-label") == alt
    assert shown.visit.errors == []
    assert shown.visit.foreign == []


def test_library_is_loaded_when_the_figure_comes_into_view(shown):
    library = [url for url in shown.asked if "vega" in url]
    assert len(library) == 1
    assert library[0] not in shown.before


def test_every_control_has_a_name_and_moves_the_chart(shown):
    for i in range(shown.controls.count()):
        control = shown.controls.nth(i)
        label = control.evaluate("input => input.labels[0].querySelector('span').textContent")
        assert label.strip()
        before = shown.chart.inner_html()
        down = control.evaluate("input => input.type !== 'range' || input.value !== input.max")
        if control.evaluate("input => input.tagName") == "SELECT":
            last = control.evaluate("s => s.selectedIndex === s.options.length - 1")
            key = "ArrowUp" if last else "ArrowDown"
        else:
            key = "ArrowRight" if down else "ArrowLeft"
        shown.press(label.strip(), key)
        assert shown.chart.inner_html() != before, label
    assert shown.visit.errors == []


def test_state_is_read_out_after_a_move(shown):
    slider = shown.figure.locator("input[type=range]").first
    label = slider.evaluate("input => input.labels[0].querySelector('span').textContent")
    shown.press(label.strip(), "ArrowRight")
    status = shown.figure.locator("[role=status]")
    shown.page.wait_for_function("status => status.textContent", arg=status.element_handle())
    assert status.inner_text() == ". ".join(shown.words())


def test_slider_of_powers_says_what_it_stands_for(shown):
    slider = shown.figure.locator("input[name=power]")
    if slider.count():
        value = 2 ** int(slider.input_value())
        assert slider.get_attribute("aria-valuetext") == f"{value:,}"
        assert any(f" {value:,} attempt" in line for line in shown.words())


# Text against the page, and marks against it, as WCAG computes contrast; a translucent or hidden
# mark is not one that must be told apart.
CONTRAST = """chart => {
    const light = color => {
        const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(x => x / 255).map(
            x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let page = chart;
    while (getComputedStyle(page).backgroundColor === "rgba(0, 0, 0, 0)") page = page.parentElement;
    const base = light(getComputedStyle(page).backgroundColor);
    const ratio = color => {
        const [a, b] = [light(color), base].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    };
    const poor = [];
    for (const text of chart.querySelectorAll("text")) {
        const value = ratio(getComputedStyle(text).fill);
        if (value < 4.5) poor.push(`${text.textContent}: ${value}`);
    }
    for (const mark of chart.querySelectorAll("[stroke-width='2.5'], [stroke-width='3']")) {
        const { stroke } = getComputedStyle(mark);
        if (stroke !== "none" && ratio(stroke) < 3) poor.push(`${stroke}: ${ratio(stroke)}`);
    }
    return poor;
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_chart_is_legible_and_accessible(shown, mode):
    page = shown.page
    page.evaluate(
        """mode => {
            document.documentElement.dataset.theme = mode;
            document.documentElement.dataset.mode = mode;
        }""",
        mode,
    )
    page.wait_for_timeout(400)  # colors change gradually
    assert shown.chart.locator("xpath=..").evaluate(CONTRAST) == []
    page.evaluate(AXE)
    serious = axe(page, {"include": [f"#{shown.figure.get_attribute('id')}"]}, {})
    assert not serious, "\n".join(serious)


def test_chart_fits_a_phone(shown):
    page, outside = shown.page, "texts => texts.filter(text => !inside(text)).map(t => t.innerHTML)"
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate(
        """() => window.inside = text => {
            const { left, right } = text.getBoundingClientRect();
            return left >= 0 && right <= 390;
        }"""
    )
    for select in shown.figure.locator("select").all():
        for value in select.locator("option").evaluate_all("all => all.map(o => o.value)")[-2:]:
            select.select_option(value)
            page.wait_for_timeout(300)
            assert shown.chart.locator("text").evaluate_all(outside) == []
    page.wait_for_timeout(300)
    assert shown.chart.locator("text").evaluate_all(outside) == []
    assert shown.chart.bounding_box()["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})


def test_paper_shows_the_picture(shown):
    shown.page.emulate_media(media="print")
    assert shown.figure.locator("img").is_visible()
    assert not shown.chart.is_visible()
    shown.page.emulate_media(media="screen")
    assert shown.chart.is_visible()


@pytest.mark.parametrize("name", FIGURES)
def test_picture_is_there_without_scripts(browser, server, name):
    visit = Visit(browser, server, java_script_enabled=False)
    visit.page.goto(f"{server}/{FIGURES[name]}", wait_until="load")
    picture = visit.page.locator(f"#{name} img")
    picture.scroll_into_view_if_needed()
    assert picture.is_visible()
    assert picture.bounding_box()["height"] > 150
    assert not visit.page.locator(f"#{name} .interactive-chart").count()
    visit.context.close()


def test_page_opened_from_disk_has_its_chart(browser, site):
    name, path = next(iter(FIGURES.items()))
    page = browser.new_page()
    page.goto((site / path).as_uri(), wait_until="load")
    page.locator(f"#{name}").scroll_into_view_if_needed()
    page.wait_for_selector(f"#{name}.has-chart")
    page.close()


@pytest.fixture(scope="module")
def posterior(browser, server):
    shown = Shown(browser, server, "fig-dir-play")
    yield shown
    shown.visit.context.close()


@pytest.mark.parametrize(
    ("a", "b", "right", "wrong"),
    [
        (1, 1, 0, 0),
        (0.5, 0.5, 0, 0),
        (0.5, 0.5, 0, 80),
        (0.5, 20, 3, 1),
        (20, 20, 80, 80),
        (1, 1, 32, 48),
        (6, 2, 2, 3),
    ],
)
def test_posterior_of_the_chart_is_exact(posterior, a, b, right, wrong):
    settings = {
        "prior count of right, a": a,
        "prior count of wrong, b": b,
        "right answers": right,
        "wrong answers": wrong,
    }
    for label, value in settings.items():
        posterior.control(label).fill(str(value))
    law = stats.beta(a + right, b + wrong)
    low, high = law.interval(0.95)
    expected = f"Posterior mean {law.mean():.3f}, 95% interval {low:.3f} to {high:.3f}"
    lines = posterior.chart.locator(".words_marks")
    lines.filter(has_text=f"{law.mean():.3f}").wait_for()
    numbers = [re.findall(r"\d\.\d+", text) for text in (posterior.words()[1], expected)]
    assert np.abs(np.subtract(*np.array(numbers, dtype=float))).max() <= 0.00101
    if min(a, b, a + right, b + wrong) >= 1:  # else a density is infinite somewhere
        laws = stats.beta([a, right + 1, a + right], [b, wrong + 1, b + wrong])
        p = np.linspace(0.001, 0.999, 1999)[:, None]
        densities = laws.pdf(p)
        height = np.ptp(densities[:, 2]) / (1.05 * densities.max()) * 230
        box = posterior.chart.locator(".mark-line path").last
        assert box.evaluate("path => path.getBBox().height") == pytest.approx(height, abs=1.5)
