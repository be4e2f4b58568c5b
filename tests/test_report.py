"""The report: its numbers are those of the package, and a page of it is safe and whole."""

import base64
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from bs4 import BeautifulSoup
from conftest import missing
from made_logs import inspect_logs
from playwright.sync_api import sync_playwright

import bayeval as bv
from bayeval._text import clean, number, percent, probability_text, table_text

HOSTILE = ["<script>window.hacked = 1</script>", "<img src=x onerror='window.hacked=1'>",
           "$\\frac{$ _x_ ${{7*7}}", "=HYPERLINK(\"http://evil.example\")", "\x1b[31mred\x07",
           "模型 β \u202eabc", "x" * 300]


@pytest.fixture(scope="module")
def aime():
    o = bv.datasets.load("aime_2025")
    return o, bv.report(o, pass_k=[1, 4, 16])


@pytest.fixture(scope="module")
def dirty():
    """Seven models of hostile names, errors, missing attempts."""
    rng = np.random.default_rng(5)
    planned = np.full((len(HOSTILE), 12), 5)
    scored = planned - rng.integers(0, 3, planned.shape)
    return bv.Outcomes.from_counts(rng.binomial(scored, 0.5), scored, models=HOSTILE,
                                   planned=planned)


# -- numbers --------------------------------------------------------------------------------------


def test_the_board_is_the_leaderboard_with_more_columns(aime):
    o, r = aime
    board = bv.leaderboard(o, prior="learned")
    pd.testing.assert_frame_equal(r.board[board.columns], board)
    best = bv.rank_probabilities(bv.posterior(o, prior="learned"))[1]
    assert np.allclose(r.board["best"], best[r.board.index])
    assert np.allclose(r.board["avg"], pd.Series(bv.avg(o), o.models)[r.board.index])


def test_every_pair_stands_once_with_both_probabilities(aime):
    o, r = aime
    L = o.n_models
    assert len(r.pairs) == L * (L - 1) // 2
    assert len({frozenset(pair) for pair in zip(r.pairs["better"], r.pairs["worse"])}) == \
        len(r.pairs)
    here = bv.superiority(o, paired=False, prior="learned")
    there = bv.superiority(o)
    for pair in r.pairs.itertuples():
        assert pair.probability == pytest.approx(here.loc[pair.better, pair.worse])
        assert pair.population == pytest.approx(there.loc[pair.better, pair.worse])
    assert (r.pairs["settled"] == (r.pairs["probability"] >= 0.95)).all()
    assert (r.pairs["gap"] >= 0).all()


def test_plans_are_those_of_the_design(aime):
    o, r = aime
    question = pd.Series(list(bv.posterior(o, prior="learned").question_mean), o.models)
    assert 0 < len(r.plans) <= 5
    neighbors = list(zip(r.board.index, r.board.index[1:]))
    for plan in r.plans.itertuples():
        assert (plan.better, plan.worse) in neighbors
        needed = bv.design.plan_trials(question[plan.better], question[plan.worse], power=0.8)
        assert plan.needed == needed.n_trials
        assert plan.more == max(0, needed.n_trials - 4)


def test_pass_at_k_is_the_forecast_and_the_estimate_where_there_is_one(aime):
    o, r = aime
    with pytest.warns(bv.ForecastWarning):
        f = bv.forecast(o, [1, 4, 16])
    table = r.passes.pivot(index="model", columns="k", values="mean").loc[list(o.models)]
    assert np.allclose(table, f.mean)
    estimate = r.passes.pivot(index="model", columns="k", values="estimate").loc[list(o.models)]
    assert np.allclose(estimate[4], bv.pass_at_k(o, 4))
    assert estimate[16].isna().all()
    assert any("the forecast leans on its prior" in note for note in r.notes)


def test_bounds_hold_what_the_missing_attempts_could_be(dirty):
    r = bv.report(dirty)
    low, high = (bv.avg(dirty.missing_as(x)) for x in ("wrong", "right"))
    assert np.allclose(r.board.loc[HOSTILE, "if_wrong"], low)
    assert np.allclose(r.board.loc[HOSTILE, "if_right"], high)
    assert (r.board["if_wrong"] <= r.board["if_right"]).all()
    assert "planned attempts are missing" in r.sentence


def test_close_models_are_called_so():
    """Ten copies of one model, and ten models that differ."""
    p = np.random.default_rng(1).beta(0.7, 0.7, 30)
    copies, apart = (bv.simulate.coin_flips(np.clip(p + gap, 0, 1), 4, rng=2)
                     for gap in (np.zeros((10, 1)), np.linspace(-0.4, 0.4, 10)[:, None]))
    assert any("the models are close" in note for note in bv.report(copies).notes)
    assert not any("close" in note for note in bv.report(apart).notes)
    assert not any("close" in note for note in bv.report(copies.select(
        models=list(copies.models[:2]))).notes)


def test_errors_that_count_as_failures_are_in_the_sentence():
    logs = inspect_logs() / "eval"
    missing, failed = (bv.report(bv.read(logs, errors=e, quiet=True))
                       for e in ("missing", "failed"))
    assert "attempts that ended in an error, 4, count as failures" in failed.sentence
    assert "4 of 48 planned attempts are missing" in missing.sentence
    first = missing.board.iloc[0]
    assert f"rank set is 1 to {int(first['rank_high'])} of 2, it is the best" in missing.sentence
    assert "count as failures" not in missing.sentence


