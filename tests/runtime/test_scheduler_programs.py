"""Random programs of nested loops and branches: the scheduler against a plain interpreter.

A program is a tree of statements over a few integer variables. ``interpret`` runs it in Python; ``build`` makes a
graph of it. Whatever is fetched, whatever the window, the threads and the order: the values must be those.
"""

from __future__ import annotations

import random

import numpy as np
from api import EAGER, SCALAR, Dependence, Executable, Graph, Kind, Plan, SeededExecutor, State, call_kernel, lower
from examples import examples
from flow import ADD, EQUAL, LESS, MOD, branch, call, const, heavy, loop
from hypothesis import given, settings
from hypothesis import strategies as st

VARIABLES = 3
PRIME = 10_007
MIX = heavy(lambda a, b: (a * 31 + b) % PRIME, "mix")


def programs():
    """Lists of statements, as nested tuples."""
    variable = st.integers(0, VARIABLES - 1)
    number = st.integers(0, 5)
    simple = st.one_of(
        st.tuples(st.just("set"), variable, number),
        st.tuples(st.just("copy"), variable, variable),
        st.tuples(st.just("add"), variable, variable, variable),
        st.tuples(st.just("mix"), variable, variable, variable),
        st.tuples(st.just("swap"), variable, variable),
    )

    def compound(inner):
        block = st.lists(inner, max_size=3).map(tuple)
        return st.one_of(
            simple,
            st.tuples(st.just("if"), variable, st.integers(1, 3), block, block),
            st.tuples(st.just("for"), st.integers(0, 3), variable, block),
            # the number of trips depends on a variable, which the body may change or not
            st.tuples(st.just("while"), variable, variable, block),
        )

    return st.lists(st.recursive(simple, compound, max_leaves=8), min_size=1, max_size=5).map(tuple)


# -- in Python --------------------------------------------------------------------------------------------


def interpret(block, v):
    for statement in block:
        what, *args = statement
        if what == "set":
            v[args[0]] = args[1]
        elif what == "copy":
            v[args[0]] = v[args[1]]
        elif what == "add":
            v[args[0]] = v[args[1]] + v[args[2]]
        elif what == "mix":
            v[args[0]] = (v[args[1]] * 31 + v[args[2]]) % PRIME
        elif what == "swap":
            v[args[0]], v[args[1]] = v[args[1]], v[args[0]]
        elif what == "if":
            interpret(args[2] if v[args[0]] % args[1] == 0 else args[3], v)
        elif what == "for":
            for i in range(args[0]):
                v[args[1]] = v[args[1]] + i
                interpret(args[2], v)
        elif what == "while":
            limit = v[args[0]] % 4
            i = 0
            while i < limit:
                interpret(args[2], v)
                v[args[1]] = v[args[1]] + v[args[0]]
                i += 1
        v[:] = [x % PRIME for x in v]


# -- as a graph -------------------------------------------------------------------------------------------


def build(graph, block, v):
    """``v`` is a list of tensors of ``graph``; it is changed like ``interpret`` changes its numbers."""
    for statement in block:
        what, *args = statement
        if what == "set":
            v[args[0]] = const(graph, args[1])
        elif what == "copy":
            v[args[0]] = v[args[1]]
        elif what == "add":
            v[args[0]] = call(ADD, v[args[1]], v[args[2]])
        elif what == "mix":
            v[args[0]] = call(MIX, v[args[1]], v[args[2]])
        elif what == "swap":
            v[args[0]], v[args[1]] = v[args[1]], v[args[0]]
        elif what == "if":
            pred = call(EQUAL, call(MOD, v[args[0]], const(graph, args[1])), const(graph, 0))
            v[:] = branch(graph, pred, lambda g: inside(g, args[2], v), lambda g: inside(g, args[3], v))
        else:
            v[:] = repeat(graph, what, args, v)
        v[:] = [call(MOD, x, const(graph, PRIME)) for x in v]


def inside(g, block, v):
    mine = [g.capture(x) for x in v]
    build(g, block, mine)
    return mine


def repeat(graph, what, args, v):
    limit = const(graph, args[0]) if what == "for" else call(MOD, v[args[0]], const(graph, 4))

    def body(g, i, *mine):
        mine = list(mine)
        if what == "for":
            mine[args[1]] = call(ADD, mine[args[1]], i)
        build(g, args[2], mine)
        if what == "while":
            mine[args[1]] = call(ADD, mine[args[1]], mine[args[0]])
        return [call(ADD, i, const(g, 1)), *mine]

    return loop(graph, lambda g, i, *_: call(LESS, i, g.capture(limit)), body, [const(graph, 0), *v])[1:]


