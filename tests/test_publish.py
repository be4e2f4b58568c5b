"""What a published copy adds, given its address: site map, previews, buttons, page not found."""

from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

BASE = "https://books.example.org/passk"
REPOSITORY = "https://github.com/example/passk"
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

Which model is better?

```{code-cell} ipython3
2 + 2
```
"""


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    from conftest import SmallBook

    book = SmallBook(tmp_path_factory.mktemp("published"), PAGE)
    run = book.build(BOOK_URL=f"{BASE}/", BOOK_REPOSITORY=REPOSITORY)
    assert run.returncode == 0, run.stderr
    return book.html


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_site_map_lists_every_page(html):
    places = [url[0].text for url in ElementTree.parse(html / "sitemap.xml").getroot()]
    assert places == [f"{BASE}/appendix/words.html", f"{BASE}/"]
    assert f"{BASE}/sitemap.xml" in (html / "robots.txt").read_text()


def test_previews_say_what_the_page_asks(html):
    page = soup(html / "index.html")
    tags = {meta["property"]: meta["content"] for meta in page.select("meta[property]")}
    assert tags["og:title"] == "A page"
    assert tags["og:description"] == "Which model is better?"
    assert page.select_one("link[rel=canonical]")["href"] == f"{BASE}/index.html"


def test_buttons_open_the_text_as_a_notebook(html):
    links = [a["href"] for a in soup(html / "index.html").select("a[href]")]
    binder = [link for link in links if link.startswith("https://mybinder.org")]
    assert binder == ["https://mybinder.org/v2/gh/example/passk/main?urlpath=lab/tree/index.md"]
    assert any(link.startswith(f"{REPOSITORY}/edit/main/index.md") for link in links)


def test_page_not_found_links_from_where_the_book_stands(html):
    page = soup(html / "404.html")
    assert page.base["href"] == "/passk/"
    assert page.h1.text == "Page not found"


def test_without_an_address_nothing_is_claimed(site):
    assert not (site / "sitemap.xml").exists()
    page = soup(site / "index.html")
    assert not page.select("link[rel=canonical]")
    assert page.select_one('meta[property="og:description"]')["content"].startswith("Does the")
    assert (site / "404.html").is_file()
