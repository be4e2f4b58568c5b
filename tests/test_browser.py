"""The built book in a real browser: headless Chromium, a server on loopback, no other host."""

import functools
import http.server
import json
import shutil
import threading
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from conftest import ROOT, missing
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SITE = ROOT / "_build" / "html"
PAGES = sorted(
    page.relative_to(SITE).as_posix()
    for page in SITE.rglob("*.html")
    if page.relative_to(SITE).parts[0] != "_static"
)
AXE = Path(AXE_FILE_PATH).read_text(encoding="utf-8")
NOTEBOOKS = sorted(
    page.relative_to(SITE).as_posix() for page in (SITE / "_sources").rglob("*.ipynb")
)
# Quick to run, and it reads data and uses the package.
QUICK_NOTEBOOK = "_sources/appendix/setup.ipynb"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def server(site):
    handler = functools.partial(QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium")
    if path is None:
        missing("Chromium is not installed: the browser checks were not run.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


class Visit:
    """A browser page that may ask only the local server, and notes whatever goes wrong."""

    def __init__(self, browser, server, **options):
        self.server = server
        self.context = browser.new_context(**options)
        self.errors, self.foreign = [], []
        self.context.route("**/*", self._route)
        self.page = self.context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("response", self._response)

    def _route(self, route):
        url = route.request.url
        if url.startswith((self.server, "data:", "blob:")):
            route.continue_()
        else:
            self.foreign.append(url)
            route.abort()

    def _console(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def _response(self, response):
        if response.status >= 400:
            self.errors.append(f"{response.status} {response.url}")

    def open(self, path):
        self.errors.clear()
        self.foreign.clear()
        self.page.goto(f"{self.server}/{path}", wait_until="load")
        if self.page.locator('script[src*="mathjax"]').count():
            self.page.wait_for_function("window.MathJax?.startup?.promise")
            self.page.evaluate("MathJax.startup.promise")
        return self.page


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


# Contrast depends on few things, and most words of a page have the same: for each combination of
# color, backgrounds, opacity and letters that occurs, the first two places are marked.
MARK_SAMPLES = """() => {
    const seen = new Map();
    for (const element of document.querySelectorAll("body *")) {
        element.removeAttribute("data-sample");
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own) continue;
        const style = getComputedStyle(element);
        const key = [style.color, style.fontSize, style.fontWeight];
        for (let at = element; at; at = at.parentElement) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(at);
            key.push(backgroundColor, backgroundImage, opacity);
        }
        const name = key.filter(part => !["rgba(0, 0, 0, 0)", "none", "1"].includes(part)).join();
        seen.set(name, (seen.get(name) ?? 0) + 1);
        if (seen.get(name) <= 2) element.setAttribute("data-sample", "");
    }
    return seen.size;
}"""


def axe(page, context, options):
    """Serious violations, each with the place where it was found."""
    results = page.evaluate(
        "([context, options]) => axe.run(context ?? document, options)",
        [context, {"resultTypes": ["violations"], **options}],
    )
    return [
        f"{found['id']}: {node['target']} {node['html'][:200]}\n  {node['failureSummary']}"
        for found in results["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


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
