"""A browser, a server on loopback, and what the tests look at with them."""

import contextlib
import functools
import http.server
import shutil
import threading
from pathlib import Path

from axe_playwright_python.base import AXE_FILE_PATH
from conftest import missing
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
AXE = Path(AXE_FILE_PATH).read_text(encoding="utf-8")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serving(folder):
    """Serve a folder on loopback; gives its address."""
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def chromium():
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
