"""Turn pages of the book into plain notebooks that need nothing of Sphinx.

Roles and directives become ordinary Markdown, computed words come from the executed page, and
cells that the book hides keep only what a later cell needs.
"""

import ast
import functools
import re
from copy import deepcopy
from dataclasses import dataclass

import nbformat
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from prune_cells import HIDDEN, is_hidden, prune
from pybtex.backends.markdown import Backend
from pybtex.database import parse_file
from pybtex.plugin import find_plugin
from pybtex.richtext import Text

# --- What labels and works are called --------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """Where a label is (`chapters/01-passk-pitfalls`), and its number ("Figure 1.2") or title."""

    page: str
    name: str


def read_labels(html):
    """Label -> Target, from the built pages, with the numbers that a reader of the book sees."""
    found = {}
    for file in sorted(html.glob("[ca]*/*.html")):
        page = file.relative_to(html).with_suffix("").as_posix()
        soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        article = soup.select_one("article.bd-article")
        for tag in article.select("span[id], section[id]"):
            heading = tag.find_next(re.compile("^h[1-6]$"))
            if heading is not None:
                title = "".join(heading.find_all(string=True, recursive=False)).strip()
                found.setdefault(tag["id"], Target(page, title))
        for tag in article.select("figure[id], table[id], div.proof[id], div.exercise[id]"):
            number = tag.select_one(".caption-number")
            if number is not None:
                found[tag["id"]] = Target(page, number.get_text().strip())
        for tag in article.select("div.math[id]"):
            number = tag.select_one(".eqno").get_text().strip("\n #¶")
            found[tag["id"].removeprefix("equation-")] = Target(page, number)
    return found


class Works:
    """The works cited by the book, in words."""

    def __init__(self, bib):
        self.entries = parse_file(str(bib)).entries

    def authors(self, key):
        people = self.entries[key].persons["author"]
        names = [str(Text.from_latex(" ".join(p.prelast_names + p.last_names))) for p in people]
        if len(names) > 2:
            return f"{names[0]} et al."
        return " and ".join(names)

    def year(self, key):
        return self.entries[key].fields["year"]

    def listing(self, keys):
        """One paragraph a work, sorted by author, each with an anchor."""
        entries = sorted((self.entries[key] for key in set(keys)), key=lambda e: e.key)
        style = find_plugin("pybtex.style.formatting", "plain")()
        backend = Backend()
        # Markdown needs no escape for a dot or a hyphen, and shows it where it is none.
        backend.format_str = lambda text: text.replace("*", r"\*").replace("_", r"\_")
        return [
            f'<a id="{entry.key}"></a>' + formatted.text.render(backend).replace("\n", " ")
            for entry, formatted in zip(entries, style.format_entries(entries))
        ]


# --- MyST Markdown to Markdown ---------------------------------------------------------------

DIRECTIVE = re.compile(r"^(`{3,}|~{3,}|:{3,})\{([\w:-]+)\}[ \t]*(.*)$")
FENCE = re.compile(r"^(`{3,}|~{3,})[^`]*$")
ROLE = re.compile(r"(?<!`)\{([a-z][\w:-]*)\}`([^`]+)`(?!`)")
LINK = re.compile(r"\[([^\]]+)\]\((#[\w-]+|[\w./-]+\.md(?:#[\w-]+)?)\)")
WITH_TARGET = re.compile(r"^(.*?)\s*<([^>]+)>$", re.S)
BOXES = {"admonition": "", "seealso": "See also"}
BOXES |= {name: name.capitalize() for name in ("note", "tip", "warning", "important", "hint")}
LOCAL_PAGES = {
    "appendix/datasets": "../data/README.md",
    "appendix/glossary": "../glossary.md",
    "appendix/notation": "../notation.md",
}


@dataclass
class Directive:
    name: str
    argument: str
    options: dict
    body: list


