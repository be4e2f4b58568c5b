"""The import stays light, and no module reaches up to a layer above its own."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "bayeval"
# The spine, from the bottom up; helper modules stand anywhere, but lead nowhere up.
SPINE = ("_validate", "outcomes", "betabinomial", "metrics", "posterior", "ranking", "forecast",
         "design", "hierarchical", "simulate", "datasets", "readers", "plotting", "report",
         "__main__")
HEAVY = {"arviz", "dask", "distributed", "matplotlib", "numba", "pymc", "pytensor",
         "scipy.optimize", "scipy.signal", "scipy.stats", "seaborn", "xarray"}
# Who may import what is not for the core.
HOMES = {"pymc": {"hierarchical"}, "pytensor": {"hierarchical"},
         "arviz": {"hierarchical", "plotting"}, "matplotlib": {"plotting", "report", "__main__"},
         "seaborn": {"plotting", "report", "__main__"}}


def module_of(path):
    """The first name after `bayeval`: a subpackage counts as one module."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(tree):
    """Full names of what a syntax tree imports, at the top and inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.fixture(scope="module")
def names():
    """For every module of the package, the names that it imports."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        found.setdefault(module_of(path), set()).update(imported(ast.parse(path.read_text())))
    return found


@pytest.fixture(scope="module")
def graph(names):
    """For every module of the package, the modules of the package that it imports."""
    edges = {}
    for module, imports in names.items():
        inside = {name.split(".")[1] for name in imports if name.startswith("bayeval.")}
        edges[module] = {target for target in inside if target in names} - {module}
    return edges


def reach(graph, module, seen=()):
    """Everything that a module imports, directly or not."""
    found = set()
    for target in graph[module]:
        assert target not in seen, f"{' -> '.join((*seen, target))} is a circle"
        found |= {target} | reach(graph, target, (*seen, target))
    return found


def test_imports_lead_down(graph):
    for module in sorted(graph.keys() - {"__init__"}):
        reached = reach(graph, module, (module,))
        if module in SPINE:
            above = reached & set(SPINE[SPINE.index(module) + 1:])
            assert not above, f"{module} reaches up to {sorted(above)}"


def test_only_the_outermost_modules_use_the_exports(names):
    for module in sorted(names.keys() - {"plotting", "report", "__main__", "__init__"}):
        exports = {name.split(".")[1] for name in names[module] if name.startswith("bayeval.")}
        assert exports <= names.keys(), f"{module} imports {exports - names.keys()} from the top"


def test_the_spine_is_there(graph):
    assert set(SPINE[:8]) <= graph.keys()
    assert not graph["_validate"]
    assert reach(graph, "posterior") >= {"_validate", "metrics"}


def test_heavy_libraries_stay_in_their_modules(names):
    for module, imports in names.items():
        for library, homes in HOMES.items():
            if any(name.split(".")[0] == library for name in imports):
                assert module in homes, f"{module} imports {library}"


def test_the_import_loads_nothing_heavy():
    code = "import bayeval, json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                         text=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert {"bayeval", "numpy", "pandas", "scipy.special"} <= loaded
    assert not HEAVY & loaded
    assert not run.stderr
