"""Local Sphinx extension: MathJax from disk, notebooks to download, progress, one chapter alone."""

import contextlib
import importlib.util
import os
import sys
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from sphinx.util.fileutil import copy_asset_file

# What a page can ask of MathJax: the bundle, its fonts, and the TeX extensions it loads on demand.
MATHJAX_FILES = (
    "tex-chtml.js",
    "output/chtml/fonts/woff-v2/*.woff",
    "input/tex/extensions/*.js",
)
# Bundles of everything, and extensions that the autoloader never asks for.
MATHJAX_UNUSED = {"all-packages.js", "physics.js"}


def copy_mathjax(app, exception):
    """Copy the needed part of the MathJax that the package sphinx-mathjax-offline carries."""
    if exception or app.builder.format != "html":
        return
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    source = package / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for pattern in MATHJAX_FILES:
        for path in source.glob(pattern):
            if path.name not in MATHJAX_UNUSED:
                destination = target / path.relative_to(source)
                destination.parent.mkdir(parents=True, exist_ok=True)
                copy_asset_file(str(path), str(destination))


def offer_notebook(app, pagename, templatename, context, doctree):
    """Let the download button of an executed page offer its notebook, with its results."""
    path = Path(app.outdir).parent / "jupyter_execute" / f"{pagename}.ipynb"
    if path.is_file():
        notebook = nbformat.read(path, as_version=4)
        # A page whose results come from the cache is left without them.
        with contextlib.suppress(KeyError):
            cache = get_cache(app.config.nb_execution_cache_path)
            _, notebook = cache.merge_match_into_notebook(notebook)
        target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, target)
        nbformat.write(notebook, path)  # the theme copies this one where it offers to run it
        context["ipynb_source"] = f"{pagename}.ipynb"


def mend_body(app, pagename, templatename, context, doctree):
    """Let the references be items of their list, and say in words whether a page ran."""
    words = {'role="doc-biblioentry"': 'role="listitem"', "✅": "passed", "❌": "failed"}
    for old, new in words.items():
        if "body" in context:
            context["body"] = context["body"].replace(old, new)


def configure(app, config):
    """Share one execution cache, and do what tools/build_book.py asks for."""
    config.nb_execution_cache_path = str(Path(app.srcdir) / "_build" / ".jupyter_cache")
    if os.environ.get("BOOK_KEEP_GOING"):
        # A failing cell is a warning with its traceback, and the next chapter still runs;
        # the strict build then fails because of the warning.
        config.nb_execution_raise_on_error = False
        config.nb_execution_show_tb = True
    chapter = os.environ.get("BOOK_CHAPTER")
    if chapter:
        pages = [*Path(app.srcdir).glob("chapters/*.md"), *Path(app.srcdir).glob("appendix/*.md")]
        config.nb_execution_excludepatterns = [
            f"{page.parent.name}/{page.name}" for page in pages if not page.name.startswith(chapter)
        ]


class Progress:
    """Say which page is being read, and so executed."""

    def begin(self, app, env, docnames):
        self.total, self.done = len(docnames), 0

    def page(self, app, docname, content):
        self.done += 1
        print(f"[{self.done:2d}/{self.total}] {docname}", file=sys.stderr, flush=True)


def setup(app):
    progress = Progress()
    app.connect("config-inited", configure, priority=100)  # before MyST-NB reads its options
    app.connect("env-before-read-docs", progress.begin)
    app.connect("source-read", progress.page)
    app.connect("html-page-context", offer_notebook, priority=400)  # before the theme's buttons
    app.connect("html-page-context", mend_body)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
