"""A light lint of the prose: no word twice, none of the words that say nothing."""

import re

import pytest
from conftest import ROOT

TEXTS = sorted(
    [ROOT / name for name in ("index.md", "README.md", "CONTRIBUTING.md")]
    + [path for top in ("chapters", "appendix", "course") for path in ROOT.glob(f"{top}/**/*.md")]
)
EMPTY = re.compile(
    r"\b(obviously|clearly|trivially|leverage[sd]?|utilize[sd]?|seamless(ly)?|cutting[- ]edge"
    r"|state-of-the-art|powerful|delve|crucial(ly)?|in order to|needless to say"
    r"|it is worth noting)\b",
    re.I,
)
TWICE = re.compile(r"\b([a-z]+)[ \n]\1\b", re.I)


def faults(text):
    """What is wrong in the prose of a page; its code, formulas and tables are left out."""
    text = re.sub(r"^(`{3,})\{code-cell\}.*?^\1$", "", text, flags=re.S | re.M)
    text = re.sub(r"\A---.*?^---", "", text, flags=re.S | re.M)
    text = re.sub(r"\$[^$]*\$|`[^`]*`", "0", text).replace("|", "\n\n")
    return [match.group() for rule in (EMPTY, TWICE) for match in rule.finditer(text)]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_prose(path):
    assert faults(path.read_text(encoding="utf-8")) == []


def test_lint_finds():
    assert faults("This is clearly so.") == ["clearly"]
    assert faults("It says the\nthe same.") == ["the\nthe"]
    assert faults("In `the the` code, and $a a$ in formulas, it may.") == []
