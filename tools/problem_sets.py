"""Turn the text of the problem sets into an nbgrader course, and grade what is handed in.

A source is a text notebook. Its cells carry what nbgrader needs in their metadata: answers
`nbgrader: {grade_id, solution}` and checks `nbgrader: {grade_id, grade, points}`. A cell with
`mistake: {problem, points, what}` is a usual wrong answer to a problem and the points that it
still earns; it is no part of the notebooks, but of the notes for teachers and of the tests.
"""

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateSolution
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

SOURCES = Path(__file__).resolve().parent.parent / "course" / "problem-sets"
COURSE = "bayeval"
# nbgrader finds the course by this file in the folder where its command is called.
CONFIG = f'''c = get_config()
c.CourseDirectory.course_id = "{COURSE}"
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError()"}}
'''


@dataclass(frozen=True)
class Mistake:
    """A usual wrong answer: the problem, the points that it still earns, what it is, its code."""

    problem: str
    points: float
    what: str
    code: str


def names():
    return sorted(path.stem for path in SOURCES.glob("*.md"))


def read(name):
    return jupytext.read(SOURCES / f"{name}.md", fmt="md:myst")


def mistakes(name):
    cells = [cell for cell in read(name).cells if "mistake" in cell.metadata]
    return [Mistake(code=cell.source, **cell.metadata["mistake"]) for cell in cells]


def source(name):
    """The problem set as nbgrader's source, with answers and all checks."""
    notebook = read(name)
    cells = [cell for cell in notebook.cells if "mistake" not in cell.metadata]
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
        mark = cell.metadata.get("nbgrader")
        if mark is None:
            continue
        graded = mark.get("grade", False)
        cell.metadata["nbgrader"] = {
            "grade_id": mark["grade_id"],
            "grade": graded,
            "solution": mark.get("solution", False),
            "locked": graded,
            "task": False,
            "schema_version": 3,
            **({"points": mark["points"]} if graded else {}),
        }
        if graded and mark["points"]:
            cell.source = f"# Graded: {mark['points']} of the points.\n{cell.source}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def points(name):
    """Problem -> points."""
    result = {}
    for cell in read(name).cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            result[mark["grade_id"]] = 0
        elif mark.get("grade"):
            result[mark["grade_id"].rpartition("-")[0]] += mark["points"]
    return result


class Course:
    """A course of nbgrader in a folder.

    Parameters
    ----------
    folder : Path
        Made if it does not exist; gets `source/` with the problem sets.
    chosen : list of str, optional
        Names of the problem sets; by default all.
    """

    def __init__(self, folder, chosen=None):
        self.folder, self.names = folder, chosen or names()
        # nbgrader calls a program of this environment by its bare name.
        programs = str(Path(sys.executable).parent)
        if programs not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]
        for name in self.names:
            self.write("source", name, source(name))
        (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
        self.config = Config()
        self.config.CourseDirectory.root = str(folder)
        self.config.CourseDirectory.course_id = COURSE
        self.config.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}
        self.api = NbGraderAPI(config=self.config)

    def write(self, step, name, notebook):
        place = self.folder / step / name
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place / f"{name}.ipynb")

    def generate(self):
        """Make what students get, in `release/`."""
        for name in self.names:
            self.check(self.api.generate_assignment(name))

    def solve(self):
        """Make what teachers get, answers and checks with their results, in `solution/`."""
        for name in self.names:
            place = CourseDirectory(config=self.config)
            place.assignment_id = name
            converter = GenerateSolution(coursedir=place, config=self.config)
            converter.log.setLevel(logging.ERROR)
            converter.start()

    def released(self, name):
        return nbformat.read(self.folder / "release" / name / f"{name}.ipynb", as_version=4)

    def submit(self, name, student, notebook):
        self.write(f"submitted/{student}", name, notebook)

    def grade(self, name, student):
        """Run nbgrader's autograder; return the points of each check."""
        self.check(self.api.autograde(name, student))
        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}", COURSE) as book:
            notebook = book.find_submission_notebook(name, name, student)
            return {grade.name: grade.auto_score for grade in notebook.grades}

    @staticmethod
    def check(result):
        if not result["success"]:
            raise RuntimeError(f"nbgrader failed:\n{result['log']}\n{result['error']}")
