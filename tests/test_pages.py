"""The front and back matter: what it says of the package and the project is so."""

import importlib
import inspect
import pkgutil
import re

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from pybtex.database import parse_file

import bayeval as bv
from bayeval.betabinomial import Fit, Quadrature
from bayeval.conjugate import DirichletPosterior
from bayeval.ranking import Comparison

# Modules and functions for the package's own use; the results that they define are listed by hand.
INTERNAL = {
    f"bayeval.{name}"
    for name in ("conjugate", "dirichlet_multinomial", "discounted", "distribution", "functionals",
                 "learned")
}
HELPERS = {"bayeval.metrics.excess", "bayeval.metrics.least_right"}
RESULTS = {
    "bayeval.conjugate.DirichletPosterior",
    "bayeval.discounted.DiscountedPosterior",
    "bayeval.distribution.Estimate",
    "bayeval.distribution.Interval",
    "bayeval.learned.LearnedPosterior",
}
TEXTS = sorted([ROOT / "index.md", *ROOT.glob("appendix/*.md"), *ROOT.glob("chapters/*.md")])


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def public_names():
    """The names that readers use, each in its shortest form."""
    modules = [name for _, name, _ in pkgutil.walk_packages(bv.__path__, "bayeval.")]
    names = set(RESULTS)
    for module_name in modules:
        if module_name in INTERNAL or any(part[0] == "_" for part in module_name.split(".")):
            continue
        module = importlib.import_module(module_name)
        for name, value in vars(module).items():
            own = inspect.isfunction(value) or inspect.isclass(value)
            if own and value.__module__ == module_name and not name.startswith("_"):
                short = getattr(bv, name, None) is value
                names.add(f"bayeval.{name}" if short else f"{module_name}.{name}")
    return names - HELPERS


# --- API reference ---------------------------------------------------------------------------


def test_api_reference_lists_every_public_name(site):
    html = BeautifulSoup((site / "appendix" / "api.html").read_text("utf-8"), "html.parser")
    listed = {entry.get("id") for entry in html.select("dt.sig")}
    exported = {f"bayeval.{name}" for name in bv.__all__ if not inspect.ismodule(getattr(bv, name))}
    missing = sorted((public_names() | exported) - listed)
    assert not missing, f"add to appendix/api.md: {missing}"


def test_api_reference_describes_every_name_once(site):
    html = BeautifulSoup((site / "appendix" / "api.html").read_text("utf-8"), "html.parser")
    for entry in html.select("dl.py.function > dt, dl.py.class > dt"):
        description = entry.find_next_sibling("dd")
        assert description is not None, entry.get("id")
        assert len(description.get_text(" ", strip=True).split()) >= 3, entry.get("id")
    names = [entry["id"] for entry in html.select("dt.sig[id]")]
    assert len(names) == len(set(names))


# --- Notation and glossary -------------------------------------------------------------------


def test_notation_names_what_exists():
    homes = {c.__name__: c for c in (bv.Outcomes, Comparison, Fit, Quadrature)}
    homes["Posterior"] = DirichletPosterior
    fields = {
        name: set(dir(home)) | set(getattr(home, "__dataclass_fields__", ()))
        for name, home in homes.items()
    }
    found = re.findall(r"`(bv|[A-Z]\w+)\.([\w.]+)`", page("appendix/notation.md"))
    assert len(found) > 25
    for home, name in found:
        if home == "bv":
            value = bv
            for part in name.split("."):
                value = getattr(value, part)
        else:
            assert name in fields[home], f"{home}.{name}"


def glossary():
    body = page("appendix/glossary.md").split("```{glossary}\n")[1].split("\n```")[0]
    for entry in body.split("\n\n"):
        lines = entry.strip("\n").split("\n")
        terms = [line for line in lines if not line.startswith(" ")]
        yield terms, " ".join(line.strip() for line in lines[len(terms) :])


def test_glossary_is_sorted_and_short():
    entries = list(glossary())
    heads = [terms[0].lower() for terms, _ in entries]
    assert heads == sorted(heads)
    for terms, text in entries:
        assert text.endswith("."), terms
        assert len(re.findall(r"[.?!](?=\s|$)", text)) <= 2, terms


# --- References ------------------------------------------------------------------------------


def test_references_are_complete_and_used():
    entries = parse_file(str(ROOT / "references.bib")).entries
    cited = {
        key.strip()
        for text in TEXTS
        for keys in re.findall(r"\{cite:\w+\}`([^`]+)`", text.read_text(encoding="utf-8"))
        for key in keys.split(",")
    }
    for key, entry in entries.items():
        assert re.fullmatch(r"[a-z]+(19|20)\d\d[a-z]*", key), key
        assert entry.persons.get("author"), key
        assert entry.fields.get("title"), key
        # A letter after the year tells two works of the same authors and year apart.
        assert re.fullmatch(r"(19|20)\d\d[a-z]?", entry.fields.get("year", "")), key
        assert entry.fields["year"][:4] in key, key
        if entry.fields.get("archiveprefix") == "arXiv":
            assert re.fullmatch(r"\d{4}\.\d{4,5}", entry.fields["eprint"]), key
    assert set(entries) == cited


# --- Setup and authoring guide ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["README.md", "appendix/setup.md", "appendix/authoring.md"])
def test_commands_and_paths_exist(name):
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.M))
    code = re.findall(r"`([^`\n]+)`", page(name)) + re.findall(r"```sh\n(.*?)```", page(name), re.S)
    for text in code:
        for target in re.findall(r"\bmake ([a-z]+)", text):
            assert target in targets, target
        for path in re.findall(r"\b(?:tools|bayeval|appendix|tests)/[\w./-]*", text):
            assert (ROOT / path).exists(), path
        for path in re.findall(r"(?<!\S)(?:requirements\.lock|pyproject\.toml|_toc\.yml)", text):
            assert (ROOT / path).exists(), path


def test_example_of_the_readme_runs(capsys):
    code = re.search(r"```python\n(.*?)```", page("README.md"), re.S)[1]
    exec(compile(code, "README.md", "exec"), {})
    assert re.search(r"is better\) = 0\.\d{3}$", capsys.readouterr().out)


def test_page_of_the_authoring_guide_builds(small_book):
    """The page to copy, in a book of its own, gives no warning."""
    sample = re.search(r"^`{8}markdown\n(.*?)^`{8}$", page("appendix/authoring.md"), re.S | re.M)
    words = sorted(set(re.findall(r"\{term\}`([^`]+)`", sample[1])))
    book = small_book(sample[1], words)
    run = book.build()
    assert run.returncode == 0, run.stderr
    html = BeautifulSoup((book.html / "index.html").read_text("utf-8"), "html.parser")
    assert html.select_one("figure#fig-sample-density figcaption")
    assert "0.57" in html.get_text()