def test_a_pair_that_missing_attempts_could_turn_is_called_so():
    """B led by what is gone: its errors could all have been wrong answers."""
    a, b, c = [8] * 20, [6] * 20, [1] * 20
    o = bv.Outcomes.from_counts([a, b, c], [[10] * 20, [6] * 20, [10] * 20],
                                models=["A", "B", "C"], planned=[[10] * 20] * 3)
    pairs = bv.report(o).pairs.set_index(["better", "worse"])
    assert pairs["settled"].all()
    assert pairs["robust"].to_dict() == {("B", "A"): False, ("B", "C"): True, ("A", "C"): True}
    assert any("turn the order of avg@N: 1 of 3" in note for note in bv.report(o).notes)
    whole = bv.report(o.missing_as("wrong"))
    assert whole.pairs["robust"].all()


def test_one_model_and_a_rubric():
    r = bv.report(bv.datasets.load("tau_bench_airline"))
    assert len(r.pairs) == len(r.plans) == 0
    assert r.board.shape[0] == 1
    assert "best of" not in r.sentence
    assert r.to_html()
    o = bv.Outcomes.from_category_counts(
        np.random.default_rng(1).multinomial(6, [0.3, 0.3, 0.4], (2, 9)))
    with pytest.raises(ValueError, match="weights are needed"):
        bv.report(o)
    r = bv.report(o, weights=[0, 0.5, 1])
    assert r.board["score"].between(0, 1).all()
    assert len(r.passes) == 0
    assert "rubric" in r.assumptions[0]
    with pytest.raises(ValueError, match="pass_k needs right and wrong"):
        bv.report(o, weights=[0, 0.5, 1], pass_k=4)
    with pytest.raises(ValueError, match="'m2' has no scored attempt"):
        bv.report(bv.Outcomes.from_counts([[1, 1], [0, 0]], [[1, 1], [0, 0]]))


def test_words_for_numbers_never_claim_certainty():
    assert [percent(x) for x in (1.0, 0.99999, 0.5, np.nan)] == ["100 %", "99.9 %", "50.0 %", "–"]
    assert probability_text(1.0) == "> 0.999"
    assert probability_text(0.0) == "< 0.001"
    assert number(None) == "–"


def test_labels_that_a_spreadsheet_would_run():
    for bad in ("=1+1", "+1+1", "@SUM(A1)", "-2+3", " =1", "\t=1", "\n=1"):
        assert table_text(bad) == f"'{bad}"
    for good in ("gpt-4", "-0.5", "1e5", "a=b", ""):
        assert table_text(good) == good


# -- JSON and the page -----------------------------------------------------------------------------


def test_json_is_strict_and_holds_every_number(aime):
    o, r = aime

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    data = json.loads(r.to_json(), parse_constant=refuse)
    assert data["schema"] == 1
    assert [row["model"] for row in data["board"]] == list(r.board.index)
    assert data["board"][0]["score"] == r.board["score"].iloc[0]
    assert len(data["pairs"]) == len(r.pairs)
    assert {row["estimate"] for row in data["passes"] if row["k"] == 16} == {None}
    assert data["models"] == o.n_models


def test_the_page_holds_the_numbers_and_asks_nothing_of_the_network(aime):
    _, r = aime
    html = r.to_html()
    page = BeautifulSoup(html, "html.parser")
    rows = page.select("h2#models + div tbody tr")
    assert [row.th.get_text() for row in rows] == list(r.board.index)
    assert number(r.board["score"].iloc[0]) in rows[0].get_text()
    assert r.sentence in page.get_text()
    assert len(page.select("figure img[alt]")) == 2
    sources = [tag[key] for tag in page.find_all() for key in ("src", "href") if tag.get(key)]
    assert all(source.startswith("data:") for source in sources)
    assert not page.select("script, link, iframe, object, form")
    assert "default-src 'none'" in page.select_one("meta[http-equiv]")["content"]


def test_hostile_names_are_text_on_the_page_and_in_the_figures(dirty):
    page = BeautifulSoup(bv.report(dirty).to_html(), "html.parser")
    shown = [row.th.get_text() for row in page.select("h2#models + div tbody tr")]
    assert set(shown) == set(map(clean, HOSTILE))
    assert not page.select("script")
    for image in page.select("figure img"):
        svg = base64.b64decode(image["src"].split(",")[1]).decode()
        assert "<script" not in svg
        assert "onerror" not in re.sub(r"<!--.*?-->", "", svg)


def test_the_page_in_a_browser(dirty, aime, tmp_path):
    """Nothing runs, nothing is fetched, it fits a phone, and it can be read by all."""
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("Chromium is not installed: the page was not opened.")
    for name, r in (("dirty", bv.report(dirty)), ("aime", aime[1])):
        (tmp_path / f"{name}.html").write_text(r.to_html(), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        asked, errors, serious = [], [], []
        for name in ("dirty", "aime"):
            for scheme, width in (("light", 1280), ("dark", 390)):
                context = browser.new_context(viewport={"width": width, "height": 800},
                                              color_scheme=scheme, bypass_csp=True)
                page = context.new_page()
                page.on("request", lambda request: asked.append(request.url))
                page.on("console", lambda message: errors.append(message.text)
                        if message.type == "error" else None)
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.goto((tmp_path / f"{name}.html").as_uri(), wait_until="load")
                assert page.evaluate("window.hacked") is None
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
                assert page.evaluate("[...document.images].every(i => i.naturalWidth > 0)")
                with open(AXE_FILE_PATH, encoding="utf-8") as file:
                    page.evaluate(file.read())
                found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
                serious += [v["id"] for v in found["violations"]
                            if v["impact"] in ("serious", "critical")]
                context.close()
        browser.close()
    assert errors == []
    assert serious == []
    assert {url.split(":")[0] for url in asked} <= {"file", "data"}