def compiled(program, window, fetched, keep):
    graph = Graph()
    inputs = [graph.parameter(np.dtype(np.int64), SCALAR, f"x{k}") for k in range(VARIABLES)]
    v = list(inputs)
    build(graph, program, v)
    lowered = lower(graph, [v[k] for k in fetched], inputs, keep_variables=keep)
    frames = tuple([type(f)(f.index, f.parent, f.name, f.source, window) for f in lowered.frames])
    return type(lowered)(lowered.nodes, frames, lowered.feeds, lowered.fetches)


@settings(max_examples=examples(80), deadline=None)
@given(
    programs(), st.lists(st.integers(0, 20), min_size=VARIABLES, max_size=VARIABLES), st.integers(1, 4),
    st.sets(st.integers(0, VARIABLES - 1), min_size=1).map(sorted), st.booleans(), st.integers(0, 10**6),
)  # fmt: skip
def test_random_programs(program, start, window, fetched, keep, seed):
    want = list(start)
    interpret(program, want)
    want = [want[k] for k in fetched]
    lowered = compiled(program, window, fetched, keep)
    executable = Executable(lowered)
    assert executable.run(start, threads=1) == want
    assert executable.run(start, threads=3) == want
    assert SeededExecutor(lowered, seed).run(start) == want
    assert SeededExecutor(lowered, seed, whole=True).run(start) == want
    assert executable.plan.parallel or most_heavy_at_once(executable.plan, start, seed) <= 1


def most_heavy_at_once(plan, start, seed):
    """How many heavy kernels were ever ready at the same time, in an order that leaves them for last."""
    die = random.Random(seed)
    tokens, light, heavies, most = State(plan), [], [], 0
    tokens.start(list(start), light, heavies)
    while light or heavies:
        most = max(most, len(heavies))
        ready = light or heavies
        it, step = ready.pop(die.randrange(len(ready)))
        tokens.complete(it, step, call_kernel(it, step, EAGER, None), light, heavies)
    return most


# -- what waits for the same ------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None)
@given(
    programs(), st.lists(st.integers(0, 20), min_size=VARIABLES, max_size=VARIABLES), st.integers(1, 4),
    st.booleans(), st.integers(0, 10**6),
)  # fmt: skip
def test_light_kernels_that_need_the_same_are_ready_at_the_same_time(program, start, window, keep, seed):
    lowered = compiled(program, window, list(range(VARIABLES)), keep)
    light = {n.index for n in lowered.nodes if n.kind is Kind.KERNEL and n.op is not MIX}
    found, under, die = Dependence(lowered, light), guards(lowered), random.Random(seed)
    groups = {}
    for index in light:
        groups.setdefault((lowered.nodes[index].frame, found.needs[index], under[index]), set()).add(index)
    tokens, ready, done = State(Plan(lowered)), [], {}
    tokens.start(list(start), ready, None)
    while ready:
        # whatever is light before anything else, in any order: then everything light has run that could
        now = [k for k, (_, step) in enumerate(ready) if step.flat.index in light] or range(len(ready))
        it, step = ready.pop(die.choice(now))
        done.setdefault(it, set()).add(step.flat.index)
        tokens.complete(it, step, call_kernel(it, step, EAGER, None), ready, None)
        if all(step.flat.index not in light for _, step in ready):
            for ran in done.values():
                assert all(group <= ran or not group & ran for group in groups.values())


def guards(lowered):
    """The branches that each node stands in: predicates and their sides."""
    found, entered = [], {}
    for node in lowered.nodes:
        ports = [port for port in (*node.inputs, *node.controls) if port[0] < node.index]
        arms = []
        for index, side in ports:
            source = lowered.nodes[index]
            arms.append(found[index] | ({(source.inputs[1], side)} if source.kind is Kind.SWITCH else set()))
        meet = frozenset.intersection if node.kind is Kind.MERGE else frozenset.union
        found.append(meet(*map(frozenset, arms)) if arms else frozenset())
        if node.kind is Kind.ENTER:
            entered[node.frame] = entered.get(node.frame, frozenset()) | found[-1]
            found[-1] = frozenset()
        elif node.kind is Kind.EXIT:
            found[-1] = entered[node.frame]
    return found
