"""Small random structured programs, and a plain interpreter of graphs that says what they mean."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from api import (
    CONST,
    PARAMETER,
    Graph,
    Op,
    Stage,
    Tensor,
    TensorShape,
    apply,
    apply_several,
    call,
    control_flow,
    convert_to_tensor,
    dtypes,
    nest,
    set_outputs,
    verify,
)

#: what the programs' effects leave behind, in order
LOG: list[Any] = []
NOTE = Op(
    "note", lambda *_: [], lambda *values: LOG.append(tuple([np.array(v).tolist() for v in values])) or (),
    effect=True, several=True,
)  # fmt: skip
NOTE_THROUGH = Op(
    "note_through", lambda x: (x.dtype, x.shape), lambda x: (LOG.append(np.array(x).tolist()), x)[1], effect=True
)

KINDS = {"int": dtypes.int32, "float": dtypes.float64, "array": dtypes.float32}
_BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


def interpret(graph: Graph, values: Sequence[Any]) -> list[Any]:
    """The outputs of ``graph`` computed node by node, the simplest way there is."""
    with np.errstate(all="ignore"):
        return _interpreted(graph, values)


def _interpreted(graph: Graph, values: Sequence[Any]) -> list[Any]:
    env = dict(zip(graph.inputs, values))
    for node in graph.nodes:
        args = [env[t] for t in node.inputs if t in env] if node.op is not PARAMETER else []
        if node.op is PARAMETER:
            continue
        if node.op is CONST:
            out = (node.attrs["value"],)
        elif node.op.name == "While":
            out = _interpret_while(node, args)
        elif node.op.name == "Cond":
            out = _interpreted(node.attrs["then" if args[0] else "else"], args[1:])
        else:
            out = _interpret_kernel(node, args)
        env.update(zip(node.outputs, out))
    return [env[t] for t in graph.outputs]


def _interpret_while(node: Any, args: list[Any]) -> list[Any]:
    n, token = node.attrs["n_vars"], node.attrs["token"]
    while True:
        go, *effects = _interpreted(node.attrs["cond"], args)
        if effects:
            args[token] = effects[0]
        if not go:
            return args[:n]
        args[:n] = _interpreted(node.attrs["body"], args)


def _interpret_kernel(node: Any, args: list[Any]) -> list[Any]:
    if node.op.effect:
        args = args[:-1]
    out = node.op.kernel(*args, **node.attrs)
    count = len(node.outputs) - node.op.effect
    made = [] if count == 0 else list(out) if node.op.several else [out]
    return made + [np.True_] * node.op.effect


def by_nodes(build: Callable[..., Any], *examples: Any) -> tuple[Graph, Callable[..., Any]]:
    """The graph of ``build`` for arguments like ``examples``, and what computes its results one node after the other.

    Where a test asks what a graph means: to optimise it and to generate code takes several times as long.
    """
    graph = Graph(ordered=True)
    with graph.as_default():
        given = [graph.parameter(x.dtype, TensorShape(x.shape)) for x in nest.flatten(examples)]
        made = build(*nest.pack_sequence_as(examples, given))
        set_outputs(graph, [convert_to_tensor(one) for one in nest.flatten(made)])
    count = len(nest.flatten(made))  # behind them are effects
    assert not (faults := verify(graph, Stage.STRUCTURED)), faults
    return graph, lambda *values: nest.pack_sequence_as(made, interpret(graph, nest.flatten(values))[:count])


class Program:
    """A function graph made by random choices.

    Parameters
    ----------
    choices : random.Random
        Where the choices come from (a hypothesis strategy can shrink them).
    effects : bool
        Whether it has effects.
    """

    def __init__(self, choices: random.Random, effects: bool = True, size: int = 5) -> None:
        self.choices = choices
        self.effects = effects
        self.graph = Graph(ordered=True)
        inputs = {"int": [], "float": [], "array": []}
        with self.graph.as_default():
            for kind, dtype in KINDS.items():
                shape = TensorShape([3] if kind == "array" else [])
                inputs[kind].append(self.graph.parameter(dtype, shape, kind[0]))
            known = self.block(inputs, size, depth=0)
            self.results = [choices.choice(known[k]) for k in KINDS]
            set_outputs(self.graph, self.results)

    values = (np.int32(3), np.float64(-0.5), np.array([1.0, -2.0, 0.25], np.float32))

    def pick(self, known: dict[str, list[Tensor]], kind: str) -> Any:
        if self.choices.random() < 0.2:
            number = self.choices.choice([0, 1, 2, -1])
            return number if kind == "int" else float(number)
        return self.choices.choice(known[kind])

    def block(self, known: dict[str, list[Tensor]], size: int, depth: int) -> dict[str, list[Tensor]]:
        known = {k: list(v) for k, v in known.items()}
        for _ in range(self.choices.randint(1, size)):
            roll = self.choices.random()
            if roll < 0.18 and depth < 3:
                self.loop(known, depth)
            elif roll < 0.36 and depth < 3:
                self.branch(known, depth)
            elif roll < 0.46 and self.effects:
                kind = self.choices.choice(list(KINDS))
                if self.choices.random() < 0.5:
                    apply_several(NOTE, [self.choice(known, kind)])
                else:
                    known[kind].append(apply(NOTE_THROUGH, [self.choice(known, kind)]))
            else:
                self.operation(known)
        return known

    def choice(self, known: dict[str, list[Tensor]], kind: str) -> Tensor:
        return self.choices.choice(known[kind])

    def operation(self, known: dict[str, list[Tensor]]) -> None:
        kind = self.choices.choice(list(KINDS))
        roll = self.choices.random()
        first = self.choice(known, kind)
        if roll < 0.6:
            known[kind].append(call(self.choices.choice(_BINARY), first, self.pick(known, kind)))
        elif roll < 0.75:
            known[kind].append(call("where", self.test(known), first, self.choice(known, kind)))
        elif roll < 0.85:
            known["array"].append(call("clip", self.choice(known, "array") * 1.5, -100.0, 100.0))
        elif roll < 0.9:
            array = self.choice(known, "array")
            view = call("flip", array)[0:2] if self.choices.random() < 0.4 else None
            for _ in range(self.choices.randint(1, 3)):
                place = call("mod", self.choice(known, "int"), 3)
                value = call("cast", self.choice(known, "float"), dtypes.float32)
                if self.choices.random() < 0.5:
                    value = array[call("mod", self.choice(known, "int"), 3)]
                if view is not None:
                    value = value + view[0]
                array = call("set_item", array, place, value)
            known["array"].append(array)
        elif roll < 0.93:
            place = call("mod", self.choice(known, "int"), 3)
            known["float"].append(call("cast", call("getitem", self.choice(known, "array"), place), dtypes.float64))
        elif roll < 0.96:
            known["float"].append(call("cast", self.choice(known, "int"), dtypes.float64))
        else:
            known["array"].append(call("tanh", self.choice(known, "array")))

    def test(self, known: dict[str, list[Tensor]]) -> Tensor:
        kind = self.choices.choice(["int", "float"])
        name = self.choices.choice(["less", "greater_equal", "not_equal"])
        out = call(name, self.choice(known, kind), self.pick(known, kind))
        roll = self.choices.random()
        if roll < 0.15:
            return call("logical_not", out)
        if roll < 0.4:
            return call(self.choices.choice(["logical_and", "logical_or"]), out, self.test(known))
        return out

    def loop(self, known: dict[str, list[Tensor]], depth: int) -> None:
        kinds = [self.choices.choice(list(KINDS)) for _ in range(self.choices.randint(1, 4))]
        inits = [self.choice(known, k) for k in kinds]
        trips = self.choices.randint(0, 4)

        def inside(args: Sequence[Tensor]) -> dict[str, list[Tensor]]:
            return {k: known[k] + [a for a, kind in zip(args, kinds) if kind == k] for k in KINDS}

        def cond(i: Tensor, *args: Tensor) -> Tensor:
            if self.effects and self.choices.random() < 0.2:
                apply_several(NOTE, [i])
            if self.choices.random() < 0.3:
                return call("logical_and", i < trips, self.test(inside(args)))
            return i < trips

        def body(i: Tensor, *args: Tensor) -> Any:
            inner = self.block(inside(args), 4, depth + 1)
            after = [self.choices.choice([*args, self.choices.choice(inner[k]), inner[k][-1]]) for k in kinds]
            after = [a if a.dtype == KINDS[k] else self.choices.choice(inner[k]) for a, k in zip(after, kinds)]
            return (i + 1, *after)

        _, *finals = control_flow.while_loop(cond, body, (0, *inits))
        for kind, final in zip(kinds, finals):
            known[kind].append(final)

    def branch(self, known: dict[str, list[Tensor]], depth: int) -> None:
        kinds = [self.choices.choice(list(KINDS)) for _ in range(self.choices.randint(1, 3))]

        def side() -> list[Tensor]:
            inner = self.block(known, 3, depth + 1)
            return [self.choices.choice([inner[k][-1], self.choices.choice(inner[k])]) for k in kinds]

        made = control_flow.cond(self.test(known), side, side)
        for kind, tensor in zip(kinds, made):
            known[kind].append(tensor)


def outcome(run: Any, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What ``run(values)`` gives, without the effect token, and the log of its effects."""
    LOG.clear()
    results = run(list(values))
    return [np.array(r) for r in results[:3]], list(LOG)


def assert_same(actual: tuple[list[Any], list[Any]], expected: tuple[list[Any], list[Any]]) -> None:
    """Equal dtypes, bit-equal values (nan equals nan), equal effects in equal order."""
    for a, e in zip(actual[0], expected[0]):
        assert a.dtype == e.dtype and a.shape == e.shape
        np.testing.assert_array_equal(a, e)
        np.testing.assert_array_equal(np.signbit(a.astype(float)), np.signbit(e.astype(float)))
    assert repr(actual[1]) == repr(expected[1])
