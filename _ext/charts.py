"""Local Sphinx extension: a chart with controls is a picture with its data beside it.

_static/interactive.js puts the chart in the picture's place; the library for that is written
into the site if a page has such a figure.
"""

import json
from dataclasses import replace
from pathlib import Path

from docutils import nodes
from myst_nb.core.render import load_mime_renders

# Where the data of a chart stand in a page; _static/interactive.js looks for it.
MARK = '<script type="application/json" class="interactive">'
MIME_TYPE = "application/vnd.vegalite.v5+json"


class Chart:
    """Renderer of MyST-NB for charts, which it does not know by itself."""

    # Before what else the cell offers; other builders than this one take its picture.
    mime_priority_overrides = (("html", MIME_TYPE, 5),)

    @staticmethod
    def handle_mime(renderer, data, inline):
        if data.mime_type != MIME_TYPE:
            return None
        from bayeval.plotting.interactive import Figure

        svg = Figure(data.content).svg()
        picture = renderer.render_image(replace(data, mime_type="image/svg+xml", content=svg))
        text = json.dumps(data.content, separators=(",", ":")).replace("<", "\\u003c")
        return [*picture, nodes.raw(text=f"{MARK}{text}</script>", format="html")]


def write_library(app, exception):
    """Write Vega, Vega-Lite and their embedding as one script, if a page needs it."""
    if exception or app.builder.format != "html":
        return
    pages = Path(app.outdir).rglob("*.html")
    if any(MARK in page.read_text(encoding="utf-8") for page in pages):
        import vl_convert

        bundle = vl_convert.javascript_bundle()
        # The bundle is a module, which a page opened from disk could not load: only its
        # assignments to `window` leave the function.
        text = f'/* Licenses: vega-licenses.txt */\n(() => {{"use strict";\n{bundle}\n}})();\n'
        target = Path(app.outdir) / "_static" / "vega.js"
        target.write_text(text, encoding="utf-8")


def setup(app):
    # The list is filled from installed packages, and kept.
    if Chart not in load_mime_renders():
        load_mime_renders().append(Chart)
    app.connect("build-finished", write_library)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
