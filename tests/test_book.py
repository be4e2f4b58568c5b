"""The sources of the book and the built pages: what a reader must find, and must not find."""

import functools
import itertools
import json
import re
import subprocess
import sys
import tomllib
from urllib.parse import unquote, urlsplit

import jupytext
import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SITE = ROOT / "_build" / "html"
PAGES = sorted(
    path.relative_to(ROOT) for top in ("chapters", "appendix") for path in ROOT.glob(f"{top}/*.md")
)
CHAPTERS = [page for page in PAGES if page.parts[0] == "chapters"]
SOURCE_FOLDERS = (
    *("bayeval", "chapters", "appendix", "tests", "tools", "data", "studies", "benchmarks"),
    *("course", "_ext", "_static", ".ci", ".binder"),
)
TEXT_SUFFIXES = {
    *(".py", ".md", ".toml", ".yml", ".yaml", ".json", ".bib", ".cff", ".txt"),
    *(".lock", ".css", ".js", ".svg", ".csv", ".mplstyle", ""),
}


def ids(path):
    return path.as_posix()


def source_files():
    top = [path for path in ROOT.iterdir() if path.is_file()]
    nested = [path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*")]
    return sorted(
        path
        for path in top + nested
        if path.is_file() and path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts
    )


@functools.cache
def parsed(name):
    return BeautifulSoup((SITE / name).read_text(encoding="utf-8"), "html.parser")


@functools.cache
def anchors(name):
    return {tag["id"] for tag in parsed(name).find_all(id=True)}


def built_pages():
    return sorted(
        path.relative_to(SITE).as_posix()
        for path in SITE.rglob("*.html")
        if path.relative_to(SITE).parts[0] != "_static"
    )


# --- Sources ---------------------------------------------------------------------------------


@pytest.mark.parametrize("page", CHAPTERS, ids=ids)
def test_chapter_is_a_text_notebook(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    metadata = jupytext.reads(text, fmt="md:myst").metadata
    assert metadata["kernelspec"]["name"] == "python3"
    assert metadata["jupytext"]["text_representation"]["format_name"] == "myst"


def stored_outputs(files):
    """Files that hold results of a cell: notebooks with outputs, text with a picture in it."""
    found = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            if any(cell.get("outputs") for cell in json.loads(text)["cells"]):
                found.append(path.name)
        elif path.suffix == ".md" and "base64," in text:
            found.append(path.name)
    return found


def test_no_output_is_stored():
    notebooks = [path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*.ipynb")]
    assert stored_outputs([*notebooks, *(ROOT / page for page in PAGES), ROOT / "index.md"]) == []


def toc_faults(toc, pages):
    """Pages that the table of contents lacks, or lists twice or in the wrong place."""
    listed = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    chapters = [name for name in listed if name.startswith("chapters/")]
    return [
        *(f"{name} is missing" for name in sorted(set(pages) - set(listed))),
        *(f"{name} does not exist" for name in sorted(set(listed) - set(pages))),
        *(f"{name} stands twice" for name in sorted(set(listed)) if listed.count(name) > 1),
        *(f"{b} stands after {a}" for a, b in itertools.pairwise(chapters) if a > b),
    ]


def test_table_of_contents_lists_every_page_once():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert toc_faults(toc, [page.with_suffix("").as_posix() for page in PAGES]) == []


def code_cells(page):
    notebook = jupytext.read(ROOT / page, fmt="md:myst")
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(page):
    """Cells whose code a reader of the page sees, folded or not."""
    hidden = {"remove-cell", "remove-input"}
    return [cell for cell in code_cells(page) if hidden.isdisjoint(cell.metadata.get("tags", []))]


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_code_fits_the_page(page):
    """A line of visible code is no longer than a window of 1280 pixels shows."""
    long = [line for cell in shown(page) for line in cell.source.splitlines() if len(line) > 88]
    assert long == []


def check_names(page, cells, rules):
    code = "\n\n".join(re.sub(r"^%.*$", "", cell.source, flags=re.MULTILINE) for cell in cells)
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "--isolated", f"--select={rules}"]
    command += ["--config", 'builtins = ["display", "get_ipython"]']
    run = subprocess.run(
        [*command, "--stdin-filename", f"{page.stem}.py", "-"],
        input=code,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_shown_code_needs_no_hidden_code(page):
    """Whoever copies the cells of a page, in their order, has every name that they use."""
    check_names(page, shown(page), "F821")


@pytest.mark.parametrize("page", CHAPTERS, ids=ids)
def test_solutions_on_own_data_claim_nothing_of_the_data(page):
    """Shown cells run on other results: what is claimed of the stand-in is in hidden cells."""
    text = (ROOT / page).read_text(encoding="utf-8")
    own = re.findall(r"^`{3,}\{exercise\} Your own.*\(any level\)\n:label: (\S+)", text, re.M)
    assert own
    for label in own:
        start = text.index(f"{{solution-start}} {label}\n")
        solution = text[start : text.index("{solution-end}", start)]
        cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", solution, re.S)
        assert cells
        assert not any("assert" in cell for cell in cells if "remove-cell" not in cell)


@pytest.mark.parametrize("page", CHAPTERS, ids=ids)
def test_exercises_have_solutions(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    exercises = re.findall(r"^`{3,}\{exercise\}.*\n:label: (\S+)", text, re.M)
    hidden = r"^`{3,}\{solution-start\} (\S+)\n(?::.*\n)*?:class: dropdown"
    solutions = re.findall(hidden, text, re.M)
    assert len(exercises) >= 5
    assert sorted(solutions) == sorted(exercises)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_cells_are_clean_code(page):
    """No undefined or unused name, no unused import in the cells of a page."""
    check_names(page, code_cells(page), "F,E9")


def test_no_file_names_a_registry_or_a_path_of_one_machine():
    hosts = ["pypi" + ".org", "python" + "hosted", "npm" + "js", "conda" + ".anaconda"]
    folders = ["/" + name + "/" for name in ("work", "root", "opt", "home", "Users")]
    # A path of a machine starts a word; the same folder inside an address does not.
    forbidden = re.compile("|".join(hosts) + r"|(?<![\w./~-])(?:" + "|".join(folders) + ")")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in source_files()
        for match in forbidden.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["codespell_lib", "."]], ids=["ruff", "codespell"]
)
def test_lint(command):
    run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


def test_lock_covers_the_declared_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)((?:.*\\\n)*.*)", lock, re.M)
    locked = {canonicalize_name(name): version for name, version, _ in entries}
    assert all("--hash=sha256:" in rest for _, _, rest in entries)
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in map(Requirement, itertools.chain.from_iterable(groups)):
        if requirement.name != project["name"]:
            version = locked[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement


# --- Built pages -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(site):
    return built_pages()


def test_every_page_of_the_contents_is_built(pages):
    assert {page.with_suffix(".html").as_posix() for page in PAGES} <= set(pages)


def test_chapters_have_the_number_of_their_file(pages):
    for number, page in enumerate(CHAPTERS, start=1):
        if int(page.stem[:2]) != number:
            break  # a gap in the files: what comes after it cannot be numbered by them
        title = parsed(page.with_suffix(".html").as_posix()).select_one("h1 .section-number")
        assert title is not None, page
        assert title.get_text().strip(" .\xa0") == str(int(page.stem[:2])), page


def figure_faults(html):
    """What a figure lacks: words for those who do not see it, a caption, a label."""
    faults = []
    for image in html.select("article.bd-article img"):
        source, alt = image.get("src"), (image.get("alt") or "").strip()
        if len(alt.split()) < 4 or re.search(r"\.(png|svg|jpe?g)$|^_images|/", alt):
            faults.append(f"{source} has the alternative text {alt!r}")
        figure = image.find_parent("figure")
        if figure is None:
            faults.append(f"{source} is not a figure with a caption")
            continue
        caption = figure.find("figcaption")
        if caption is None or not caption.select_one(".caption-text"):
            faults.append(f"{source} has no caption")
        if not re.match(r"fig-", figure.get("id") or ""):
            faults.append(f"{source} has no label fig-...")
    return faults


def test_every_figure_has_caption_label_and_words(pages):
    wrong = [f"{name}: {fault}" for name in pages for fault in figure_faults(parsed(name))]
    assert not wrong, "\n".join(wrong)


def large_figures(folder):
    return [path.name for path in sorted(folder.glob("*")) if path.stat().st_size > 1_000_000]


def test_figures_are_small(site):
    assert large_figures(site / "_images") == []


def test_pages_load_nothing_from_other_hosts(site, pages):
    foreign = []
    for name in pages:
        for tag in parsed(name).select("script, img, iframe, source, video, audio, embed, link"):
            address = tag.get("src") or tag.get("href") or tag.get("data") or ""
            if urlsplit(address).netloc and tag.get("rel") != ["canonical"]:
                foreign.append(f"{name}: {address}")
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        imports = re.findall(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", text)
        foreign += [f"{style.name}: {address}" for address in imports]
    assert not foreign, "\n".join(foreign)


def test_internal_links_lead_somewhere(site, pages):
    broken = []
    for name in pages:
        for link in parsed(name).select("a[href]"):
            parts = urlsplit(link["href"])
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            target = target.resolve()
            if not target.is_file():
                broken.append(f"{name}: {link['href']}")
            elif parts.fragment and target.suffix == ".html":
                name_of_target = target.relative_to(site.resolve()).as_posix()
                if unquote(parts.fragment) not in anchors(name_of_target):
                    broken.append(f"{name}: {link['href']}")
    assert not broken, "\n".join(broken)


def test_headings_do_not_skip_a_level(pages):
    skipped = []
    for name in pages:
        headings = parsed(name).select("article.bd-article :is(h1, h2, h3, h4, h5, h6)")
        levels = [int(heading.name[1]) for heading in headings]
        for before, after, heading in zip(levels, levels[1:], headings[1:], strict=False):
            if after > before + 1:
                skipped.append(f"{name}: {heading.get_text()}")
    assert not skipped, "\n".join(skipped)


# --- The checks themselves -------------------------------------------------------------------

BROKEN_PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A broken page

See {numref}`fig-nowhere`, {term}`unheard-of` and {cite:t}`nobody1900`.

```{code-cell} ipython3
import warnings

warnings.warn("a warning that nobody caught")
```

```{code-cell} ipython3
assert 2 + 2 == 5
```
"""


def test_build_fails_on_bad_cells_and_references(small_book):
    """One build names all of them; each alone is a warning, and any warning fails the build."""
    run = small_book(BROKEN_PAGE).build()
    assert run.returncode != 0
    for fault in (
        "assert 2 + 2 == 5",
        "stderr was found in the cell outputs",
        "undefined label: 'fig-nowhere'",
        "term not in glossary: 'unheard-of'",
        'could not find bibtex key "nobody1900"',
    ):
        assert fault in run.stderr, run.stderr


def test_build_fails_on_one_warning(small_book):
    run = small_book("# A page\n\nSee [a page that is not there](nowhere.md).\n").build()
    assert run.returncode != 0
    assert "nowhere.md" in run.stderr


def test_build_again_takes_no_time(small_book):
    book = small_book("# A page\n\nThat does not change.\n")
    first, second = book.build(), book.build()
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert "Nothing has changed" in second.stdout
    (book.folder / "index.md").write_text("# A page\n\nThat has changed.\n", encoding="utf-8")
    assert "Built in" in book.build().stdout
    assert "has changed" in (book.html / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("figure", "fault"),
    [
        ('<figure id="fig-a"><img src="a.png"><figcaption>{}</figcaption></figure>', "alternative"),
        ('<figure id="fig-a"><img src="a.png" alt="_images/a.png">{}</figure>', "alternative"),
        ('<figure id="fig-a"><img src="a.png" alt="A line that rises"></figure>', "no caption"),
        ('<figure><img src="a.png" alt="A line that rises">{}</figure>', "no label"),
        ('<p><img src="a.png" alt="A line that rises"></p>', "not a figure"),
    ],
)
def test_check_of_figures_finds(figure, fault):
    caption = '<figcaption><span class="caption-text">A line.</span></figcaption>'
    page = f'<article class="bd-article">{figure.replace("{}", caption)}</article>'
    assert any(fault in found for found in figure_faults(BeautifulSoup(page, "html.parser")))


def test_check_of_contents_finds():
    files = ["chapters/02-b", "chapters/01-a", "chapters/02-b", "appendix/gone"]
    toc = {"parts": [{"chapters": [{"file": file} for file in files]}]}
    assert toc_faults(toc, ["chapters/01-a", "chapters/02-b", "chapters/03-c"]) == [
        "chapters/03-c is missing",
        "appendix/gone does not exist",
        "chapters/02-b stands twice",
        "chapters/01-a stands after chapters/02-b",
    ]


def test_checks_of_outputs_and_sizes_find(tmp_path):
    cell = {"cell_type": "code", "outputs": [{"text": "4"}]}
    (tmp_path / "run.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    (tmp_path / "clean.ipynb").write_text(json.dumps({"cells": []}), encoding="utf-8")
    (tmp_path / "page.md").write_text("![](data:image/png;base64,AAAA)", encoding="utf-8")
    assert stored_outputs(sorted(tmp_path.iterdir())) == ["page.md", "run.ipynb"]
    (tmp_path / "large.png").write_bytes(bytes(1_000_001))
    assert large_figures(tmp_path) == ["large.png"]
