"""Take full-page pictures of built pages, wide and narrow, light and dark, for the author's eye.

Usage: python tools/screenshots.py chapters/03-credible-ranking.html [more pages]
The pictures go into _build/screenshots.
"""

import argparse
import functools
import http.server
import shutil
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

BUILD = Path(__file__).resolve().parent.parent / "_build"
WIDTHS = (1280, 390)
MODES = ("light", "dark")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", default=["index.html"])
    parser.add_argument("--site", type=Path, default=BUILD / "html")
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("chromium is not installed")
    target = BUILD / "screenshots"
    target.mkdir(parents=True, exist_ok=True)

    handler = functools.partial(QuietHandler, directory=options.site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for width in WIDTHS:
            for mode in MODES:
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=mode
                )
                page = context.new_page()
                for name in options.pages:
                    page.goto(f"http://127.0.0.1:{server.server_port}/{name}")
                    page.wait_for_load_state("networkidle")
                    page.evaluate("window.MathJax?.startup?.promise")
                    picture = target / f"{Path(name).stem}-{width}-{mode}.png"
                    page.screenshot(path=picture, full_page=True)
                    print(picture.relative_to(BUILD.parent))
                context.close()
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
