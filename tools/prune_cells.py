"""Decide which statements of the cells that the book hides a reader's notebook needs.

Hidden cells compute words for the text and assert what it claims. Outside the book there is no
use for either. But some of their names are used later, and a draw that is left out would change
all later ones.
"""

import ast
import symtable

HIDDEN = "remove-cell"
BLOCKS = ast.For | ast.While | ast.With | ast.If | ast.Try
FUNCTIONS = ast.FunctionDef | ast.ClassDef
IMPORTS = ast.Import | ast.ImportFrom
# Functions without an effect that a later cell could see.
IDLE = {"print", "display"}


def is_hidden(cell):
    return HIDDEN in cell.metadata.get("tags", [])


def globals_of(node):
    """The global names that a node reads, also inside functions and comprehensions."""
    top = symtable.symtable(ast.unparse(node), "cell", "exec")
    found = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    scopes = top.get_children()
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        found |= {s.get_name() for s in scope.get_symbols() if s.is_global() and s.is_referenced()}
    return found


def bound_by(node):
    """The global names that a statement binds, and those whose objects it assigns into."""
    if isinstance(node, FUNCTIONS):
        return {node.name}, set()
    if isinstance(node, IMPORTS):
        return {(a.asname or a.name).partition(".")[0] for a in node.names}, set()
    bound, changed = set(), set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            bound.add(n.id)
        elif isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store):
            changed |= {x.id for x in ast.walk(n.value) if isinstance(x, ast.Name)}
        elif isinstance(n, FUNCTIONS | IMPORTS):
            bound |= bound_by(n)[0]
    inner = {
        x.id
        for n in ast.walk(node)
        if isinstance(n, ast.comprehension)
        for x in ast.walk(n.target)
        if isinstance(x, ast.Name)
    }
    return bound - inner, changed


def makes_generator(node):
    """Whether the value of an expression is a random generator, or a collection of them."""
    match node:
        case ast.Call(func=ast.Attribute(attr="default_rng") | ast.Name(id="default_rng")):
            return True
        case ast.Call(func=ast.Attribute(attr="spawn", value=inner)) | ast.Subscript(value=inner):
            return makes_generator(inner)
        case ast.ListComp(elt=inner) | ast.DictComp(value=inner):
            return makes_generator(inner)
        case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Dict(values=inner):
            return any(map(makes_generator, inner))
    return False


class Reduced(ast.NodeTransformer):
    """Takes the statements without a use out of a block."""

    def __init__(self, useless):
        self.useless = useless

    def visit(self, node):
        if isinstance(node, FUNCTIONS):
            return node
        if isinstance(node, ast.stmt) and self.useless(node):
            return None
        node = self.generic_visit(node)
        if isinstance(node, BLOCKS) and not node.body:
            node.body = [ast.Pass()]
        return node


