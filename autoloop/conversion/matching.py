"""A ``match`` becomes branches, so that a tensor may decide.

Patterns that compare, ``case 3 | 4``, that ask for a class, ``case float()``, and that bind, ``case y if y > 3``,
become tests. A pattern that looks into its subject asks for two things: the structure, which Python knows and a
``match`` of one case answers, and the values in it, ``case (0, y)``, which are captured there and compared behind it::

    match subject:
        case (value, captured):
            matched = value == 0
    if matched:
        y = captured
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from .nodes import Block, Maker, Node, children, copy_tree
from .unfolding import binds_in


def as_branches(statement: Node, new_name: Callable[[str], str]) -> Block:
    """Return the statements that a ``match`` on values becomes; any other statement, or ``match``, as it is.

    Parameters
    ----------
    statement : node
        The statement.
    new_name : callable
        Gives a name of ours for a variable.
    """
    if not isinstance(statement, gast.Match) or not any(map(_asks_for_values, statement.cases)):
        return [statement]
    subject = new_name("subject")
    rest: Block = []
    for case in reversed(statement.cases):
        is_simple = _is_value(case.pattern) or _binds_value(case)
        rest = _branch(case, subject, rest) if is_simple else _Structure(new_name, subject).branches(case, rest)
    make = Maker(statement.subject)
    return [make.set_name(subject, statement.subject), *rest]


def _asks_for_values(case: Node) -> bool:
    """Return whether there is anything in a case that a run may have to decide."""
    alternatives = case.pattern.patterns if isinstance(case.pattern, gast.MatchOr) else [case.pattern]
    return case.guard is not None or any(map(_holds_test, alternatives))


def _holds_test(pattern: Node) -> bool:
    """Return whether there is a question in a pattern, other than in alternatives that look into their subject."""
    if isinstance(pattern, gast.MatchOr):
        return _is_value(pattern)
    inside = [one for one in children(pattern) if isinstance(one, gast.pattern)]
    return _is_test(pattern) or any(map(_holds_test, inside))


def _patterns(pattern: Node) -> Iterator[Node]:
    yield pattern
    for one in children(pattern):
        if isinstance(one, gast.pattern):
            yield from _patterns(one)


def _binds_value(case: Node) -> bool:
    """Return whether a pattern is a name, or a name for a value that is compared."""
    pattern = case.pattern
    if not isinstance(pattern, gast.MatchAs):
        return False
    return pattern.pattern is None or (case.guard is None and _is_value(pattern.pattern))


def _is_value(pattern: Node) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return all(map(_is_value, pattern.patterns))
    return _is_test(pattern)


def _is_test(pattern: Node) -> bool:
    """Return whether a pattern is one question, whose answer binds nothing."""
    if isinstance(pattern, gast.MatchClass):
        return not (pattern.patterns or pattern.kwd_patterns)
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
    if isinstance(pattern, gast.MatchClass):
        return make.call(make.load("isinstance"), make.load(subject), copy_tree(pattern.cls))
    return make.place(gast.Compare(make.load(subject), [gast.Eq()], [pattern.value]))


#: classes whose only pattern in brackets is one of the object itself
_THEMSELVES = ("bool", "bytes", "float", "int", "str")


class _Structure:
    """A case that looks into its subject, whose values are captured and compared."""

    def __init__(self, new_name: Callable[[str], str], subject: str) -> None:
        self.new_name, self.subject = new_name, subject
        #: the user's names and what holds their values until it is known that all matches
        self.bound: dict[str, str] = {}
        self.tests: list[Node] = []

    def branches(self, case: Node, rest: Block) -> Block:
        """Return the statements of a case; ``rest`` are those of the cases after it."""
        make, matched = Maker(case.pattern), self.new_name("matched")
        done = [make.set_name(matched, make.constant(False))]
        whole = case.pattern if isinstance(case.pattern, gast.MatchOr) else None
        for index, pattern in enumerate(whole.patterns if whole is not None else [case.pattern]):
            self.tests = []
            opened = self.opened(pattern)
            tests = self.tests or [make.constant(True)]
            answer = tests[0] if len(tests) == 1 else make.place(gast.BoolOp(gast.And(), tests))
            one = make.place(gast.match_case(opened, None, [make.set_name(matched, answer)]))
            looked = make.place(gast.Match(make.load(self.subject), [one]))
            done.append(make.if_(make.not_(make.load(matched)), [looked], []) if index else looked)
        # what is captured has a value on every path: else it would be one of the loop around it, from turn to turn
        done[:0] = [make.set_name(held, make.constant(None)) for held in self.bound.values()]
        bindings = [make.set_name(name, make.load(held)) for name, held in self.bound.items()]
        if case.guard is not None:
            done.append(make.if_(make.load(matched), [*bindings, make.set_name(matched, case.guard)], []))
            bindings = [] if binds_in(case.guard) else copy_tree(bindings)
        return [*done, make.if_(make.load(matched), [*bindings, *case.body], rest)]

    def opened(self, pattern: Node) -> Node:
        """Return a pattern without values to compare: they are captured, and compared by ``tests``."""
        make = Maker(pattern)
        if _is_value(pattern):
            held = self.new_name("value")
            self.tests.append(_test(pattern, held))
            return make.place(gast.MatchAs(None, held))
        if isinstance(pattern, gast.MatchAs):
            inner = None if pattern.pattern is None else self.opened(pattern.pattern)
            return make.place(gast.MatchAs(inner, self._held(pattern.name)))
        if isinstance(pattern, gast.MatchStar):
            return make.place(gast.MatchStar(self._held(pattern.name)))
        if isinstance(pattern, gast.MatchSequence):
            return make.place(gast.MatchSequence([self.opened(one) for one in pattern.patterns]))
        if isinstance(pattern, gast.MatchMapping):
            inside = [self.opened(one) for one in pattern.patterns]
            return make.place(gast.MatchMapping(pattern.keys, inside, self._held(pattern.rest)))
        if isinstance(pattern, gast.MatchClass):
            return self._of_class(pattern, make)
        return self._renamed(copy_tree(pattern))  # alternatives that look into it stay Python

    def _renamed(self, pattern: Node) -> Node:
        for one in _patterns(pattern):
            field = "rest" if isinstance(one, gast.MatchMapping) else "name"
            if getattr(one, field, None) is not None:
                setattr(one, field, self._held(getattr(one, field)))
        return pattern

    def _of_class(self, pattern: Node, make: Maker) -> Node:
        if len(pattern.patterns) == 1 and getattr(pattern.cls, "id", "") in _THEMSELVES:
            held = self.new_name("value")
            self.tests.append(_test(make.place(gast.MatchClass(pattern.cls, [], [], [])), held))
            return make.place(gast.MatchAs(self.opened(pattern.patterns[0]), held))
        inside = [self.opened(one) for one in pattern.patterns]
        named = [self.opened(one) for one in pattern.kwd_patterns]
        return make.place(gast.MatchClass(pattern.cls, inside, pattern.kwd_attrs, named))

    def _held(self, name: str | None) -> str | None:
        if name is None:
            return None
        return self.bound.setdefault(name, self.new_name("captured"))


def depth_of_structure(statement: Node) -> int:
    """Return how deep the patterns of a ``match`` look into lists, tuples and dicts."""
    return max(_depth(case.pattern) for case in statement.cases)


def _depth(pattern: Node) -> int:
    inside = max((_depth(one) for one in children(pattern) if isinstance(one, gast.pattern)), default=0)
    return inside + isinstance(pattern, gast.MatchSequence | gast.MatchMapping)


def class_patterns(statement: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the classes that a ``match`` asks for, and whether it asks the subject itself or a part of it."""
    todo = [(case.pattern, True) for case in statement.cases]
    while todo:
        pattern, is_whole = todo.pop()
        if isinstance(pattern, gast.MatchClass):
            yield pattern.cls, is_whole
        inside = is_whole and isinstance(pattern, gast.MatchOr | gast.MatchAs)
        todo += [(one, inside) for one in children(pattern) if isinstance(one, gast.pattern)]
