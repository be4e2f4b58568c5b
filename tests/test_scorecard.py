"""The scorecard: each claim has a number, a place and a verdict, and no sentence goes stale."""

import json
import shutil
import tomllib

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from myst_nb.core.read import read_myst_markdown_notebook
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CLAIMS = tomllib.loads((ROOT / "chapters" / "14-claims.toml").read_text(encoding="utf-8"))
VERDICTS = {"reproduced", "reproduced in direction", "not reproduced", "not testable"}


@pytest.fixture(scope="module")
def rows(site):
    return json.loads((site / "chapters" / "scorecard.json").read_text())["claims"]


def test_every_claim_is_on_the_card(rows):
    assert [row["id"] for row in rows] == list(CLAIMS)
    for row in rows:
        assert row["verdict"] in VERDICTS, row["id"]
        assert row["verdict"] == CLAIMS[row["id"]]["verdict"], row["id"]
        assert row["published"], row["id"]
        assert row["ours"], row["id"]
        assert row["why"].endswith("."), row["id"]
        assert row["low"] <= row["value"] <= row["high"], row["id"]


def test_every_claim_leads_to_where_it_was_measured(rows, site):
    for row in rows:
        page = BeautifulSoup((site / f"{row['page']}.html").read_text("utf-8"), "html.parser")
        assert page.find(id=row["where"]), f"{row['id']}: {row['where']} is not on {row['page']}"


def run(folder):
    """Execute a copy of the page."""
    text = (folder / "chapters" / "14-scorecard.md").read_text(encoding="utf-8")
    notebook = nbformat.from_dict(read_myst_markdown_notebook(text))
    place = {"metadata": {"path": folder / "chapters"}}
    NotebookClient(notebook, timeout=300, resources=place).execute()


@pytest.fixture
def copy(site, tmp_path):
    """The page and what it reads, to be changed."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "_build").mkdir()
    for path in (ROOT / "chapters").glob("14-*"):
        shutil.copy(path, tmp_path / "chapters")
    shutil.copy(ROOT / "_build" / "claims.json", tmp_path / "_build")
    return tmp_path


def test_a_verdict_that_changes_needs_a_new_sentence(copy):
    path = copy / "_build" / "claims.json"
    measured = json.loads(path.read_text())
    name = next(name for name in CLAIMS if CLAIMS[name]["verdict"] == "reproduced")
    path.write_text(json.dumps(measured | {name: measured[name] | {"holds": False}}))
    with pytest.raises(CellExecutionError, match=f"{name}: the verdict changed from 'reproduced'"):
        run(copy)


@pytest.mark.parametrize("holds", [True, "direction", False])
def test_the_outcomes_of_the_paper_may_move_verdicts(copy, holds):
    path = copy / "_build" / "claims.json"
    measured = json.loads(path.read_text())
    on_paper = {name: found | {"on": "paper", "holds": holds} for name, found in measured.items()
                if found["on"] == "twin"}
    assert "convergence-brumo" in on_paper
    path.write_text(json.dumps(measured | on_paper))
    run(copy)


def test_a_claim_that_no_page_measures_is_missed(copy):
    path = copy / "_build" / "claims.json"
    measured = json.loads(path.read_text())
    path.write_text(json.dumps({name: found for name, found in measured.items()
                                if name != "dynamic-sampling"}))
    with pytest.raises(CellExecutionError, match=r"no page measured .'dynamic-sampling'"):
        run(copy)