class Pruner:
    """Walks cells from the last to the first, with the names that are needed after each.

    Parameters
    ----------
    sources : list of str
        All code cells of a notebook.
    """

    def __init__(self, sources):
        self.trees = [ast.parse(source) for source in sources]
        self.functions, self.modules, self.generators = {}, set(), set()
        for n in (n for tree in self.trees for n in ast.walk(tree)):
            if isinstance(n, FUNCTIONS):
                self.functions.setdefault(n.name, set()).update(globals_of(n))
            elif isinstance(n, IMPORTS):
                self.modules |= bound_by(n)[0]
            elif isinstance(n, ast.Assign) and makes_generator(n.value):
                self.generators |= bound_by(n)[0]
        self.gluing = {"glue"}
        for _ in self.functions:
            self.gluing |= {name for name, used in self.functions.items() if used & self.gluing}

    def uses(self, node):
        """Names that a statement needs when it runs, also through the functions that it calls."""
        if isinstance(node, ast.FunctionDef):  # its body runs later
            outside = [
                *node.decorator_list,
                *node.args.defaults,
                *filter(None, node.args.kw_defaults),
            ]
            return set().union(*map(self.uses, outside))
        found, new = set(), globals_of(node)
        while new:
            found |= new
            new = set().union(*(self.functions.get(name, set()) for name in new)) - found
        return found

    def called(self, statement):
        """The first name of the call that a statement consists of: `plt` in `plt.close()`."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        while isinstance(call, ast.Call | ast.Attribute | ast.Subscript):
            call = call.func if isinstance(call, ast.Call) else call.value
        return call.id if isinstance(call, ast.Name) else ""

    def draws(self, statement, needed):
        """Whether the statement advances a random generator that is needed later."""
        return bool(self.uses(statement) & self.generators & needed)

    def useless(self, statement, needed):
        """Whether the statement only speaks to the book: a glued word, an assertion, a print."""
        if isinstance(statement, ast.FunctionDef):
            return statement.name in self.gluing
        if isinstance(statement, ast.ImportFrom):
            return statement.module == "myst_nb"
        if self.called(statement) in self.gluing:
            if self.draws(statement, needed):
                raise ValueError(f"a glued value draws at random: {ast.unparse(statement)}")
            return True
        idle = isinstance(statement, ast.Assert) or self.called(statement) in IDLE
        return idle and not self.draws(statement, needed)

    def acts(self, statement, needed):
        """Whether running the statement changes what is needed, or the state of a module."""
        bound, changed = bound_by(statement)
        if bound & needed or changed & (needed | self.modules):
            return True
        if isinstance(statement, FUNCTIONS):
            return False
        if isinstance(statement, BLOCKS):
            bodies = (getattr(statement, part, []) for part in ("body", "orelse", "finalbody"))
            return any(self.acts(s, needed) for body in bodies for s in body)
        call = statement.value if isinstance(statement, ast.Expr) else None
        method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        acted_on = self.modules | needed - self.functions.keys()
        return (method and self.called(statement) in acted_on) or self.draws(statement, needed)

    def before(self, statement, needed):
        """What is needed before a statement that runs; a loop is taken to run at least once."""
        if not isinstance(statement, BLOCKS):
            return (needed - bound_by(statement)[0]) | self.uses(statement)
        parts = [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")]
        parts += [handler.body for handler in getattr(statement, "handlers", [])]
        if isinstance(statement, ast.For):
            once = self.before_all(statement.body, needed)
            again = self.before_all(statement.body, needed | once)
            return (again - bound_by(statement.target)[0]) | self.uses(statement.iter)
        if isinstance(statement, ast.With):
            inside, items = self.before_all(statement.body, needed), statement.items
            names = [item.optional_vars for item in items if item.optional_vars is not None]
            inside -= set().union(*(bound_by(name)[0] for name in names))
            return inside.union(*(self.uses(item.context_expr) for item in items))
        test = getattr(statement, "test", None)
        either = needed.union(*(self.before_all(body, needed) for body in parts))
        return either | (self.uses(test) if test is not None else set())

    def before_all(self, statements, needed):
        for statement in reversed(statements):
            needed = self.before(statement, needed)
        return needed

    def hidden(self, tree, needed):
        """The statements of a hidden cell to keep, and what is needed before it."""
        kept = []
        for original in reversed(tree.body):
            text = ast.unparse(original)
            s = Reduced(lambda x, after=needed: self.useless(x, after)).visit(original)
            if s is None or not self.acts(s, needed):
                continue
            kept.append((s, ast.unparse(s) != text))
            needed = self.before(s, needed)
        return kept[::-1], needed


def layout(source, kept):
    """The kept statements as source, with the comments right above them."""
    lines, chunks = source.split("\n"), []
    for statement, changed in kept:
        decorators = [d.lineno for d in getattr(statement, "decorator_list", [])]
        first = min([statement.lineno, *decorators]) - 1
        while first > 0 and lines[first - 1].startswith("#"):
            first -= 1
        own = ast.unparse(statement) if changed else "\n".join(lines[first : statement.end_lineno])
        if chunks:
            before = kept[len(chunks) - 1][0]
            if isinstance(statement, FUNCTIONS) or isinstance(before, FUNCTIONS):
                own = f"\n\n{own}"
            elif isinstance(before, IMPORTS) and not isinstance(statement, IMPORTS):
                own = f"\n{own}"
        chunks.append(own)
    return "\n".join(chunks)


def prune(cells):
    """Leave in each hidden cell what later cells need of it; drop it if that is nothing."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    pruner, needed = Pruner([cell.source for cell in code]), set()
    for cell, tree in zip(reversed(code), reversed(pruner.trees)):
        if is_hidden(cell):
            kept, needed = pruner.hidden(tree, needed)
            cell.source = layout(cell.source, kept)
        else:
            needed = pruner.before_all(tree.body, needed)
    return [cell for cell in cells if cell.source or not is_hidden(cell)]
