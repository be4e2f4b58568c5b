"""Local Sphinx extension: leave out of the built site what no page of it uses.

The theme ships every icon twice, as fonts and as a program, and style sheets for every component of
its libraries. A page of this book then weighs more than its text and figures together.
"""

import logging
import re
from pathlib import Path

import tinycss2
from fontTools import subset, ttLib

# Style sheets of libraries, where rules for what the book lacks can go; the last is the icons'.
SHEETS = (
    "styles/bootstrap.css",
    "styles/pydata-sphinx-theme.css",
    "styles/sphinx-book-theme.css",
    "sphinx-design.min.css",
    "vendor/fontawesome/*/css/all.min.css",
)
# The icons' program, the early call for their fonts, and MathJax on a page without a formula.
ICONS = re.compile(
    r"<(?:script|link)\b[^>]*fontawesome[^>]*\.(?:js|woff2)\b[^>]*>(?:</script>)?\n?"
)
MATHJAX = re.compile(r"<script\b[^>]*mathjax[^>]*></script>\n?")
MATHJAX_OPTIONS = re.compile(r"<script>window\.MathJax = .*?</script>\n?", re.S)
WORD = re.compile(r"[A-Za-z_][\w-]*")


def slim_page(text):
    text = ICONS.sub("", text)
    if 'class="math' not in text:
        text = MATHJAX_OPTIONS.sub("", MATHJAX.sub("", text))
    return text


def classes(tokens):
    """Names of the classes in a selector outside :not(), which must exist for it to match."""
    found, dot = set(), False
    for token in tokens:
        if dot and token.type == "ident":
            found.add(token.value)
        dot = token == "."
        if token.type == "function" and token.lower_name == "is":
            continue  # one of several is enough
    return found


def selectors(prelude):
    """The selectors of a rule, split at its commas."""
    part = []
    for token in prelude:
        if token == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def slim_rules(rules, words):
    """Those rules of a style sheet that can match, as text."""
    for rule in rules:
        if rule.type == "qualified-rule":
            kept = [part for part in selectors(rule.prelude) if classes(part) <= words]
            if kept:
                names = ",".join(tinycss2.serialize(part).strip() for part in kept)
                yield f"{names}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            text = "".join(slim_rules(inner, words))
            if text:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{text}}}"
        elif rule.type == "at-rule":
            yield rule.serialize()


def slim_sheet(text, words):
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    return "".join(slim_rules(rules, words))


# It tells of each table of a font, and Sphinx prints what it tells.
logging.getLogger("fontTools").setLevel(logging.WARNING)


def slim_icons(folder):
    """Keep the glyphs that the style sheets name; in a format that needs no more tools."""
    named = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.css"))
    codes = {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", named)}
    codes |= {ord(letter) for letter in re.findall("[\ue000-\uf8ff]", named)}
    for path in folder.glob("vendor/fontawesome/*/webfonts/*.ttf"):
        font = ttLib.TTFont(path)
        subsetter = subset.Subsetter(subset.Options(ignore_missing_unicodes=True))
        subsetter.populate(unicodes=codes)
        subsetter.subset(font)
        font.flavor = "woff"
        font.save(path.with_suffix(".woff"))
    for path in folder.glob(SHEETS[-1]):
        text = re.sub(r",url\([^)]*\.ttf\) format\(\"truetype\"\)", "", path.read_text("utf-8"))
        path.write_text(text.replace("woff2", "woff"), encoding="utf-8")
    for pattern in ("webfonts/*.ttf", "webfonts/*.woff2", "js/*"):
        for path in folder.glob(f"vendor/fontawesome/*/{pattern}"):
            path.unlink()


def slim(app, exception):
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    words = set()
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        slimmer = slim_page(text)
        if slimmer != text:
            path.write_text(slimmer, encoding="utf-8")
        words.update(WORD.findall(" ".join(re.findall(r'\bclass="([^"]*)"', slimmer))))
    # Programs set classes too: whatever word they contain may be one.
    for path in static.rglob("*.js"):
        if "fontawesome" not in path.parts and "mathjax" not in path.parts:
            words.update(WORD.findall(path.read_text(encoding="utf-8")))
    for pattern in SHEETS:
        for path in static.glob(pattern):
            path.write_text(slim_sheet(path.read_text(encoding="utf-8"), words), encoding="utf-8")
    slim_icons(static)


def setup(app):
    app.connect("build-finished", slim, priority=900)  # when everything is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
