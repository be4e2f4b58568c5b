"""The built book in a real browser: headless Chromium, a server on loopback, no other host."""

import json
from urllib.parse import urlsplit

import nbformat
import pytest
from browsing import AXE, MARK_SAMPLES, Visit, axe
from conftest import ROOT
from nbclient import NotebookClient

SITE = ROOT / "_build" / "html"
PAGES = sorted(
    page.relative_to(SITE).as_posix()
    for page in SITE.rglob("*.html")
    if page.relative_to(SITE).parts[0] != "_static"
)
NOTEBOOKS = sorted(
    page.relative_to(SITE).as_posix() for page in (SITE / "_sources").rglob("*.ipynb")
)
# Quick to run, and it reads data and uses the package.
QUICK_NOTEBOOK = "_sources/appendix/setup.ipynb"


@pytest.fixture(scope="module")
def visit(browser, server):
    visit = Visit(browser, server, viewport={"width": 1280, "height": 900})
    yield visit
    visit.context.close()


@pytest.fixture(scope="module")
def phone(browser, server):
    visit = Visit(browser, server, viewport={"width": 390, "height": 844})
    yield visit
    visit.context.close()


@pytest.mark.parametrize("path", PAGES)
def test_page_loads_and_typesets_without_error_or_foreign_request(visit, path):
    page = visit.open(path)
    page.wait_for_load_state("networkidle")
    assert visit.errors == []
    assert visit.foreign == []
    assert page.locator("h1").count() >= 1
    # Equations
    assert page.locator("mjx-container").count() >= page.locator(".math").count()
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    text = page.locator("#main-content").inner_text()
    for leftover in ("$$", "\\(", "\\[", "Math Processing Error"):
        assert leftover not in text


@pytest.mark.parametrize("path", PAGES)
def test_no_sideways_scrolling_on_a_phone(phone, path):
    page = phone.open(path)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    wide = page.evaluate(
        """() => [...document.querySelectorAll('#main-content *')]
        .filter(part => part.getBoundingClientRect().right > innerWidth + 1
                && !part.closest('.skip-link'))
        .slice(0, 5).map(part => part.outerHTML.slice(0, 120))"""
    )
    assert overflow <= 0, wide


@pytest.mark.parametrize("path", PAGES)
def test_accessible_in_light_and_dark(visit, path):
    page = visit.open(path)
    # Transitions of colors would be caught half-way.
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    page.evaluate(AXE)
    serious = axe(page, None, {"rules": {"color-contrast": {"enabled": False}}})
    for mode in ("light", "dark"):
        page.evaluate(
            """mode => {
                document.documentElement.dataset.theme = mode;
                document.documentElement.dataset.mode = mode;
            }""",
            mode,
        )
        assert page.evaluate(MARK_SAMPLES) > 5
        contrast = axe(page, {"include": ["[data-sample]"]}, {"runOnly": ["color-contrast"]})
        serious += [f"{mode}, {violation}" for violation in contrast]
    assert not serious, "\n".join(serious)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_check_of_contrast_finds_a_pale_word(visit, mode):
    page = visit.open("index.html")
    page.evaluate(AXE)
    page.evaluate(
        """mode => {
            document.documentElement.dataset.theme = mode;
            const words = [...document.querySelectorAll("#main-content p")].at(-1);
            words.innerHTML += '<span id="pale" style="color: #888">pale</span>';
            words.style.background = "#999";
        }""",
        mode,
    )
    page.evaluate(MARK_SAMPLES)
    contrast = axe(page, {"include": ["[data-sample]"]}, {"runOnly": ["color-contrast"]})
    assert any("pale" in violation for violation in contrast)


def weight(browser, server, path):
    """Bytes of a first visit to a page, without the library of the figures to play with."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, answers = context.new_page(), []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"{server}/{path}", wait_until="networkidle")
    total = sum(len(answer.body()) for answer in answers if not answer.url.endswith("vega.js"))
    context.close()
    return total


def test_first_page_is_light(browser, server):
    assert weight(browser, server, "index.html") < 500_000


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_no_heavier_than_their_figures(browser, server, path):
    assert weight(browser, server, path) < 3_000_000


def test_search_finds_a_word_of_the_book(visit):
    page = visit.open("search.html?q=Dirichlet")
    page.wait_for_selector('#search-results a[href*="chapters/02-dirichlet-posterior"]')
    assert visit.errors == []


def test_download_button_leads_to_the_notebook(visit):
    notebook = QUICK_NOTEBOOK.removeprefix("_sources/")
    page = visit.open(notebook.replace(".ipynb", ".html"))
    href = page.locator("a.btn-download-notebook-button").get_attribute("href")
    response = page.request.get(page.evaluate("href => new URL(href, location.href).href", href))
    assert urlsplit(response.url).path == f"/{QUICK_NOTEBOOK}"
    nbformat.validate(nbformat.reads(response.text(), as_version=4))


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_downloaded_notebook_is_valid_and_executed(site, path):
    notebook = nbformat.reads((site / path).read_text(encoding="utf-8"), as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    assert str(ROOT) not in json.dumps(notebook.metadata)


def test_downloaded_notebook_runs(site, tmp_path):
    notebook = nbformat.reads((site / QUICK_NOTEBOOK).read_text(encoding="utf-8"), as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()


def test_downloaded_chapter_ranks_another_data_set(site, tmp_path):
    """What the chapter on ranking invites to: change one line, run, read a leaderboard."""
    path = site / "_sources" / "chapters" / "03-credible-ranking.ipynb"
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    line = 'data_set = "aime_2025"'
    (change,) = (cell for cell in notebook.cells if cell.source.startswith(line))
    change.source = change.source.replace("aime_2025", "livecodebench_v1")
    (board,) = (cell for cell in notebook.cells if "board[shown]" in cell.source)
    notebook.cells = notebook.cells[: notebook.cells.index(board) + 1]
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    assert "GPT-4-Turbo-2024-04-09" in board.outputs[-1].data["text/plain"]