def blocks(lines):
    """Cut lines into runs of text (lists of lines) and directives; other fences are text."""
    text, i = [], 0
    while i < len(lines):
        opened = DIRECTIVE.match(lines[i]) or FENCE.match(lines[i])
        if opened is None:
            text.append(lines[i])
            i += 1
            continue
        mark = opened[1]
        closing = re.compile(rf"^{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        end = next((j for j in range(i + 1, len(lines)) if closing.match(lines[j])), None)
        if end is None:
            raise ValueError(f"the fence {lines[i]!r} is not closed")
        if len(opened.groups()) == 1:
            text += lines[i : end + 1]
        else:
            yield text
            text, body, options = [], lines[i + 1 : end], {}
            while body and (option := re.match(r"^:([\w-]+):\s*(.*)$", body[0])):
                options[option[1]] = option[2]
                body = body[1:]
            yield Directive(opened[2], opened[3].strip(), options, body)
        i = end + 1
    yield text


class Plain:
    """Converts the Markdown of one page.

    Parameters
    ----------
    page : str
        Its name, such as `chapters/01-passk-pitfalls`.
    labels : dict
        Of `read_labels`.
    works : Works
    values : dict
        Glued name -> text, from the executed page.
    """

    def __init__(self, page, labels, works, values):
        self.page, self.labels, self.works, self.values = page, labels, works, values
        self.cited = []

    # Roles and links

    def number(self, label):
        try:
            return self.labels[label].name
        except KeyError:
            raise ValueError(f"{self.page} refers to {label}, which the built book lacks") from None

    def address(self, label):
        """Where a link to a label leads, or nothing if the bundle lacks the page."""
        target = self.labels.get(label)
        if target is None or target.page == self.page:
            return f"#{label}"
        if target.page.startswith("chapters/"):
            return f"{target.page.removeprefix('chapters/')}.ipynb#{label}"
        return LOCAL_PAGES.get(target.page, "")

    def link(self, text, label):
        address = self.address(label)
        return f"[{text}]({address})" if address else text

    def cite(self, kind, keys):
        self.cited += keys
        if kind == "cite:t":
            cited = [f"[{self.works.authors(k)} ({self.works.year(k)})](#{k})" for k in keys]
            return ", ".join(cited)
        cited = [f"[{self.works.authors(k)}, {self.works.year(k)}](#{k})" for k in keys]
        return f"({'; '.join(cited)})"

    def role(self, match):
        name, content = match[1], " ".join(match[2].split())
        named = WITH_TARGET.match(content)
        text, target = (named[1], named[2]) if named else ("", content)
        if name == "glue:text":
            target, _, form = content.partition(":")
            if target not in self.values:
                raise ValueError(f"{self.page} was executed without a value for {target}")
            value = self.values[target]
            return format(float(value), form) if form else value
        if name in ("numref", "eq", "prf:ref", "ref"):
            return self.link(text or self.number(target), target)
        if name in ("cite:t", "cite:p"):
            return self.cite(name, [key.strip() for key in content.split(",")])
        if name == "term":
            return text or target
        if name.startswith("py:"):
            return f"`{(text or target).lstrip('~')}`"
        raise ValueError(f"{self.page} has the role {name}, which is unknown here")

    def page_link(self, match):
        text, path = match[1], match[2]
        if path.startswith("#"):
            return self.link(text, path[1:])
        folder = self.page.partition("/")[0]
        name = path.partition(".md")[0]
        name = name.removeprefix("../") if name.startswith("../") else f"{folder}/{name}"
        if name.startswith("chapters/"):
            return f"[{text}]({name.removeprefix('chapters/')}.ipynb)"
        return f"[{text}]({LOCAL_PAGES[name]})" if name in LOCAL_PAGES else text

    def inline(self, text):
        text = LINK.sub(self.page_link, text)
        text = ROLE.sub(self.role, text)
        return re.sub(r"^\(([\w-]+)\)=$", r'<a id="\1"></a>\n', text, flags=re.M)

    # Directives

    def captioned(self, label, caption):
        anchor = f'<a id="{label}"></a>' if label else ""
        title = f"**{self.number(label)}.** " if label else ""
        return f"{anchor}{title}{self.inline(caption.strip())}"

    def title(self, d):
        label = d.options.get("label", "")
        anchor = f'<a id="{label}"></a>' if label else ""
        number = self.number(label) if label else d.name.partition(":")[2].capitalize()
        title, form = self.inline(d.argument), ". {}" if d.name == "exercise" else " ({})"
        return f"{anchor}**{number}{form.format(title) if title else ''}**"

    def table(self, d):
        """A list table as an ordinary one."""
        rows = []
        for line in d.body:
            cell = re.match(r"^(\*\s+-|\s+-)\s*(.*)$", line)
            if cell is None:
                if line.strip():
                    rows[-1][-1] += " " + line.strip()
            elif cell[1].startswith("*"):
                rows.append([cell[2]])
            else:
                rows[-1].append(cell[2])
        lines = ["| " + " | ".join(map(self.inline, row)) + " |" for row in rows]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        return "\n".join(lines)

    def directive(self, d):
        """One directive as Markdown."""
        inner = functools.partial(self.text, d.body)
        if d.name == "math":
            label, body = d.options.get("label"), "\n".join(d.body).strip()
            tag = rf"\tag{{{self.number(label).strip('()')}}}" if label else ""
            anchor = f'<a id="{label}"></a>\n\n' if label else ""
            return f"{anchor}$$\n{body}{tag}\n$$"
        if d.name == "prf:proof":
            return f"*Proof.* {inner()} ∎"
        if d.name.startswith("prf:"):
            return f"{self.title(d)}\n\n{inner()}"
        if d.name == "exercise":
            return f"---\n\n{self.title(d)}\n\n{inner()}"
        if d.name in BOXES:
            title = d.argument if d.name == "admonition" else BOXES[d.name]
            return f"**{self.inline(title)}**\n\n{inner()}"
        if d.name in ("table", "list-table"):
            body = self.table(d) if d.name == "list-table" else inner()
            return f"{self.captioned(d.options.get('name', ''), d.argument)}\n\n{body}"
        if d.name == "glossary":
            entries = re.split(r"\n\s*\n", "\n".join(d.body).strip())
            split = [entry.split("\n") for entry in entries]
            return "\n".join(
                f"- **{', '.join(x for x in e if x[0] != ' ')}**: "
                + self.inline(" ".join(x.strip() for x in e if x[0] == " "))
                for e in split
            )
        raise ValueError(f"{self.page} has the directive {d.name}, which is unknown here")

    def block(self, block):
        """One block as Markdown."""
        if isinstance(block, Directive):
            return self.directive(block)
        return self.inline("\n".join(line for line in block if not line.startswith("% "))).strip(
            "\n"
        )

    def text(self, lines):
        """Lines of MyST as Markdown."""
        done = map(self.block, blocks(lines))
        return "\n\n".join(part for part in done if part.strip())


# --- Notebooks -------------------------------------------------------------------------------


ANSWER = "answer"
FOLDED = {HIDDEN, "remove-input", "hide-input", "hide-cell"}


def glued(executed):
    """Glued name -> text, of an executed notebook."""
    values = {}
    for cell in executed.cells:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                text = next(v for k, v in output["data"].items() if k.endswith("text/plain"))
                quoted = re.fullmatch(r"(['\"]).*\1", text, re.S)
                values[name] = str(ast.literal_eval(text)) if quoted else text
    return values


def code_cell(cell):
    """A cell as Jupyter shows it: what the book folds is folded."""
    tags = set(cell.metadata.get("tags", []))
    metadata = {"tags": sorted(tags & {ANSWER})} if tags & {ANSWER} else {}
    if tags & FOLDED:
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(
        cell.source, metadata=metadata, outputs=[] if is_hidden(cell) else cell.outputs
    )


def joined(parts):
    """Markdown cells of the parts, cut where an answer goes."""
    cells, text = [], []
    for part in [*parts, None]:
        if isinstance(part, str):
            text += [part] if part.strip() else []
            continue
        if text:
            cells.append(new_markdown_cell("\n\n".join(text)))
            text = []
        if part is not None:
            cells.append(part)
    return cells


def convert(source, executed, plain, *, solutions):
    """A page as a plain notebook.

    Parameters
    ----------
    source : NotebookNode
        The page as jupytext reads it.
    executed : NotebookNode
        The same with outputs; only a notebook with solutions carries them on.
    plain : Plain
    solutions : bool
        Whether solutions stay; without them, an empty cell stands below each exercise.

    Returns
    -------
    NotebookNode
    """
    results = iter([c.get("outputs", []) for c in executed.cells if c.cell_type == "code"])
    cells, solution = [], None
    for cell in source.cells:
        shown = solutions or solution is None
        if cell.cell_type == "code":
            outputs = next(results)
            if not shown:
                continue
            made = new_code_cell(cell.source, metadata=deepcopy(cell.metadata))
            made.outputs = outputs if solutions else []
            cells.append(made)
            options = cell.metadata.get("mystnb", {})
            if figure := options.get("figure"):
                caption = plain.captioned(figure["name"], figure.get("caption", ""))
                cells.append(new_markdown_cell(caption))
            elif options.get("markdown_format") == "myst":
                # Only the book can show what the cell writes.
                made.metadata.tags = [HIDDEN]
                written = [o["data"]["text/markdown"] for o in outputs if "data" in o]
                cells += [new_markdown_cell(plain.text(text.split("\n"))) for text in written]
            continue
        parts = []
        for block in blocks(cell.source.split("\n")):
            name = block.name if isinstance(block, Directive) else ""
            if name == "solution-end":
                solution = None
            elif name == "solution-start":
                solution = block.argument
                parts.append("**Solution**" if solutions else "")
            elif solutions or solution is None:
                parts.append(plain.block(block))
                if name == "exercise":
                    parts.append("" if solutions else new_code_cell(metadata={"tags": [ANSWER]}))
        cells += joined(parts)
    pruned = [code_cell(cell) if cell.cell_type == "code" else cell for cell in prune(cells)]
    if plain.cited:
        works = "\n\n".join(plain.works.listing(plain.cited))
        pruned.append(new_markdown_cell(f"## References\n\n{works}"))
    notebook = new_notebook(cells=pruned)
    notebook.metadata.kernelspec = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata.language_info = {"name": "python"}
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i}"
    nbformat.validate(notebook)
    return notebook
