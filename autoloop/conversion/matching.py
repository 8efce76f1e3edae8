"""A ``match`` on values becomes branches, so that a tensor may decide.

That goes for patterns that compare, ``case 3 | 4``, that bind, ``case y if y > 3``, and for ``case _``. Patterns that
look into their subject ask for what Python knows, the structure, and stay Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from .nodes import Block, Maker, Node, children


def as_branches(statement: Node, new_name: Callable[[str], str]) -> Block:
    """Return the statements that a ``match`` on values becomes; any other statement, or ``match``, as it is.

    Parameters
    ----------
    statement : node
        The statement.
    new_name : callable
        Gives a name of ours for a variable.
    """
    if not isinstance(statement, gast.Match) or not all(map(_compares, statement.cases)):
        return [statement]
    subject = new_name("subject")
    rest: Block = []
    for case in reversed(statement.cases):
        rest = _branch(case, subject, rest)
    make = Maker(statement.subject)
    return [make.set_name(subject, statement.subject), *rest]


def _compares(case: Node) -> bool:
    pattern = case.pattern
    if isinstance(pattern, gast.MatchAs):
        return pattern.pattern is None or (case.guard is None and _is_value(pattern.pattern))
    return _is_value(pattern)


def _is_value(pattern: Node) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return all(map(_is_value, pattern.patterns))
    return isinstance(pattern, gast.MatchValue | gast.MatchSingleton)


def _branch(case: Node, subject: str, rest: Block) -> Block:
    """Return the branch of one case; ``rest`` are those of the cases after it."""
    pattern, make = case.pattern, Maker(case.pattern)
    name = getattr(pattern, "name", None)
    bound = [make.set_name(name, make.load(subject))] if name else []
    if isinstance(pattern, gast.MatchAs):
        if pattern.pattern is None:
            return [*bound, *([make.if_(case.guard, case.body, rest)] if case.guard else case.body)]
        pattern = pattern.pattern
    test = _test(pattern, subject)
    if case.guard is not None:
        test = make.place(gast.BoolOp(gast.And(), [test, case.guard]))
    return [make.if_(test, [*bound, *case.body], rest)]


def _test(pattern: Node, subject: str) -> Node:
    make = Maker(pattern)
    if isinstance(pattern, gast.MatchOr):
        return make.place(gast.BoolOp(gast.Or(), [_test(one, subject) for one in pattern.patterns]))
    if isinstance(pattern, gast.MatchSingleton):
        return make.place(gast.Compare(make.load(subject), [gast.Is()], [make.constant(pattern.value)]))
    return make.place(gast.Compare(make.load(subject), [gast.Eq()], [pattern.value]))


def class_patterns(statement: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the classes that a ``match`` asks for, and whether it asks the subject itself or a part of it."""
    todo = [(case.pattern, True) for case in statement.cases]
    while todo:
        pattern, is_whole = todo.pop()
        if isinstance(pattern, gast.MatchClass):
            yield pattern.cls, is_whole
        inside = is_whole and isinstance(pattern, gast.MatchOr | gast.MatchAs)
        todo += [(one, inside) for one in children(pattern) if isinstance(one, gast.pattern)]
