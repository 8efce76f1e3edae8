"""``break``, ``continue`` and ``return`` become structured control flow.

The rest of a block after ``if t: continue`` moves into the ``else`` branch, so most jumps need no flag at
all; an early ``return`` outside loops makes the ``if`` the last statement of the function. Flags
(``did_break``, ``did_return``) are left for what leaves a loop, and for blocks where both sides of a branch
may go on.

Afterwards a ``break`` or ``continue`` is found only in loops that stay Python loops, and a ``return`` only
where it returns from the function it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import gast
from autoloop.conversion.leaving import followed
from autoloop.conversion.matching import as_branches
from autoloop.conversion.nodes import Maker, Node, copy_tree, header
from autoloop.conversion.scopes import FUNCTIONS
from autoloop.conversion.unfolding import binds_in, unfolded
from autoloop.conversion.unsupported import must_stay_python
from autoloop_runtime.base.dataclass import dataclass, field, replace

Block = list[Node]
_LOOPS = (gast.While, gast.For)
_COMPOUND = (gast.With, gast.Try, gast.TryStar, gast.Match)


@dataclass(frozen=True)
class Jumps:
    """What the lowering found out, beside the lowered tree.

    Attributes
    ----------
    body : list of node
        The lowered statements of the function.
    until : dict
        Loop (by id) to the flags that end it before its test is asked again.
    returning : frozenset
        Branches (by id) that are the last statement of their function and return its value.
    python : frozenset
        Loops and branches (by id) that stay Python statements.
    flags : tuple of str
        The names made here.
    """

    body: Block
    until: dict[int, tuple[str, ...]]
    returning: frozenset[int]
    python: frozenset[int]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class _Context:
    """Where a block stands.

    ``tail`` tells what falling off its end means: the function returns ("function"), the loop goes on
    ("loop"), or statements follow ("inside"). ``direct`` is true while a ``return`` statement still returns
    from the function; ``loop`` holds the loop around it.
    """

    tail: str
    direct: bool
    loop: _Loop | None = None


@dataclass
class _Loop:
    """A loop being lowered: whether it stays Python, and the names of its flags by kind."""

    python: bool
    flags: dict[str, str] = field(default_factory=dict)


def lower_jumps(
    body: Block, fresh: Callable[[str], str], is_static: Callable[[Node], bool], is_options: Callable[[Node], bool]
) -> Jumps:
    """Lower the jumps of one function body.

    Parameters
    ----------
    body : list of node
        The statements.
    fresh : callable
        Gives an unused name like the one it is given.
    is_static : callable
        Whether a test is a Python bool for certain (``x is None``), so that its branch can stay.
    is_options : callable
        Whether a statement sets the options of the loop that it heads.
    """
    lowering = _Lowering(fresh, is_static, is_options)
    lowered = lowering.block(body, _Context("function", direct=True))
    return Jumps(
        body=lowered,
        until=lowering.until,
        returning=frozenset(lowering.returning),
        python=frozenset(lowering.python),
        flags=tuple(lowering.flags),
    )


class _Lowering:
    def __init__(
        self, fresh: Callable[[str], str], is_static: Callable[[Node], bool], is_options: Callable[[Node], bool]
    ) -> None:
        self.fresh = fresh
        self.is_static = is_static
        self.is_options = is_options
        self.until: dict[int, tuple[str, ...]] = {}
        self.returning: set[int] = set()
        self.python: set[int] = set()
        self.flags: list[str] = []
        self.return_flag = ""
        self.return_value = ""
        self.raised: set[str] = set()  # kinds of flags that the statements lowered so far may raise
        self.looked_through: dict[Node, bool] = {}  # what `must_stay_python` found out
        self.keep: list[Node] = []  # nodes are known by id: none may die while this runs

    # -- blocks -----------------------------------------------------------------------------------------

    def block(self, statements: Block, context: _Context) -> Block:
        """Lower the statements of one block; the rest may move into a branch of one of them."""
        done: Block = []
        rest = list(statements)
        while rest:
            statement, *new = self._simpler(rest.pop(0))
            rest[:0] = new
            if isinstance(statement, gast.Return | gast.Break | gast.Continue):
                done += self._jump(statement, context)
                break
            if isinstance(statement, _LOOPS):
                rest = self._loop(statement, rest, done, context)
            elif isinstance(statement, gast.If) and not self._keeps_python(statement, context):
                rest = self._branch(statement, rest, done, context)
            elif isinstance(statement, (gast.If, *_COMPOUND)):
                rest = self._compound(statement, rest, done, context)
            else:
                done.append(statement)
                if isinstance(statement, gast.Raise):
                    break
        return done

    def _simpler(self, statement: Node) -> Block:
        """Return the statements that a statement is short for, itself in most cases."""
        if isinstance(statement, gast.Match) and not must_stay_python(statement, self.looked_through):
            return as_branches(statement, self._new_flag)
        if isinstance(statement, gast.Try):
            return followed(statement, self._new_flag)
        return unfolded(statement, self._new_flag)

    def _lowered(self, blocks: Sequence[Block], context: _Context) -> tuple[list[Block], set[str]]:
        """Lower blocks; also return the kinds of flags that they may raise."""
        before, self.raised = self.raised, set()
        lowered = [self.block(one, context) for one in blocks]
        raised = self.raised
        self.raised = before | raised
        return lowered, raised

    def _keeps_python(self, statement: Node, context: _Context) -> bool:
        in_python_loop = context.loop is not None and context.loop.python
        keeps = (
            must_stay_python(statement, self.looked_through)
            or (in_python_loop and escaping(statement))
            # Only a branch that stands directly in the function may hold a plain `return`.
            or (context.direct and self.is_static(statement.test))
        )
        if keeps:
            self._stays_python(statement)
        return keeps

    def _stays_python(self, statement: Node) -> Node:
        self.python.add(id(statement))
        self.keep.append(statement)
        return statement

    def _jump(self, statement: Node, context: _Context) -> Block:
        make = Maker(statement)
        in_python_loop = context.loop is not None and context.loop.python
        if isinstance(statement, gast.Return):
            if context.direct:
                return [statement]
            value = statement.value if statement.value is not None else make.constant(None)
            flags = [
                make.set_name(self._value_name(), value),
                make.set_name(self._flag(context, "did_return"), make.constant(True)),
            ]
            return [*flags, make.place(gast.Break())] if in_python_loop else flags
        if in_python_loop or context.loop is None:
            return [statement]
        if isinstance(statement, gast.Break):
            return [make.set_name(self._flag(context, "did_break"), make.constant(True))]
        if context.tail == "loop":
            return [make.pass_()]
        return [make.set_name(self._flag(context, "did_continue"), make.constant(True))]

    # -- flags ------------------------------------------------------------------------------------------

    def _flag(self, context: _Context, kind: str) -> str:
        """Return the flag of this kind, and note that the statements being lowered may raise it."""
        self.raised.add(kind)
        if kind == "did_return":
            self.return_flag = self.return_flag or self._new_flag(kind)
            return self.return_flag
        assert context.loop is not None
        if kind not in context.loop.flags:
            context.loop.flags[kind] = self._new_flag(kind)
        return context.loop.flags[kind]

    def _value_name(self) -> str:
        self.return_value = self.return_value or self._new_flag("return_value")
        return self.return_value

    def _new_flag(self, kind: str) -> str:
        name = self.fresh(kind)
        self.flags.append(name)
        return name

    def _initial(self, origin: Node, kinds: set[str], context: _Context) -> Block:
        """Return the statements that lower the flags before a statement which may raise them."""
        make = header(origin)
        names = []
        if context.tail == "loop" and context.loop is not None and "did_continue" in kinds:
            names.append(context.loop.flags["did_continue"])
        if context.tail == "function" and "did_return" in kinds:
            names.append(self.return_flag)
        return [make.set_name(name, make.constant(False)) for name in names]

    def _after(self, origin: Node, kinds: set[str], rest: Block, done: Block, context: _Context) -> Block:
        """Put what follows a statement that may have raised flags behind those flags."""
        make = header(origin)
        if context.tail == "function":
            if "did_return" not in kinds:
                return rest
            returned = make.return_(make.load(self._value_name()))
            leaving = make.if_(make.load(self.return_flag), [returned], self.block(rest, context))
            self._mark_returning(leaving)
            done.append(leaving)
            return []
        loop = context.loop
        if loop is not None and loop.python:
            if id(origin) in self.until and "did_return" in kinds:
                done.append(self._leave_python_loop(make, context))
            return rest
        names = self._names(kinds, context)
        if not rest or not names:
            return rest
        done.append(make.if_(make.not_(make.either(names)), self.block(rest, context), []))
        return []

    def _names(self, kinds: set[str], context: _Context) -> list[str]:
        """Return the flags to ask before what follows a statement that may have raised them."""
        loop = context.loop
        names = [] if loop is None else [loop.flags[k] for k in ("did_break", "did_continue") if k in kinds]
        return names + ([self.return_flag] if "did_return" in kinds else [])

    def _leave_python_loop(self, make: Maker, context: _Context) -> Node:
        leave = make.return_(make.load(self._value_name())) if context.direct else make.place(gast.Break())
        return self._stays_python(make.if_(make.load(self.return_flag), [leave], []))

    def _mark_returning(self, branch: Node) -> None:
        self.returning.add(id(branch))
        self.keep.append(branch)

    # -- branches ---------------------------------------------------------------------------------------

    def _branch(self, statement: Node, rest: Block, done: Block, context: _Context) -> Block:
        if not escaping(statement):
            inner = replace(context, tail="inside", direct=False)
            done.append(self._with_blocks(statement, inner))
            return rest
        if len(rest) == 1 and isinstance(rest[0], gast.Return) and context.tail == "function":
            # One `return` may stand on both sides: that reads better than a flag.
            statement, rest = _absorb(statement, rest, copy_tree(rest)), []
        then_falls, else_falls = falls_off(statement.body), falls_off(statement.orelse)
        if rest and not (then_falls and else_falls):
            statement, rest = _absorb(statement, rest if then_falls else [], rest if else_falls else []), []
        if not rest and context.tail == "loop":
            done.append(self._with_blocks(statement, context))
            return []
        if not rest and context.direct and (context.tail == "function" or not falls_off([statement])):
            new = self._with_blocks(statement, _Context("function", direct=True))
            self._mark_returning(new)
            done.append(new)
            return []
        inner = replace(context, tail="inside", direct=False)
        blocks, kinds = self._lowered([statement.body, statement.orelse], inner)
        done += self._initial(statement, kinds, context)
        done.append(self._branch_of(statement, *blocks))
        return self._after(statement, kinds, rest, done, context)

    def _with_blocks(self, statement: Node, context: _Context) -> Node:
        body, orelse = self.block(statement.body, context), self.block(statement.orelse, context)
        return self._branch_of(statement, body, orelse)

    def _branch_of(self, statement: Node, body: Block, orelse: Block) -> Node:
        new = gast.If(statement.test, body or [header(statement).pass_()], orelse)
        self.keep.append(new)
        return gast.copy_location(new, statement)

    # -- loops ------------------------------------------------------------------------------------------

    def _loop(self, statement: Node, rest: Block, done: Block, context: _Context) -> Block:
        if must_stay_python(statement, self.looked_through):
            return self._python_loop(statement, rest, done, context)
        make = header(statement)
        endless = isinstance(statement, gast.While) and _endless(statement)
        until: list[str] = []
        if isinstance(statement, gast.While) and binds_in(statement.test):
            until.append(self._new_flag("is_done"))
            statement = self._test_into_body(statement, until[0])
        loop = _Loop(python=False)
        before = self.raised
        blocks, raised = self._lowered([statement.body], _Context("loop", direct=False, loop=loop))
        self.raised = before  # this loop's own flags do not leave it
        until += [loop.flags["did_break"]] if "did_break" in raised else []
        done += [make.set_name(name, make.constant(False)) for name in until]
        kinds = raised & {"did_return"}
        if kinds:
            until.append(self.return_flag)
            self.raised = before | kinds
        new = _loop_of(statement, blocks[0] or [make.pass_()], [])
        self.keep.append(new)
        self.until[id(new)] = tuple(until)
        done += self._initial(statement, kinds, context)
        done.append(new)
        if endless and kinds and context.direct:
            done.append(make.return_(make.load(self._value_name())))
            return []
        return self._after(new, kinds, self._loop_else(statement, loop) + rest, done, context)

    def _test_into_body(self, statement: Node, exhausted: str) -> Node:
        """Move a test that binds a name (``while (x := f()):``) into the body, where it can bind it."""
        make = header(statement)
        leave = make.set_name(exhausted, make.constant(True))
        first = statement.body[:1] if self.is_options(statement.body[0]) else []
        rest = statement.body[len(first) :] or [make.pass_()]
        new = _loop_of(statement, [*first, make.if_(statement.test, rest, [leave])], statement.orelse)
        new.test = make.constant(True)
        return new

    @staticmethod
    def _loop_else(statement: Node, loop: _Loop) -> Block:
        """Return the ``else`` block of a loop as statements after it."""
        if not statement.orelse or "did_break" not in loop.flags:
            return list(statement.orelse)
        make = header(statement)
        return [make.if_(make.not_(make.load(loop.flags["did_break"])), list(statement.orelse), [])]

    def _python_loop(self, statement: Node, rest: Block, done: Block, context: _Context) -> Block:
        inner = _Context("inside", context.direct, _Loop(python=True))
        (body,), kinds = self._lowered([statement.body], inner)
        (orelse,), more = self._lowered([statement.orelse], replace(context, tail="inside"))
        new = self._stays_python(_loop_of(statement, body, orelse))
        done += self._initial(statement, kinds | more, context)
        done.append(new)
        return self._after(new, kinds | more, rest, done, context)

    # -- with, try, match and branches that stay Python -----------------------------------------------------

    def _compound(self, statement: Node, rest: Block, done: Block, context: _Context) -> Block:
        inner = replace(context, tail="inside")
        kinds: set[str] = set()
        for owner, name, block in list(block_fields(statement)):
            if isinstance(statement, gast.Try) and name == "orelse" and block and kinds:
                # The `else` of a `try` does not run if the body jumped.
                make = Maker(statement)
                block = [make.if_(make.not_(make.either(self._names(kinds, context))), block, [])]
            if name == "finalbody" and any(map(escaping, block)):
                self._all_python(block)
                continue
            (lowered,), more = self._lowered([block], inner)
            kinds |= more
            setattr(owner, name, lowered)
        done += self._initial(statement, kinds, context)
        done.append(statement)
        return self._after(statement, kinds, rest, done, context)

    def _all_python(self, block: Block) -> None:
        """Keep statements whose jumps leave a ``finally`` block: they swallow the exception on its way."""
        for statement in block:
            if isinstance(statement, (gast.If, *_LOOPS)):
                self._stays_python(statement)
            for _, _, inner in block_fields(statement):
                self._all_python(inner)


def _absorb(statement: Node, into_then: Block, into_else: Block) -> Node:
    new = gast.If(statement.test, [*statement.body, *into_then], [*statement.orelse, *into_else])
    return gast.copy_location(new, statement)


def _loop_of(loop: Node, body: Block, orelse: Block) -> Node:
    """Return a loop like ``loop`` with other blocks."""
    if isinstance(loop, gast.While):
        new = gast.While(loop.test, body, orelse)
    else:
        new = gast.For(loop.target, loop.iter, body, orelse, None)
    return gast.copy_location(new, loop)


def escaping(statement: Node) -> bool:
    """Return whether a ``break``, ``continue`` or ``return`` in a statement leaves it."""
    if isinstance(statement, gast.Return | gast.Break | gast.Continue):
        return True
    if isinstance(statement, _LOOPS):
        return any(_returns(one) for one in statement.body) or any(map(escaping, statement.orelse))
    return any(escaping(one) for _, _, block in block_fields(statement) for one in block)


def _returns(statement: Node) -> bool:
    if isinstance(statement, gast.Return):
        return True
    return any(_returns(one) for _, _, block in block_fields(statement) for one in block)


def falls_off(block: Block, until: dict[int, tuple[str, ...]] | None = None) -> bool:
    """Return whether control may reach the end of a block; ``until`` holds the flags that end its lowered loops."""
    for statement in block:
        if isinstance(statement, gast.Return | gast.Raise | gast.Break | gast.Continue):
            return False
        if isinstance(statement, gast.If):
            if statement.orelse and not falls_off(statement.body, until) and not falls_off(statement.orelse, until):
                return False
        elif isinstance(statement, gast.While) and _endless(statement) and not (until or {}).get(id(statement)):
            return False
    return True


def _endless(loop: Node) -> bool:
    """Return whether a ``while True`` has no ``break`` of its own."""
    if not (isinstance(loop.test, gast.Constant) and loop.test.value):
        return False
    return not any(map(_breaks, loop.body))


def _breaks(statement: Node) -> bool:
    if isinstance(statement, gast.Break):
        return True
    if isinstance(statement, _LOOPS):
        return any(map(_breaks, statement.orelse))
    return any(_breaks(one) for _, _, block in block_fields(statement) for one in block)


def block_fields(statement: Node) -> Iterator[tuple[Node, str, Block]]:
    """Yield ``(owner, field, block)`` for the blocks of a compound statement."""
    if isinstance(statement, (*FUNCTIONS, gast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield statement, name, block
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, None) or []:
            yield part, "body", part.body
