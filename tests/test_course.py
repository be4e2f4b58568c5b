"""The course: notebooks that give nothing away and run, problem sets that grade as they should."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from conftest import ROOT
from nbformat.v4 import new_code_cell

sys.path.insert(0, str(ROOT / "tools"))
import make_course
import plain_notebooks as plain
import problem_sets
import prune_cells
from build_book import environment

# SQLAlchemy on how nbgrader uses it, and what nbgrader leaves open.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
CHAPTERS = sorted(path.stem for path in ROOT.glob("chapters/*.md"))
QUICK = ("01-passk-pitfalls", "16-teaching-with-this-book")


# --- MyST to Markdown ------------------------------------------------------------------------


class Works:
    def authors(self, key):
        return key.capitalize()

    def year(self, key):
        return 2025

    def listing(self, keys):
        return sorted(set(keys))


@pytest.fixture
def page():
    labels = {
        "fig-a": plain.Target("chapters/01-a", "Figure 1.1"),
        "eq-a": plain.Target("chapters/01-a", "(1.2)"),
        "thm-b": plain.Target("chapters/02-b", "Theorem 2.1"),
        "ex-a": plain.Target("chapters/01-a", "Exercise 1.3"),
        "words": plain.Target("appendix/glossary", "Glossary"),
        "elsewhere": plain.Target("appendix/setup", "Setup"),
    }
    return plain.Plain("chapters/01-a", labels, Works(), {"mean": "0.57", "n": "1234"})


@pytest.mark.parametrize(
    ("myst", "markdown"),
    [
        ("about {glue:text}`mean`.", "about 0.57."),
        ("{glue:text}`n:,.0f` times", "1,234 times"),
        ("{numref}`fig-a`, {eq}`eq-a`", "[Figure 1.1](#fig-a), [(1.2)](#eq-a)"),
        ("{prf:ref}`thm-b`", "[Theorem 2.1](02-b.ipynb#thm-b)"),
        (
            "{cite:t}`doe` and {cite:p}`doe,roe`",
            "[Doe (2025)](#doe) and ([Doe, 2025](#doe); [Roe, 2025](#roe))",
        ),
        ("{term}`posteriors\n<posterior>`", "posteriors"),
        ("{py:func}`~bayeval.avg`", "`bayeval.avg`"),
        ("[words](#words), [here](#elsewhere)", "[words](../glossary.md), here"),
        ("[data](../appendix/datasets.md)", "[data](../data/README.md)"),
        ("(here)=\n## Head", '<a id="here"></a>\n\n## Head'),
        ("```{math}\n:label: eq-a\nx = 1\n```", '<a id="eq-a"></a>\n\n$$\nx = 1\\tag{1.2}\n$$'),
        ("```{prf:proof}\nEasy.\n```", "*Proof.* Easy. ∎"),
        (
            "````{prf:theorem} Big\n:label: thm-b\n\n```{math}\ny\n```\n````",
            '<a id="thm-b"></a>**Theorem 2.1 (Big)**\n\n$$\ny\n$$',
        ),
        (":::{seealso}\nMore.\n:::", "**See also**\n\nMore."),
        ("```{admonition} A {term}`word`\n:class: tip\nText.\n```", "**A word**\n\nText."),
        (
            "```{list-table} Two\n:header-rows: 1\n\n* - a\n  - b\n* - {glue:text}`n`\n  -\n```",
            "Two\n\n| a | b |\n|---|---|\n| 1234 |  |",
        ),
        ("```sh\nmake `{term}`\n```", "```sh\nmake `{term}`\n```"),
        ("a literal ``{term}`x` ``", "a literal ``{term}`x` ``"),
    ],
)
def test_myst_becomes_markdown(page, myst, markdown):
    found = page.text(myst.split("\n"))
    assert found == markdown


@pytest.mark.parametrize(
    ("myst", "message"),
    [
        ("{glue:text}`gone`", "without a value for gone"),
        ("{numref}`fig-gone`", "refers to fig-gone"),
        ("{odd}`x`", "role odd"),
        ("```{odd}\n```", "directive odd"),
        ("```{note}\nnever closed", "not closed"),
    ],
)
def test_what_cannot_be_converted_is_named(page, myst, message):
    with pytest.raises(ValueError, match=message):
        page.text(myst.split("\n"))


def notebook_of(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


def test_students_get_an_empty_cell_for_a_solution(page):
    exercise = "```{exercise} Count (easy)\n:label: ex-a\nHow many?\n```\n\n"
    start = "````{solution-start} ex-a\n:class: dropdown\n````\n\nThree, of course."
    source = notebook_of(
        nbformat.v4.new_markdown_cell(exercise + start),
        new_code_cell("three = 3"),
        nbformat.v4.new_markdown_cell("````{solution-end}\n````\n\nGo on."),
    )
    student = plain.convert(source, source, page, solutions=False)
    assert [c.cell_type for c in student.cells] == ["markdown", "code", "markdown"]
    assert student.cells[0].source.endswith("**Exercise 1.3. Count (easy)**\n\nHow many?")
    assert [c.source for c in student.cells[1:]] == ["", "Go on."]
    teacher = plain.convert(source, source, page, solutions=True)
    text = "\n".join(c.source for c in teacher.cells)
    assert "**Solution**\n\nThree, of course." in text
    assert "three = 3" in text


# --- What hidden cells leave -----------------------------------------------------------------


def pruned(*cells):
    """Cells as (source, hidden); the sources that are left."""
    made = [
        new_code_cell(s, metadata={"tags": [prune_cells.HIDDEN]} if hidden else {})
        for s, hidden in cells
    ]
    return [cell.source for cell in prune_cells.prune(made)]


SAY = "from myst_nb import glue\n\n\ndef say(name, text):\n    glue(name, text)"


@pytest.mark.parametrize(
    ("hidden", "later", "left"),
    [
        ("x = 1\nassert x", "print(2)", None),
        ("x = 1\ny = 2\nsay('x', x)", "print(y)", "y = 2"),
        ("import numpy as np", "np.pi", "import numpy as np"),
        ("for i in range(3):\n    say(str(i), i)", "print(2)", None),
        (
            "t = {}\nfor i in range(3):\n    t[i] = i\n    say(str(i), i)",
            "t",
            "t = {}\nfor i in range(3):\n    t[i] = i",
        ),
        ("x = rng.normal()\nsay('x', x)", "rng.normal()", "x = rng.normal()"),
        ("assert rng.normal() < 9", "rng.normal()", "assert rng.normal() < 9"),
        (
            "x = sum(numpy.random.default_rng(2).random(3))\nsay('x', x)",
            "print(x)",
            "x = sum(numpy.random.default_rng(2).random(3))",
        ),
        ("assert rng.normal() < 9", "print(2)", None),
        (
            "def draw():\n    return rng.normal()\n\n\nx = draw()",
            "rng.normal()",
            "def draw():\n    return rng.normal()\n\n\nx = draw()",
        ),
        (
            "import warnings\nwarnings.simplefilter('ignore')",
            "print(2)",
            "import warnings\n\nwarnings.simplefilter('ignore')",
        ),
        ("n = 3", "def f():\n    return n\n\n\nf()", "n = 3"),
        ("n = 3", "n = 4\nprint(n)", None),
        ("n = 3", "[n for n in range(4)]", None),
        ("# Why.\nn = 3  # how", "n", "# Why.\nn = 3  # how"),
    ],
)
def test_hidden_cell_keeps_what_is_needed(hidden, later, left):
    first = "import numpy\n\nrng = numpy.random.default_rng(1)"
    cells = pruned((SAY, True), (first, False), (hidden, True), (later, False))
    assert cells == [first, *([left] if left else []), later]


# --- The notebooks of the chapters -----------------------------------------------------------


@pytest.fixture(scope="session")
def converter(site):
    return make_course.Converter(site)


@pytest.fixture(scope="session")
def notebooks(converter):
    return {
        (name, solutions): converter.chapter(name, solutions=solutions)
        for name in converter.chapters
        for solutions in (False, True)
    }


def solution_lines(source, hidden=True):
    """Lines of code and text in the solutions of a page, and the lines outside them."""
    inside, outside, solution = set(), set(), False
    for cell in source.cells:
        if not hidden and prune_cells.HIDDEN in cell.metadata.get("tags", []):
            continue
        for line in cell.source.split("\n"):
            if line.lstrip("`").startswith("{solution-start}"):
                solution = True
            elif line.lstrip("`").startswith("{solution-end}"):
                solution = False
            (inside if solution else outside).add(line.strip())
    return {line for line in inside if len(line) > 20 and line[0] not in "`:"}, outside


@pytest.mark.parametrize("name", CHAPTERS)
def test_student_notebook_gives_no_solution_away(converter, notebooks, name):
    inside, outside = solution_lines(converter.chapters[name][0])
    text = "\n".join(cell.source for cell in notebooks[name, False].cells)
    # An exercise may quote a line in its sentence; a line of its own is an answer.
    shown = {line.strip() for line in text.split("\n")}
    assert len(inside) > 10
    assert (inside - outside) & shown == set()
    assert all(not cell.get("outputs") for cell in notebooks[name, False].cells)
    teacher = "\n".join(cell.source for cell in notebooks[name, True].cells)
    inside, _ = solution_lines(converter.chapters[name][0], hidden=False)
    code = [line for line in inside if "{" not in line and "[" not in line]
    assert [line for line in code if line not in teacher] == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_notebook_is_plain(converter, notebooks, name):
    """Every exercise has its cell, code compiles, and no MyST is left."""
    exercises = sum(cell.source.count("{exercise}") for cell in converter.chapters[name][0].cells)
    for solutions in (False, True):
        cells = notebooks[name, solutions].cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        answers = [c for c in cells if plain.ANSWER in c.metadata.get("tags", [])]
        assert len(answers) == (0 if solutions else exercises)
        assert all(cell.source == "" for cell in answers)
        for source in code:
            ast.parse(source)
            assert "myst_nb" not in source
            assert not re.search(r"\bglue\(", source)
        prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        prose = re.sub(r"``.*?``", "", prose)
        assert not re.search(r"\{[a-z][\w:-]*\}`|^[`:]{3,}\{", prose, re.M)


@pytest.mark.parametrize("name", CHAPTERS)
def test_links_of_a_notebook_lead_somewhere(notebooks, name):
    cells = notebooks[name, False].cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    anchors = set(re.findall(r'<a id="([^"]+)"', text))
    chapters = {f"{chapter}.ipynb" for chapter, _ in notebooks}
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        if not path:
            assert anchor in anchors, target
        elif path.startswith("../"):
            assert (ROOT / path[3:]).exists() or path in plain.LOCAL_PAGES.values(), target
        else:
            assert path in chapters, target


@pytest.fixture(scope="session")
def course(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "made"
    make_course.make(folder, site)
    return folder


@pytest.mark.parametrize("kind", ["student", "solutions"])
@pytest.mark.parametrize("name", QUICK)
def test_quick_notebooks_run(course, monkeypatch, name, kind):
    """All of them run in `make course CHECK=1`."""
    for key, value in environment().items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("MPLBACKEND", raising=False)
    error, _, notebook = make_course.run(course / kind / f"{name}.ipynb")
    assert error == ""
    book = make_course.shown(nbformat.read(course / "solutions" / f"{name}.ipynb", as_version=4))
    ours = make_course.shown(notebook)
    assert len(ours.keys() & book.keys()) > 5
    assert [source for source in ours if source in book and ours[source] != book[source]] == []


# --- The archives ----------------------------------------------------------------------------


def packed(archive):
    with zipfile.ZipFile(archive) as opened:
        names = [name.removeprefix("bayeval-course/") for name in opened.namelist()]
        notebooks = {n: opened.read(f"bayeval-course/{n}") for n in names if n.endswith(".ipynb")}
    return names, notebooks


def test_archive_for_students_holds_no_answers(course):
    names, notebooks = packed(course / "course-for-students.zip")
    assert {"README.md", "requirements.txt", "constraints.txt", "glossary.md"} <= set(names)
    assert any(re.fullmatch(r"bayeval-.*\.whl", name) for name in names)
    assert len(notebooks) == len(CHAPTERS) + len(problem_sets.names())
    for name, text in notebooks.items():
        assert name.startswith(("student/", "problem-sets/release/"))
        assert not re.search(b"SOLUTION|HIDDEN TESTS", text), name
    assert all("NOTES" not in name for name in names)


def test_archive_for_teachers_holds_all(course):
    names, _ = packed(course / "course-for-teachers.zip")
    for name in CHAPTERS:
        assert {f"student/{name}.ipynb", f"solutions/{name}.ipynb"} <= set(names)
    for name in problem_sets.names():
        for step in ("source", "release", "solution"):
            assert f"problem-sets/{step}/{name}/{name}.ipynb" in names
    assert {"problem-sets/nbgrader_config.py", "problem-sets/NOTES.md"} <= set(names)
    assert not any(name.endswith((".db", ".zip")) for name in names)


def test_solutions_of_problem_sets_ran_without_error(course):
    for name in problem_sets.names():
        path = course / "problem-sets" / "solution" / name / f"{name}.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        outputs = [o for c in cells if c.cell_type == "code" for o in c.outputs]
        assert outputs
        assert all(o.output_type != "error" for o in outputs), name


def test_requirements_can_be_read(course, tmp_path):
    """pip accepts the syntax and the wheel is whole: it installs alone, into an empty folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--disable-pip-version-check", "--target", tmp_path / "site"]
    [wheel] = course.glob("*.whl")
    subprocess.run([*command, wheel], check=True, capture_output=True)
    test = "import bayeval as bv; print(bv.datasets.load('aime_2025').n_models, bv.__file__)"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    run = subprocess.run(
        [sys.executable, "-c", test],
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
        check=True,
    )
    assert run.stdout.startswith("16 ")
    assert str(tmp_path) in run.stdout
    lines = (course / "requirements.txt").read_text().splitlines()
    assert lines[0] == "-c constraints.txt"
    assert lines[1].startswith(f"./{wheel.name}[")
    constraints = (course / "constraints.txt").read_text().splitlines()
    assert all(re.match(r"[\w.-]+(\[[\w,]+\])?==\S+", line) for line in constraints)


