"""``break``, ``continue`` and ``return`` become structured control flow.

The rest of a block after ``if t: continue`` moves into the ``else`` branch, so most jumps need no flag at
all; an early ``return`` outside loops makes the ``if`` the last statement of the function. Flags
(``did_break``, ``did_return``) are left for what leaves a loop, and for blocks where both sides of a branch
may go on.

Afterwards a ``break`` or ``continue`` is found only in loops that stay Python loops, and a ``return`` only
where it returns from the function it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.forks import undivided

from .exits import LOOPS, always_leaves, block_fields, escaping, falls_off, followed, is_endless
from .jump_flags import Context, JumpFlags, LoopFlags
from .nodes import Block, Maker, Node, copy_tree, header
from .unfolding import binds_in, unfolded
from .unsupported import must_stay_python

_Asked = Callable[[Node], bool]
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


def lower_jumps(
    body: Block, fresh: Callable[[str], str], is_static: _Asked, is_options: _Asked, in_generator: bool = False
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
    in_generator : bool
        Whether what jumps stays Python: what follows it may hold a `yield`, which no branch of ours can.
    """
    lowering = _Lowering(fresh, is_static, is_options, in_generator)
    lowered = lowering.block(body, Context("function", direct=True))
    return Jumps(
        body=lowered,
        until=lowering.until,
        returning=frozenset(lowering.returning),
        python=frozenset(lowering.python),
        flags=tuple(lowering.flags.names),
    )


