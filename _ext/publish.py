"""Local Sphinx extension for a published copy: previews, a page for wrong addresses, a site map.

Two settings come from the environment, for a checkout does not know where it will be published:
BOOK_URL, the address of the first page, and BOOK_REPOSITORY, that of the sources.
"""

import html
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from docutils import nodes

WRONG_ADDRESS = "404"


def configure(app, config):
    config.templates_path = [*config.templates_path, str(Path(__file__).parent / "templates")]
    config.html_additional_pages = {**config.html_additional_pages, WRONG_ADDRESS: "404.html"}
    address = os.environ.get("BOOK_URL", "").rstrip("/")
    if address:
        config.html_baseurl = f"{address}/"
    repository = os.environ.get("BOOK_REPOSITORY", "").rstrip("/")
    if repository:
        config.html_theme_options |= {
            "repository_url": repository,
            "repository_branch": os.environ.get("BOOK_BRANCH", "main"),
            "use_repository_button": True,
            "use_issues_button": True,
            "use_edit_page_button": True,
            # JupyterLab opens the text of a chapter as a notebook: see .binder/postBuild.
            "launch_buttons": {
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        }


def first_sentences(doctree):
    """The first paragraph of a page: in this book, the question that it answers."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        if isinstance(paragraph.parent, nodes.section):
            return " ".join(paragraph.astext().split())
    return ""


def first_picture(app, doctree):
    """Where the site keeps the first figure of a page, or None."""
    for image in doctree.findall(nodes.image) if doctree else ():
        name = app.builder.images.get(image["uri"], "")
        if name.endswith(".png"):
            return f"{app.builder.imagedir}/{name}"
    return None


def add_previews(app, pagename, templatename, context, doctree):
    """What a link to the page shows where it is shared."""
    base = app.config.html_baseurl
    book = app.config.html_title
    title = context.get("title") or book
    tags = {
        "og:type": "book" if pagename == app.config.root_doc else "article",
        "og:site_name": book,
        "og:title": html.unescape(title),
        "og:description": first_sentences(doctree) or book,
    }
    if base:
        # A preview must be named by its whole address.
        picture = first_picture(app, doctree)
        if picture:
            tags |= {"og:image": base + picture, "twitter:card": "summary_large_image"}
        if pagename != WRONG_ADDRESS:
            tags["og:url"] = f"{base}{pagename}.html"
    lines = [
        f'<meta property="{name}" content="{html.escape(text)}" />' for name, text in tags.items()
    ]
    lines.append(f'<meta name="description" content="{html.escape(tags["og:description"])}" />')
    if pagename == WRONG_ADDRESS:
        folder = urlsplit(base).path or "/"
        lines.insert(0, f'<base href="{folder}" />')
        lines.append('<meta name="robots" content="noindex" />')
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def write_site_map(app, exception):
    """List the pages for search engines, if the book knows its address."""
    base = app.config.html_baseurl
    if exception or app.builder.format != "html" or not base:
        return
    urls = ElementTree.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for name in sorted(app.env.found_docs):
        ElementTree.SubElement(
            ElementTree.SubElement(urls, "url"), "loc"
        ).text = f"{base}{'' if name == app.config.root_doc else f'{name}.html'}"
    ElementTree.indent(urls)
    target = Path(app.outdir) / "sitemap.xml"
    ElementTree.ElementTree(urls).write(target, encoding="utf-8", xml_declaration=True)
    (Path(app.outdir) / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n")


def offer_scorecard(app, exception):
    """Put the table of claims beside its page, for programs to read."""
    source = Path(app.srcdir) / "_build" / "scorecard.json"
    if not exception and app.builder.format == "html" and source.is_file():
        shutil.copy(source, Path(app.outdir) / "chapters")


def setup(app):
    app.connect("config-inited", configure, priority=100)
    app.connect("html-page-context", add_previews)
    app.connect("build-finished", write_site_map)
    app.connect("build-finished", offer_scorecard)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
