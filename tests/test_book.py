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
PAGES = sorted(path.relative_to(ROOT) for path in ROOT.glob("[ca]*/*.md"))
CHAPTERS = [page for page in PAGES if page.parts[0] == "chapters"]
SOURCE_FOLDERS = (
    *("bayeval", "chapters", "appendix", "tests", "tools", "data", "studies"),
    *("_ext", "_static", ".ci"),
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
    assert "base64," not in text, "an output is stored in the text"


def test_no_notebook_with_outputs_is_stored():
    notebooks = [path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*.ipynb")]
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), path


def test_table_of_contents_lists_every_page_once():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted(page.with_suffix("").as_posix() for page in PAGES)
    chapters = [name for name in listed if name.startswith("chapters/")]
    assert chapters == sorted(chapters), "chapters stand in the order of their numbers"


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_cells_are_clean_code(page):
    """No undefined or unused name, no unused import in the cells of a page."""
    notebook = jupytext.read(ROOT / page, fmt="md:myst")
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    code = "\n\n".join(re.sub(r"^%.*$", "", cell, flags=re.MULTILINE) for cell in cells)
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "--isolated", "--select=F,E9"]
    command += ["--config", 'builtins = ["display", "get_ipython"]']
    run = subprocess.run(
        [*command, "--stdin-filename", f"{page.stem}.py", "-"],
        input=code,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


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


# --- Package ---------------------------------------------------------------------------------


def test_import_is_quick_and_light():
    code = """
import sys, time
start = time.process_time()  # not the clock: other programs may run at the same time
import bayeval
seconds = time.process_time() - start
heavy = {"pymc", "pytensor", "arviz", "matplotlib", "seaborn", "numba"} & set(sys.modules)
print(seconds, *sorted(heavy))
"""
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    seconds, *heavy = min(run.stdout.split() for run in runs)
    assert heavy == []
    assert float(seconds) < 0.5


# --- Built pages -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(site):
    return built_pages()


def test_every_page_of_the_contents_is_built(pages):
    assert {page.with_suffix(".html").as_posix() for page in PAGES} <= set(pages)


def test_every_figure_has_caption_label_and_words(pages):
    wrong = []
    for name in pages:
        for image in parsed(name).select("article.bd-article img"):
            alt = (image.get("alt") or "").strip()
            if len(alt.split()) < 4 or re.search(r"\.(png|svg|jpe?g)$|^_images|/", alt):
                wrong.append(f"{name}: {image.get('src')} has the alternative text {alt!r}")
            figure = image.find_parent("figure")
            if figure is None:
                wrong.append(f"{name}: {image.get('src')} is not a figure with a caption")
                continue
            caption = figure.find("figcaption")
            if caption is None or not caption.select_one(".caption-text"):
                wrong.append(f"{name}: {image.get('src')} has no caption")
            if not re.match(r"fig-", figure.get("id") or ""):
                wrong.append(f"{name}: {image.get('src')} has no label fig-...")
    assert not wrong, "\n".join(wrong)


def test_figures_are_small(site):
    large = [
        f"{path.name}: {path.stat().st_size / 1e6:.1f} MB"
        for path in (site / "_images").glob("*")
        if path.stat().st_size > 1_000_000
    ]
    assert large == []


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
                page = parsed(target.relative_to(site.resolve()).as_posix())
                if page.find(id=unquote(parts.fragment)) is None:
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