class _Lowering:
    def __init__(self, fresh: Callable[[str], str], is_static: _Asked, is_options: _Asked, in_generator: bool) -> None:
        self.flags = JumpFlags(fresh)
        self.is_static = is_static
        self.is_options = is_options
        self.in_generator = in_generator
        self.until: dict[int, tuple[str, ...]] = {}
        self.returning: set[int] = set()
        self.python: set[int] = set()
        self.looked_through: dict[Node, bool] = {}  # what `must_stay_python` found out
        self.keep: list[Node] = []  # nodes are known by id: none may die while this runs

    # -- blocks -----------------------------------------------------------------------------------------

    def block(self, statements: Block, context: Context) -> Block:
        """Lower the statements of one block; the rest may move into a branch of one of them."""
        done: Block = []
        rest = list(statements)
        while rest:
            statement, *new = self._simpler(rest.pop(0))
            rest[:0] = new
            if isinstance(statement, gast.Return | gast.Break | gast.Continue):
                done += self._jump(statement, context)
                break
            if isinstance(statement, LOOPS):
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
        if isinstance(statement, gast.Match | gast.Try) and self._must_stay(statement):
            return [statement]
        if isinstance(statement, gast.Match):
            with undivided():
                from .matching import as_branches

            return as_branches(statement, self.flags.new)
        return (followed if isinstance(statement, gast.Try) else unfolded)(statement, self.flags.new)

    def _lowered(self, blocks: Sequence[Block], context: Context) -> tuple[list[Block], set[str]]:
        """Lower blocks; also return the kinds of flags that they may raise."""
        before, self.flags.raised = self.flags.raised, set()
        lowered = [self.block(one, context) for one in blocks]
        raised = self.flags.raised
        self.flags.raised = before | raised
        return lowered, raised

    def _must_stay(self, statement: Node) -> bool:
        return (self.in_generator and escaping(statement)) or must_stay_python(statement, self.looked_through)

    def _keeps_python(self, statement: Node, context: Context) -> bool:
        in_python_loop = context.loop is not None and context.loop.python
        keeps = self._must_stay(statement) or (in_python_loop and escaping(statement))
        # Only a branch that stands directly in the function may hold a plain `return`.
        keeps = keeps or (context.direct and self.is_static(statement.test))
        if keeps:
            self._stays_python(statement)
        return keeps

    def _stays_python(self, statement: Node) -> Node:
        self.python.add(id(statement))
        self.keep.append(statement)
        return statement

    def _jump(self, statement: Node, context: Context) -> Block:
        make = Maker(statement)
        in_python_loop = context.loop is not None and context.loop.python
        if isinstance(statement, gast.Return):
            if context.direct:
                return [statement]
            value = statement.value if statement.value is not None else make.constant(None)
            flags = [
                make.set_name(self.flags.value(), value),
                make.set_name(self.flags.raised_in(context, "did_return"), make.constant(True)),
            ]
            return [*flags, make.place(gast.Break())] if in_python_loop else flags
        if in_python_loop or context.loop is None:
            return [statement]
        if isinstance(statement, gast.Break):
            return [make.set_name(self.flags.raised_in(context, "did_break"), make.constant(True))]
        if context.tail == "loop":
            return [make.pass_()]
        return [make.set_name(self.flags.raised_in(context, "did_continue"), make.constant(True))]

    # -- what follows -------------------------------------------------------------------------------------

    def _after(self, origin: Node, kinds: set[str], rest: Block, done: Block, context: Context) -> Block:
        """Put what follows a statement that may have raised flags behind those flags."""
        make = header(origin)
        if context.tail == "function":
            if "did_return" not in kinds:
                return rest
            returned = make.return_(make.load(self.flags.value()))
            leaving = make.if_(make.load(self.flags.returned), [returned], self.block(rest, context))
            self._mark_returning(leaving)
            done.append(leaving)
            return []
        loop = context.loop
        if loop is not None and loop.python:
            if id(origin) in self.until and "did_return" in kinds:
                done.append(self._leave_python_loop(make, context))
            return rest
        names = self.flags.asked(kinds, context)
        if not rest or not names:
            return rest
        inner = replace(context, direct=False)  # in that branch a plain `return` would give its value to nobody
        done.append(make.if_(make.not_(make.either(names)), self.block(rest, inner), []))
        return []

    def _leave_python_loop(self, make: Maker, context: Context) -> Node:
        leave = make.return_(make.load(self.flags.value())) if context.direct else make.place(gast.Break())
        return self._stays_python(make.if_(make.load(self.flags.returned), [leave], []))

    def _mark_returning(self, branch: Node) -> None:
        self.returning.add(id(branch))
        self.keep.append(branch)

    # -- branches ---------------------------------------------------------------------------------------

    def _branch(self, statement: Node, rest: Block, done: Block, context: Context) -> Block:
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
            new = self._with_blocks(statement, Context("function", direct=True))
            self._mark_returning(new)
            done.append(new)
            return []
        inner = replace(context, tail="inside", direct=False)
        blocks, kinds = self._lowered([statement.body, statement.orelse], inner)
        done += self.flags.initial(statement, kinds, context)
        done.append(self._branch_of(statement, *blocks))
        return self._after(statement, kinds, rest, done, context)

    def _with_blocks(self, statement: Node, context: Context) -> Node:
        body, orelse = self.block(statement.body, context), self.block(statement.orelse, context)
        return self._branch_of(statement, body, orelse)

    def _branch_of(self, statement: Node, body: Block, orelse: Block) -> Node:
        new = gast.If(statement.test, body or [header(statement).pass_()], orelse)
        self.keep.append(new)
        return gast.copy_location(new, statement)

    # -- loops ------------------------------------------------------------------------------------------

    def _loop(self, statement: Node, rest: Block, done: Block, context: Context) -> Block:
        if self._must_stay(statement):
            return self._python_loop(statement, rest, done, context)
        make = header(statement)
        endless = isinstance(statement, gast.While) and is_endless(statement)
        until: list[str] = []
        if isinstance(statement, gast.While) and binds_in(statement.test):
            until.append(self.flags.new("is_done"))
            statement = self._test_into_body(statement, until[0])
        loop = LoopFlags(python=False)
        before = self.flags.raised
        blocks, raised = self._lowered([statement.body], Context("loop", direct=False, loop=loop))
        self.flags.raised = before  # this loop's own flags do not leave it
        until += [loop.flags["did_break"]] if "did_break" in raised else []
        done += [make.set_name(name, make.constant(False)) for name in until]
        kinds = raised & {"did_return"}
        if kinds:
            until.append(self.flags.returned)
            self.flags.raised = before | kinds
        new = _loop_of(statement, blocks[0] or [make.pass_()], [])
        self.keep.append(new)
        self.until[id(new)] = tuple(until)
        done += self.flags.initial(statement, kinds, context)
        done.append(new)
        if endless and kinds and context.direct:
            done.append(make.return_(make.load(self.flags.value())))
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
    def _loop_else(statement: Node, loop: LoopFlags) -> Block:
        """Return the ``else`` block of a loop as statements after it."""
        if not statement.orelse or "did_break" not in loop.flags:
            return list(statement.orelse)
        make = header(statement)
        return [make.if_(make.not_(make.load(loop.flags["did_break"])), list(statement.orelse), [])]

    def _python_loop(self, statement: Node, rest: Block, done: Block, context: Context) -> Block:
        inner = Context("inside", context.direct, LoopFlags(python=True))
        (body,), kinds = self._lowered([statement.body], inner)
        (orelse,), more = self._lowered([statement.orelse], replace(context, tail="inside"))
        new = self._stays_python(_loop_of(statement, body, orelse))
        done += self.flags.initial(statement, kinds | more, context)
        done.append(new)
        return self._after(new, kinds | more, rest, done, context)

    # -- with, try, match and branches that stay Python -----------------------------------------------------

    def _compound(self, statement: Node, rest: Block, done: Block, context: Context) -> Block:
        inner, kinds = replace(context, tail="inside"), set[str]()
        leaves = context.direct and always_leaves(statement)
        for owner, name, block in list(block_fields(statement)):
            if isinstance(statement, gast.Try) and name == "orelse" and block and kinds:
                # The `else` of a `try` does not run if the body jumped.
                make = Maker(statement)
                block = [make.if_(make.not_(make.either(self.flags.asked(kinds, context))), block, [])]
            if name == "finalbody" and any(map(escaping, block)):
                self._all_python(block)
                continue
            (lowered,), more = self._lowered([block], inner)
            kinds |= more
            setattr(owner, name, lowered)
        done += self.flags.initial(statement, kinds, context)
        done.append(statement)
        if leaves and context.tail == "function" and "did_return" in kinds:
            done.append(header(statement).return_(header(statement).load(self.flags.value())))
            return []
        return self._after(statement, kinds, rest, done, context)

    def _all_python(self, block: Block) -> None:
        """Keep statements whose jumps leave a ``finally`` block: they swallow the exception on its way."""
        for statement in block:
            if isinstance(statement, (gast.If, *LOOPS)):
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
