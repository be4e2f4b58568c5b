"""What all tests share: the built book, and PyTensor without a C compiler."""

import os
from pathlib import Path

import pytest

# Before anything imports PyTensor; the Makefile sets the same for the book.
os.environ.setdefault("PYTENSOR_FLAGS", "cxx=,linker=numba")
os.environ.setdefault("MPLBACKEND", "agg")

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")


def missing(what):
    """A reader sees a skip that says what is missing; the gate fails."""
    if IN_CI:
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def site():
    """The folder of the built book."""
    html = ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        missing("The book is not built: run `make book`.")
    return html
