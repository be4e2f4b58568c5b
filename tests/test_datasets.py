"""The data package is sound, and `bayeval.datasets` reads it faithfully."""

import csv
import gc
import gzip
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from frictionless import Package

import bayeval as bv
from bayeval import datasets

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
PACKAGE = json.loads((DATA / "datapackage.json").read_text(encoding="utf-8"))
RESOURCES = {resource["name"]: resource for resource in PACKAGE["resources"]}

# Rows of the table, models, questions, attempts, least and most attempts of a cell, empty cells.
SHAPES = {
    "aime_2025": (525, 16, 30, 1_920, 4, 4, 0),
    "aime_2025_i": (240, 16, 15, 960, 4, 4, 0),
    "aime_2025_ii": (285, 19, 15, 1_140, 4, 4, 0),
    "hmmt_feb_2025": (1_920, 64, 30, 7_680, 4, 4, 0),
    "codecontests": (700, 5, 140, 7_000_000, 10_000, 10_000, 0),
    "pythia_math": (896, 7, 128, 8_960_000, 10_000, 10_000, 0),
    "pythia_checkpoints": (19_370, 72, 258, None, 128, 3_720_320, 358),
    "pythia_checkpoints_math": (9_097, 72, 128, None, 128, 3_720_320, 119),
    "pythia_checkpoints_gsm8k": (10_273, 81, 130, None, 128, 2_980_608, 257),
    "bon_jailbreak_text": (1_113, 7, 159, None, 60, 10_020, 0),
    "livecodebench_v1": (18_000, 45, 400, 172_800, 1, 10, 0),
    "terminal_bench_trials": (6_199, 16, 74, 6_199, 1, 9, 0),
    "tau_bench_airline": (200, 1, 50, 200, 4, 4, 0),
    "aime_2025_q06_80_trials": (80, 1, 1, 80, 80, 80, 0),
}


def raw(name):
    """Read a file without pandas and without the package."""
    path = DATA / RESOURCES[name]["path"]
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def validate(folder):
    # frictionless leaves the files that it unpacks open.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        report = Package(str(folder / "datapackage.json")).validate()
        gc.collect()
    return report


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


# -- the package of tables ------------------------------------------------------------------


def test_package_is_valid(no_network):
    report = validate(DATA)
    assert report.valid, report.to_summary()
    assert len(report.tasks) == len(RESOURCES)


@pytest.mark.parametrize("name", ["tau_bench_airline", "terminal_bench_trials"])
def test_checksum_notices_a_changed_outcome(tmp_path, name):
    for file in DATA.iterdir():
        shutil.copy(file, tmp_path)
    path = tmp_path / RESOURCES[name]["path"]
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    changed = text.replace(b",1,0", b",1,1", 1)
    assert changed != text
    path.write_bytes(gzip.compress(changed, mtime=0) if path.suffix == ".gz" else changed)
    report = validate(tmp_path)
    assert "hash-count" in {error.type for task in report.tasks for error in task.errors}


def test_every_table_is_described_and_nothing_else():
    tables = {file.name for file in DATA.glob("*.csv*")}
    assert tables == {resource["path"] for resource in RESOURCES.values()}


