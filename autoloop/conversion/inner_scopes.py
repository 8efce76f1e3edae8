"""Expressions with names of their own: lambdas, comprehensions and generator expressions.

A comprehension runs over the rows of tensors as over a list, and its conditions may be for the graph to decide.
"""

from __future__ import annotations

import gast
from autoloop_runtime.base.dataclass import replace

from .expression_walk import ExpressionWalk, Surroundings
from .frame_readers import reads_frame
from .item_targets import nested_targets
from .nodes import Maker, Node, children, walk
from .scopes import parameter_names
from .unfolding import binds_in

#: names of builtins that use up a generator at once
_USE_UP = frozenset(one.__name__ for one in (all, any, dict, frozenset, list, max, min, set, sorted, sum, tuple))


class InnerScopes(ExpressionWalk):
    """Rewrites functions inside expressions, and what unpacks."""

    def _starred(self, node: Node, around: Surroundings) -> Node:
        """Return ``*ops.elements(v)`` for ``*v`` in a call, a list or a tuple."""
        node = self.parts(node, around)
        if isinstance(node.ctx, gast.Load) and not isinstance(node.value, gast.List | gast.Tuple | gast.Constant):
            make = Maker(node.value)
            node.value = make.call(self.operator(make, "elements"), node.value)
        return node

    def _yieldfrom(self, node: Node, around: Surroundings) -> Node:
        node = self.parts(node, around)
        make = Maker(node.value)
        node.value = make.call(self.operator(make, "elements"), node.value)
        return node

    def _dict(self, node: Node, around: Surroundings) -> Node:
        """Let keys be asked whether Python knows them: ``{ops.hashed(k): v}``."""
        node = self.parts(node, around)
        node.keys = [self._key(key) for key in node.keys]
        return node

    def _set(self, node: Node, around: Surroundings) -> Node:
        node = self.parts(node, around)
        node.elts = [self._key(one) for one in node.elts]
        return node

    def _key(self, key: Node | None) -> Node | None:
        if key is None or isinstance(key, gast.Constant | gast.Starred):
            return key
        return Maker(key).call(self.operator(Maker(key), "hashed"), key)

    def _lambda(self, node: Node, around: Surroundings) -> Node:
        args = node.args
        args.defaults = [self.rewrite(one, around) for one in args.defaults]
        args.kw_defaults = [one and self.rewrite(one, around) for one in args.kw_defaults]
        params = parameter_names(args)
        inner = Surroundings(
            local_names=around.local_names | frozenset(params),
            own_names=tuple(params),
            self_name=params[0] if params else None,
            in_frame=around.in_frame,
            containers=around.containers - frozenset(params),
        )
        node.body = self.rewrite(node.body, inner)
        return node

    def _comprehension(self, node: Node, around: Surroundings) -> Node:
        """Let a comprehension run over the rows of tensors, and its conditions and logic be for the graph to decide.

        One that sets names by ``:=``, or looks at its variables, does so in its own frame: of that only the calls are
        rewritten.
        """
        binds = any(binds_in(part) or reads_frame(part) for part in children(node))
        inside = self._inside(node, around, binds)
        if not inside.in_frame and isinstance(node, gast.GeneratorExp):
            return self.generated(node, around)
        if not inside.in_frame and isinstance(node, gast.ListComp) and len(node.generators) > 1:
            make = Maker(node)
            return make.call(self.operator(make, "listing"), self.generated(node, around, once=True))
        given, items, is_whole = None, _free_name("items", node), _holds_functions(node)
        is_list = isinstance(node, gast.ListComp) and not inside.in_frame
        for index, generator in enumerate(node.generators):
            iterable = self.rewrite(generator.iter, inside if index else around)
            if not isinstance(iterable, gast.List | gast.Tuple | gast.Constant | gast.Dict):
                if is_list and not index:
                    given, iterable = iterable, Maker(iterable).load(items)
                iterable = self.elements(generator.target, iterable)
            generator.iter = iterable
            generator.ifs = [self.rewrite(test, inside) for test in generator.ifs]
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, self.rewrite(getattr(node, name), inside))
        if isinstance(node, gast.ListComp) and not binds:
            return self._listed(node, given, items, is_whole)
        key = {gast.SetComp: "elt", gast.DictComp: "key"}.get(type(node), "")
        if key:
            setattr(node, key, self._key(getattr(node, key)))
        return node

    def _inside(self, node: Node, around: Surroundings, binds: bool) -> Surroundings:
        targets = {
            one.id for generator in node.generators for one in walk(generator.target)
            if isinstance(one, gast.Name)
        }  # fmt: skip
        return replace(
            around,
            local_names=around.local_names | targets,
            own_names=(*around.own_names, *sorted(targets), ".0"),  # the last is what a comprehension runs over
            checked=around.checked - targets,
            in_frame=around.in_frame or binds,
        )

    def generated(self, node: Node, around: Surroundings, *, once: bool = False) -> Node:
        """Return ``ops.generated(v, lambda items: [(lambda: test, lambda: x, None) for x in items])``.

        That is ``(x for x in v if test)``; where there is another ``for`` in it, what that runs over stands in place of
        the element, and None is the same for that.

        Parameters
        ----------
        node : node
            A generator expression or list comprehension, that sets no name by ``:=``.
        around : Surroundings
            Where it stands.
        once : bool
            Whether what it is given to uses it up.
        """
        make, inside, items = Maker(node), self._inside(node, around, False), _free_name("items", node)
        made, following = self.later(node.elt, inside), make.constant(None)
        for index, clause in reversed(list(enumerate(node.generators))):
            test = make.constant(None)
            if clause.ifs:
                tests = [self.rewrite(one, replace(inside, nested=True)) for one in clause.ifs]
                test = make.lambda_(self._all(make, tests))
            given: Node = make.load(items)
            if isinstance(clause.target, gast.Tuple | gast.List):
                given = self.elements(clause.target, given)
            step = make.place(gast.comprehension(clause.target, given, [], 0))
            triple = make.tuple([test, made, following])
            following = make.lambda_(make.place(gast.ListComp(triple, [step])), [items])
            made = self.later(clause.iter, inside) if index else self.rewrite(clause.iter, around)
        told = {
            "once": once, "tested": any(clause.ifs for clause in node.generators), "nested": len(node.generators) > 1
        }  # fmt: skip
        options = {name: make.constant(True) for name, holds in told.items() if holds}
        return make.call(self.operator(make, "generated"), made, following, **options)

    _listcomp = _setcomp = _dictcomp = _generatorexp = _comprehension

    def elements(self, target: Node, iterable: Node) -> Node:
        """Return ``ops.elements(v)``, or ``ops.parts(v)`` where the target has parts, and elements may be arrays."""
        make = Maker(iterable)
        if not isinstance(target, gast.Tuple | gast.List):
            return make.call(self.operator(make, "elements"), iterable)
        places = [make.tuple(map(make.constant, path)) for path in nested_targets(target)]
        return make.call(self.operator(make, "parts"), iterable, *([make.tuple(places)] if places else []))

    def _listed(self, node: Node, given: Node | None, items: str, is_whole: bool) -> Node:
        """Return ``ops.listed(v, lambda items: [x for x in ops.elements(items)])`` for ``[x for x in v]``.

        So the graph may grow a list whose length only the run knows. All in it is rewritten. Where a function may see
        a variable of it later, it *is* made as a *whole*, with one such variable.
        """
        made = self.kept(node, "kept") if node.generators[-1].ifs else node
        make = Maker(node)
        if given is None:
            return made
        more = [make.constant(True)] if is_whole else []
        return make.call(self.operator(make, "listed"), given, make.lambda_(made, [items]), *more)

    def kept(self, node: Node, operator: str) -> Node:
        """Return ``ops.kept((test, lambda: x) for x in v)`` for ``[x for x in v if test]``; all is rewritten."""
        make = Maker(node)
        last = node.generators[-1]
        pair = make.tuple([self._all(make, last.ifs), make.lambda_(node.elt)])
        last.ifs = []
        pairs = make.place(gast.GeneratorExp(pair, node.generators))
        return make.call(self.operator(make, operator), pairs)

    def _all(self, make: Maker, tests: list[Node]) -> Node:
        later = [make.lambda_(test) for test in tests[1:]]
        return make.call(self.operator(make, "and_"), tests[0], *later) if later else tests[0]


def _holds_functions(node: Node) -> bool:
    """Return whether there are lambdas in an expression, or generators that are not used up where they stand."""
    inside = list(walk(node))
    calls = [one for one in inside if isinstance(one, gast.Call) and isinstance(one.func, gast.Name) and one.args]
    used_up = {id(one.args[0]) for one in calls if one.func.id in _USE_UP}
    return any(
        isinstance(one, gast.Lambda) or (isinstance(one, gast.GeneratorExp) and id(one) not in used_up)
        for one in inside
        if one is not node
    )


def _free_name(name: str, node: Node) -> str:
    """Return a name that does not stand in an expression."""
    used = {one.id for one in walk(node) if isinstance(one, gast.Name)}
    while name in used:
        name += "_"
    return name