# --- The problem sets ------------------------------------------------------------------------


@pytest.mark.parametrize("name", problem_sets.names())
def test_problem_set_is_complete(name):
    """Points as stated; for each problem a form, checks and a usual mistake; three to five."""
    points, mistakes = problem_sets.points(name), problem_sets.mistakes(name)
    assert 3 <= len(points) <= 5
    assert [m.problem for m in mistakes] == list(points)
    assert all(0 <= m.points < points[m.problem] for m in mistakes)
    assert any(m.points == 0 for m in mistakes)
    cells = problem_sets.read(name).cells
    marks = [c.metadata["nbgrader"]["grade_id"] for c in cells if "nbgrader" in c.metadata]
    assert len(set(marks)) == len(marks)
    assert {f"{problem}-form" for problem in points} <= set(marks)
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert f", {sum(points.values())} points," in text
    stated = [int(n) for n in re.findall(r"^## Problem \d.*\((\d+) points\)$", text, re.M)]
    assert stated == list(points.values())
    assert all("SOLUTION" not in m.code for m in mistakes)


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """A course whose problem sets are released."""
    folder = tmp_path_factory.mktemp("graded")
    course = problem_sets.Course(folder)
    course.generate()
    return course


def answered(course, name, *, wrong=()):
    """The released notebook, filled in: rightly, but for some problems with their mistake."""
    notebook = course.released(name)
    right = {
        cell.metadata.nbgrader.grade_id: re.sub(r"[ ]*### (BEGIN|END) SOLUTION\n?", "", cell.source)
        for cell in problem_sets.source(name).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    mistakes = {m.problem: m.code for m in problem_sets.mistakes(name)}
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            problem = mark["grade_id"]
            cell.source = mistakes[problem] if problem in wrong else right[problem]
    return notebook


def by_problem(scores):
    result = {}
    for check, score in scores.items():
        problem = check.rpartition("-")[0]
        result[problem] = result.get(problem, 0) + score
    return result


@pytest.mark.parametrize("name", problem_sets.names())
def test_autograder_on_right_wrong_and_empty(graded, name):
    points = problem_sets.points(name)
    graded.submit(name, "right", answered(graded, name))
    assert by_problem(graded.grade(name, "right")) == points

    graded.submit(name, "empty", graded.released(name))
    assert set(by_problem(graded.grade(name, "empty")).values()) == {0}

    # Each mistake costs its own problem what the notes say, and no other problem anything.
    mistakes = problem_sets.mistakes(name)
    for student, wrong in (("odd", mistakes[::2]), ("even", mistakes[1::2])):
        expected = points | {m.problem: m.points for m in wrong}
        graded.submit(name, student, answered(graded, name, wrong=[m.problem for m in wrong]))
        assert by_problem(graded.grade(name, student)) == expected, student


def test_released_problem_sets_hide_answers(graded):
    for name in problem_sets.names():
        cells = graded.released(name).cells
        text = "\n".join(cell.source for cell in cells)
        assert "SOLUTION" not in text
        assert "HIDDEN" not in text
        for mistake in problem_sets.mistakes(name):
            assert mistake.code not in text
        answers = [c.source for c in cells if c.metadata.get("nbgrader", {}).get("solution")]
        assert all("raise NotImplementedError()" in answer for answer in answers)


def test_commands_of_the_readme_grade(tmp_path):
    """What the README of the course tells a teacher to type."""
    text = (ROOT / "course" / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^nbgrader .*$", text, re.M)
    name = commands[0].split()[-1]
    course = problem_sets.Course(tmp_path, [name])
    programs = os.path.dirname(sys.executable)
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for i, command in enumerate(commands):
        run = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, env=env)
        assert run.returncode == 0, run.stderr
        if i == 0:
            course.submit(name, "ada", answered(course, name))
    rows = (tmp_path / "grades.csv").read_text().splitlines()
    row = dict(zip(rows[0].split(","), rows[1].split(",")))
    assert row["student_id"] == "ada"
    assert float(row["score"]) == float(row["max_score"]) == sum(problem_sets.points(name).values())


def test_course_writes_nothing_into_the_sources():
    assert not [*(ROOT / "course").rglob("*.ipynb"), *(ROOT / "course").rglob("*.db")]
    assert shutil.which("nbgrader", path=os.path.dirname(sys.executable))
    assert json.dumps(problem_sets.points(problem_sets.names()[0]))


# --- The chapter on teaching -----------------------------------------------------------------

TEACHING = "16-teaching-with-this-book"


def test_chapter_and_readme_name_the_same_commands():
    pages = (ROOT / "chapters" / f"{TEACHING}.md", ROOT / "course" / "README.md")
    told = [re.findall(r"^nbgrader .*$", page.read_text("utf-8"), re.M) for page in pages]
    assert told[0] == told[1] != []


def test_table_of_minutes_says_what_the_boxes_say(converter):
    """The build does not know that this page reads the others: here is who notices."""
    boxes = []
    for name in converter.chapters:
        text = " ".join((ROOT / "chapters" / f"{name}.md").read_text("utf-8").split())
        boxes.append(int(re.search(r"Reading: (\d+) minutes", text)[1]))
    tables = [
        output["data"]["text/html"]
        for cell in converter.chapters[TEACHING][1].cells
        if "def box(" in cell.source
        for output in cell.outputs
    ]
    cells = re.findall(r"<td>(\d+)</td>", tables[0])
    assert [int(cell) for cell in cells] == boxes, "run `make book` with CI=1"