def test_computed_entries_are_up_to_date():
    spec = importlib.util.spec_from_file_location(
        "describe_data", ROOT / "tools" / "describe_data.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.describe(PACKAGE) == PACKAGE
    assert (DATA / "LICENSES.md").read_text(encoding="utf-8") == tool.licenses(PACKAGE)


@pytest.mark.parametrize("name", RESOURCES)
def test_sources_licenses_and_caveats_are_stated(name):
    resource = RESOURCES[name]
    assert resource["title"]
    assert resource["description"]
    assert resource["caveats"]
    for license in resource["licenses"]:
        assert license["name"]
        assert license["title"]
        assert license["scope"]
        assert (
            license["path"].startswith("https://")
            if license["name"] != "none-stated"
            else "path" not in license
        )
    for source in resource["sources"]:
        assert source["title"]
        assert source["path"].startswith("https://github.com/")
    if name != "model_names":
        pinned = [s for s in resource["sources"] if "commit" in s]
        assert pinned
        for s in pinned:
            assert (
                s["path"] == f"https://github.com/{s['repository']}/blob/{s['commit']}/{s['file']}"
            )
    for field in resource["schema"]["fields"]:
        assert field["description"]


def test_licenses_that_bind_the_reader():
    named = {
        name: [entry["name"] for entry in resource["licenses"]]
        for name, resource in RESOURCES.items()
    }
    assert named["hmmt_feb_2025"] == ["CC-BY-NC-SA-4.0", "MIT"]
    assert named["livecodebench_v1"] == ["CC-BY-SA-4.0"]
    assert {name for name, of in named.items() if "none-stated" in of} == {
        "codecontests",
        "pythia_math",
        "pythia_checkpoints",
        "bon_jailbreak_text",
    }


def test_compressed_files_are_reproducible():
    for path in DATA.glob("*.gz"):
        header = path.read_bytes()[:10]
        assert header[4:8] == bytes(4), "no time stamp"
        assert not header[3] & 8, "no file name"


# -- loading ----------------------------------------------------------------------------------


def test_names_are_those_documented():
    assert datasets.names() == list(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name, no_network):
    rows, L, M, attempts, low, high, empty = SHAPES[name]
    o = datasets.load(name)
    n = o.n_trials
    assert len(datasets.frame(name)) == rows
    assert n.shape == (L, M) == (len(o.models), len(o.questions))
    assert attempts is None or n.sum() == attempts
    assert (n[n > 0].min(), n.max(), (n == 0).sum()) == (low, high, empty)
    assert o.is_binary
    assert o.single == (L == 1)
    assert np.all(o.coverage == 1)
    assert all(isinstance(label, str) for label in o.models + o.questions)


@pytest.mark.parametrize("name", [n for n in RESOURCES if n != "model_names"])
def test_counts_by_model_match_the_file(name):
    tried, solved = Counter(), Counter()
    for row in raw(name):
        key = row["benchmark"], row["model"]
        tried[key] += int(row.get("n_trials", 1))
        solved[key] += int(row.get("n_success", row.get("outcome")))
    parts = RESOURCES[name].get("parts") or [{"name": name, "benchmark": raw(name)[0]["benchmark"]}]
    seen = set()
    for part in parts:
        o = datasets.load(part["name"])
        for model, n, s in zip(
            o.models, o.n_trials.sum(axis=1), o.successes.sum(axis=1), strict=True
        ):
            seen.add((part["benchmark"], model))
            assert (n, s) == (tried[part["benchmark"], model], solved[part["benchmark"], model])
    assert seen == set(tried)


@pytest.mark.parametrize("name", ["aime_2025", "pythia_checkpoints"])
def test_a_set_is_its_parts_side_by_side(name):
    whole = datasets.load(name)
    for part in RESOURCES[name]["parts"]:
        o = datasets.load(part["name"])
        same = whole.select(questions=[f"{part['label']}/{q}" for q in o.questions])
        np.testing.assert_array_equal(same.counts, o.select(models=list(whole.models)).counts)
    parts = [set(datasets.load(part["name"]).models) for part in RESOURCES[name]["parts"]]
    assert set(whole.models) == set.intersection(*parts)


@pytest.mark.parametrize("name", ["hmmt_feb_2025", "terminal_bench_trials"])
def test_a_cell_is_where_its_labels_say(name):
    o, table = datasets.load(name), datasets.frame(name)
    cells = table.groupby(["model", "question"])[
        "n_success" if "n_success" in table else "outcome"
    ].sum()
    for model, question in [
        (o.models[0], o.questions[-1]),
        (o.models[-1], o.questions[0]),
        (o.models[7], o.questions[11]),
    ]:
        assert (
            o.select(models=model, questions=[question]).successes.item() == cells[model, question]
        )


@pytest.mark.parametrize("name", RESOURCES)
def test_frame_has_the_documented_types_and_all_values(name):
    table, rows = datasets.frame(name), raw(name)
    fields = RESOURCES[name]["schema"]["fields"]
    assert list(table.columns) == [f["name"] for f in fields]
    kinds = {
        "string": pd.api.types.is_string_dtype,
        "yearmonth": pd.api.types.is_datetime64_any_dtype,
        "integer": lambda dtype: dtype == "int64",
        "number": lambda dtype: dtype == "float64",
    }
    for f in fields:
        column = table[f["name"]]
        assert kinds[f["type"]](column.dtype)
        missing = f.get("missingValues", [""])
        text = column.dt.strftime("%Y-%m") if f["type"] == "yearmonth" else column
        for value, row in zip(text.iloc[::37], rows[::37], strict=True):
            given = row[f["name"]]
            if given in missing:
                assert pd.isna(value)
            else:
                assert value == type(value)(given)
    if "n_trials" in table:
        assert (table["n_success"] <= table["n_trials"]).all()


@pytest.mark.parametrize("function", [datasets.load, datasets.frame, datasets.card, datasets.path])
def test_unknown_name_is_answered_with_the_names(function):
    with pytest.raises(
        ValueError,
        match=r"name must be one of 'aime_2025'.*'aime2025'"
        r"; did you mean 'aime_2025'\?$",
    ):
        function("aime2025")
    with pytest.raises(ValueError, match=r"found 3$"):
        function(3)


def test_a_table_without_outcomes_does_not_load():
    with pytest.raises(ValueError, match="'model_names' is a table without outcomes"):
        datasets.load("model_names")


@pytest.mark.parametrize("name", [*SHAPES, "model_names"])
def test_card(name):
    card = datasets.card(name)
    assert card.path == datasets.path(name)
    assert card.path.is_file()
    text, page = str(card), card._repr_html_()
    assert f"({name})" in text
    for entry in card.sources + card.licenses:
        assert entry["title"] in text
        assert entry.get("path", "") in text + page
    assert page.count("<tr>") == page.count("</tr>") >= 5
    assert "<h" not in page, "headings of a card would break the outline of the page"


# -- facts that the descriptions state ----------------------------------------------------------


def test_shared_models_of_aime_and_hmmt():
    names = datasets.frame("model_names")
    hmmt, aime = names["hmmt_feb_2025"], names["aime_2025"]
    assert hmmt.is_unique
    assert aime.is_unique
    assert set(hmmt) <= set(datasets.load("hmmt_feb_2025").models)
    # Every AIME model was run on HMMT as well, three of them on part II only.
    assert set(aime) == set(datasets.load("aime_2025_ii").models)
    assert len(set(aime) - set(datasets.load("aime_2025").models)) == 3
    # No model stands under the same name in both and means different things.
    shared = set.intersection(*(set(datasets.frame(name)["model"]) for name in names))
    assert shared == set(aime[aime == hmmt])


def test_shared_models_do_alike_on_both():
    names = datasets.frame("model_names").set_index("aime_2025")["hmmt_feb_2025"]
    aime, hmmt = datasets.load("aime_2025"), datasets.load("hmmt_feb_2025")
    a = pd.Series(bv.avg(aime), aime.models)
    h = pd.Series(bv.avg(hmmt), hmmt.models)[names[a.index]]
    assert np.corrcoef(a, h)[0, 1] > 0.95


def test_pass_hat_k_of_tau_bench():
    published = [0.42, 0.273, 0.22, 0.20]
    o = datasets.load("tau_bench_airline")
    np.testing.assert_allclose(bv.pass_hat_k(o, [1, 2, 3, 4]), published, atol=5e-4)


def test_most_common_answer_of_the_80_trials_is_wrong():
    table = datasets.frame("aime_2025_q06_80_trials")
    answers = table.groupby("answer_id").agg(n=("outcome", "size"), right=("outcome", "mean"))
    assert answers.loc[1].tolist() == [34, 0]
    assert answers.loc[2].tolist() == [32, 1]
    assert answers["n"].is_monotonic_decreasing
    assert answers.loc[3:, "right"].eq(0).all()


def test_jailbreak_sampling_stopped_at_the_first_success():
    table = datasets.frame("bon_jailbreak_text")
    n, s = table["n_trials"], table["n_success"]
    assert (n % 60 == 0).all()
    assert n.max() == 167 * 60
    # All successes lie in the last batch of 60, and only complete failures ran to the end.
    assert s.max() <= 60
    assert (n[s == 0] == n.max()).all()


def test_checkpoints_as_described():
    math = datasets.load("pythia_checkpoints_math")
    never = (math.successes.sum(axis=1) == 0).mean()
    assert 0.4 < never < 0.5
    assert not any(model.endswith("_512M") for model in math.models)
    for part, full, ran in [("math", 128, 9), ("gsm8k", 128, 30)]:
        o = datasets.load(f"pythia_checkpoints_{part}")
        tried = dict(zip(o.models, (o.n_trials > 0).sum(axis=1), strict=True))
        assert [m for m, n in tried.items() if n < full] == ["Pythia_12B_2M"]
        assert tried["Pythia_12B_2M"] == ran
    assert sorted(n for n in tried.values() if n > 128) == [129, 130]
    both = set(math.questions) & set(datasets.load("pythia_math").questions)
    assert len(both) == 2


def test_token_counts_that_are_no_counts():
    hmmt = datasets.frame("hmmt_feb_2025")
    lost = hmmt["mean_output_tokens"].isna()
    assert set(hmmt.loc[lost, "model"]) == {"K2-Think"}
    assert lost.sum() == 30
    least = hmmt.loc[hmmt["mean_output_tokens"].idxmin()]
    assert least["model"] == "gemini-2.0-flash-thinking"
    assert least["mean_output_tokens"] == 12
    trials = datasets.frame("terminal_bench_trials")
    silent = trials[trials["output_tokens"] == 0]
    assert 0 < len(silent) < 20
    assert (silent["outcome"] == 0).all()
    assert silent["execution_time_s"].min() >= 720


def test_extremes_of_codecontests():
    o = datasets.load("codecontests")
    assert ((o.successes == 0).sum(axis=1) > o.n_questions / 2).all()
    always = np.argwhere(o.successes == o.n_trials)
    assert [o.models[model] for model, _ in always] == ["Llama 3 70B Instruct"] * 2


# -- where it is used -----------------------------------------------------------------------------


def test_the_page_offers_every_table():
    page = (ROOT / "appendix" / "datasets.md").read_text(encoding="utf-8")
    for name in RESOURCES:
        assert f'offer("{name}")' in page, name


def test_an_installed_wheel_carries_the_tables(tmp_path):
    build = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [
            *build,
            "wheel",
            str(ROOT),
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--quiet",
            "--wheel-dir",
            str(tmp_path),
        ],
        check=True,
    )
    (wheel,) = tmp_path.glob("bayeval-*.whl")
    site = tmp_path / "site"
    subprocess.run(
        [
            *build,
            "install",
            "--no-deps",
            "--no-index",
            "--quiet",
            "--target",
            str(site),
            str(wheel),
        ],
        check=True,
    )
    code = (
        "from bayeval import datasets as d\n"
        "for name in d.names():\n"
        "    o = d.load(name)\n"
        "    print(name, d.path(name), o.n_trials.sum(), o.successes.sum())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        check=True,
        text=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(site)},
    ).stdout
    lines = [line.split() for line in printed.splitlines()]
    assert [line[0] for line in lines] == datasets.names()
    for name, path, n, s in lines:
        assert Path(path).is_relative_to(site)
        assert Path(path).read_bytes() == datasets.path(name).read_bytes()
        o = datasets.load(name)
        assert (int(n), int(s)) == (o.n_trials.sum(), o.successes.sum())
