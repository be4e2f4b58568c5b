"""Print the built pages, in the order of the contents, into one PDF with an outline.

Needs Chromium. Solutions are open, links between pages lead within the document.
"""

import io
import shutil
import sys
from pathlib import Path
from urllib.parse import urldefrag

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "beyond-passk.pdf"
FOOTER = """<div style="width: 100%; text-align: center; font: 8px sans-serif; color: #444">
<span class="title"></span> · <span class="pageNumber"></span></div>"""
# What a reader opens by a click is open on paper.
OPEN = """() => {
  for (const box of document.querySelectorAll(".toggle-hidden"))
    box.classList.remove("toggle-hidden");
  for (const box of document.querySelectorAll(".bd-article details:not(.hide)")) box.open = true;
}"""


def contents():
    """(part, [(page, its address)]) in reading order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    yield None, [toc["root"]]
    for part in toc["parts"]:
        yield part["caption"], [entry["file"] for entry in part["chapters"]]


def printed(browser, name):
    """The PDF of one page, and its title."""
    page = browser.new_page(color_scheme="light")
    page.goto((SITE / f"{name}.html").as_uri(), wait_until="load")
    if page.locator('script[src*="mathjax"]').count():
        page.wait_for_function("window.MathJax?.startup?.promise")
        page.evaluate("MathJax.startup.promise")
    page.evaluate(OPEN)
    page.emulate_media(media="print")
    margin = {"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
    pdf = page.pdf(
        format="A4",
        print_background=True,
        margin=margin,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
    )
    title = page.locator("article h1").first.evaluate(
        "h => h.firstChild.textContent + (h.childNodes[1]?.textContent ?? '')"
    )
    page.close()
    return PdfReader(io.BytesIO(pdf)), title.strip().rstrip("#")


def lead_inside(writer, starts):
    """Turn links to pages of the site into links to the page of the document where they start."""
    places = {(SITE / f"{name}.html").as_uri(): start for name, start in starts.items()}
    for page in writer.pages:
        for annotation in page.get("/Annots") or ():
            entry = annotation.get_object()
            action = entry.get("/A", {}).get_object() if "/A" in entry else {}
            start = places.get(urldefrag(str(action.get("/URI", ""))).url)
            if start is not None:
                target = ArrayObject(
                    [
                        writer.pages[start].indirect_reference,
                        NameObject("/XYZ"),
                        *[NumberObject(0)] * 3,
                    ]
                )
                entry[NameObject("/A")] = DictionaryObject(
                    {NameObject("/S"): NameObject("/GoTo"), NameObject("/D"): target}
                )


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed (on Debian: sudo apt-get install chromium).")
    writer, starts = PdfWriter(), {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        for part, names in contents():
            heading = None
            for name in names:
                document, title = printed(browser, name)
                starts[name] = len(writer.pages)
                writer.append(document, import_outline=False)
                if part and heading is None:
                    heading = writer.add_outline_item(part, starts[name])
                writer.add_outline_item(title, starts[name], parent=heading)
                print(f"{name}: {len(document.pages)} pages", file=sys.stderr, flush=True)
        browser.close()
    lead_inside(writer, starts)
    writer.compress_identical_objects()
    writer.write(TARGET)
    print(f"{len(writer.pages)} pages, {TARGET.stat().st_size / 1e6:.1f} MB: {TARGET}")


if __name__ == "__main__":
    main()
