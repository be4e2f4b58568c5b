"""Pages are executed beforehand; their claims and times reach the pages that tell them."""

import json

PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A page

```{code-cell} ipython3
import time

from myst_nb import glue

time.sleep(0.3)
glue("claim-answer", {"value": VALUE}, display=False)
```
"""


def test_claims_and_times_are_collected(small_book):
    book = small_book(PAGE.replace("VALUE", "42"))
    first = book.build()
    assert first.returncode == 0, first.stderr
    folder = book.folder / "_build"
    assert json.loads((folder / "claims.json").read_text()) == {
        "answer": {"value": 42, "page": "index"}
    }
    (cell,) = json.loads((folder / "timings.json").read_text())["index"]
    assert cell["first_line"] == "import time"
    assert cell["section"] == "A page"
    assert 0.3 <= cell["seconds"] < 30
    (book.folder / "index.md").write_text(PAGE.replace("VALUE", "43"), encoding="utf-8")
    assert book.build().returncode == 0
    assert json.loads((folder / "claims.json").read_text())["answer"]["value"] == 43
