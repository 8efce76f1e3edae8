"""What is recorded of a run token by token: it is the run, in the terms of the books."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from api import Enough, Executable, Graph, Kind, TokenReplay, lower
from examples import examples
from flow import ADD, LESS, branch, call, const, counted, failing, heavy, loop, scalar
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scheduler_programs import VARIABLES, compiled, programs


def replayed(graph, fetches, feeds, values, **options):
    replay = TokenReplay(lower(graph, fetches, feeds, keep_variables=True), str, **options)
    return replay, replay.run(values)


def told(replay):
    """Each event in short: what, the node's or frame's name, the iteration of the innermost loop."""
    nodes, frames, turns = replay.lowered.nodes, replay.lowered.frames, replay.iterations
    of_frames = ("open", "begin", "end", "close")
    names = [
        frames[e.node].name if e.what in of_frames else str(e.node) if e.what == "result" else nodes[e.node].name
        for e in replay.events
    ]
    inner = [turns[e.to if e.what in ("open", "begin") else e.at].index for e in replay.events]
    return [(e.what, name.rpartition("/")[2], k) for e, name, k in zip(replay.events, names, inner)]


def follow(replay):
    """Move tokens by the events alone: whatever a node takes must have come to it; returns what is left."""
    lowered, to = replay.lowered, replay.consumers
    tokens: dict[tuple[int, int, int], bool] = {}
    live: dict[tuple[int, int], set[int]] = {}

    def taken(node, at):
        ports = [*node.inputs, *node.controls]
        places = [(node.index, k, at) for k, port in enumerate(ports) if not lowered.nodes[port[0]].resting]
        return [tokens.pop(place) for place in places if place in tokens], len(places)

    def give(port, at, dead):
        for consumer in {node.index: node for node, _ in to.of.get(port, ())}.values():
            for k, one in enumerate([*consumer.inputs, *consumer.controls]):
                if one == port:
                    assert (consumer.index, k, at) not in tokens
                    tokens[consumer.index, k, at] = dead

    for event in replay.events:
        turn = replay.iterations[event.to]
        if event.what in ("open", "begin"):
            live.setdefault((turn.frame, turn.parent), set()).add(turn.index)
            assert len(live[turn.frame, turn.parent]) <= lowered.frames[turn.frame].parallel_iterations
        elif event.what == "end":
            live[turn.frame, turn.parent].remove(turn.index)
        elif event.what in ("fire", "done", "dead"):
            node = lowered.nodes[event.node]
            dead, count = taken(node, event.at)
            if event.what == "dead":
                assert all(dead)
            elif node.kind is Kind.MERGE:
                assert dead.count(False) == 1
            else:
                assert dead == [False] * count
            ends = node.kind in (Kind.NEXT_ITERATION, Kind.ENTER)
            ends |= node.kind is Kind.EXIT and node.frame == replay.iterations[event.at].frame
            for k in range(node.outputs) if not (event.what == "dead" and ends) else ():
                way = node.kind is Kind.SWITCH and event.what == "fire" and k != event.port
                if not node.resting:
                    give((node.index, k), event.to, event.what == "dead" or way)
    assert not any(live.values())
    return tokens


def book():
    graph = Graph()
    i, n = scalar(graph, "i"), scalar(graph, "n")
    a, b = loop(graph, lambda g, a, n: call(LESS, a, n), lambda g, a, n: [call(ADD, a, const(g, 2)), n], [i, n])
    return graph, [i, n], call(ADD, a, const(graph, 3)), call(ADD, b, const(graph, 4))


def test_the_book_s_example_is_told_as_in_the_book():
    graph, feeds, v1, v2 = book()
    replay, results = replayed(graph, [v1, v2], feeds, [1, 3])
    assert results == [6, 7] and not any(not dead for dead in follow(replay).values())
    assert told(replay) == [
        ("fire", "i", 0), ("fire", "n", 0), ("open", "while", 0), ("fire", "Enter", 0), ("fire", "Enter_1", 0),
        ("fire", "Merge", 0), ("fire", "Merge_1", 0), ("fire", "less", 0), ("fire", "LoopCond", 0),
        ("fire", "Switch", 0), ("dead", "Exit", 0), ("fire", "Switch_1", 0), ("dead", "Exit_1", 0),
        ("fire", "add", 0), ("begin", "while", 1), ("fire", "NextIteration_1", 0), ("fire", "NextIteration", 0),
        ("end", "while", 0), ("fire", "Merge_1", 1), ("fire", "Merge", 1), ("fire", "less", 1),
        ("fire", "LoopCond", 1), ("fire", "Switch", 1), ("dead", "add", 1), ("dead", "NextIteration", 1),
        ("fire", "Switch_1", 1), ("dead", "NextIteration_1", 1), ("fire", "Exit", 1), ("fire", "Exit_1", 1),
        ("end", "while", 1), ("close", "while", 1), ("fire", "add", 0), ("fire", "add_1", 0),
        ("result", "0", 0), ("result", "1", 0),
    ]  # fmt: skip
    less = [e for e in replay.events if replay.lowered.nodes[e.node].name.endswith("less") and e.what == "fire"]
    assert [(e.given, e.made) for e in less] == [(("1", "3"), ("True",)), (("3", "3"), ("False",))]


def test_the_exit_of_what_nobody_fetches_is_there_and_leads_nowhere():
    graph, feeds, v1, _ = book()
    replay, results = replayed(graph, [v1], feeds, [1, 3])
    assert results == [6]
    exits = [node for node in replay.lowered.nodes if node.kind is Kind.EXIT]
    assert [bool(replay.consumers.of.get((node.index, 0))) for node in exits] == [True, False]
    assert [k for what, name, k in told(replay) if what == "fire" and name == "Exit_1"] == [1]


def test_the_counter_runs_ahead_until_the_window_is_full():
    graph = Graph()
    x = scalar(graph, dtype="float64")
    out = counted(graph, 5, lambda g, i, x: [call(heavy(lambda x: x + 1.0), x)], [x], window=3)
    replay, results = replayed(graph, out, [x], [np.float64(0)])
    assert results == [5, 5.0]
    events = told(replay)
    first = events.index(("done", "heavy", 0))
    before = events[:first]
    assert ("begin", "while", 2) in before and ("begin", "while", 3) not in before
    assert [e[0] for e in before].count("wait") == 1 and events[first - 1][0] == "wait"
    after = events[first:]
    assert after.index(("end", "while", 0)) < after.index(("begin", "while", 3))
    assert not any(not dead for dead in follow(replay).values())


def test_a_loop_in_a_branch_that_is_not_taken_is_dead_and_not_entered():
    graph = Graph()
    x = scalar(graph)

    def inner(g):
        return [counted(g, 3, lambda g, i, x: [call(ADD, x, i)], [g.capture(x)])[1]]

    out = branch(graph, call(LESS, x, const(graph, 0)), inner, lambda g: [g.capture(x)])
    replay, results = replayed(graph, out, [x], [np.int64(4)])
    assert results == [4]
    kinds = Counter((e.what, replay.lowered.nodes[e.node].kind) for e in replay.events if e.what == "dead")
    assert kinds[("dead", Kind.ENTER)] and kinds[("dead", Kind.EXIT)] and "open" not in [e.what for e in replay.events]


def test_a_long_run_is_cut_and_a_failing_one_is_told():
    graph, feeds, v1, v2 = book()
    replay = TokenReplay(lower(graph, [v1, v2], feeds, keep_variables=True), str, most=30)
    with pytest.raises(Enough):
        replay.run([1, 10**9])
    assert replay.is_cut and len(replay.events) == 30
    assert replay.run([9, 1]) == [12, 5] and not replay.is_cut
    graph = Graph()
    x = scalar(graph)
    replay = TokenReplay(lower(graph, [call(failing("no"), x)], [x]), str)
    with pytest.raises(ZeroDivisionError):
        replay.run([np.int64(1)])
    assert (replay.events[-1].what, replay.events[-1].made) == ("fail", ("ZeroDivisionError: no",))


@settings(max_examples=examples(16), deadline=None)
@given(
    programs(), st.lists(st.integers(0, 20), min_size=VARIABLES, max_size=VARIABLES), st.integers(1, 4),
    st.sets(st.integers(0, VARIABLES - 1), min_size=1).map(sorted), st.booleans(),
)  # fmt: skip
def test_it_is_the_run(program, start, window, fetched, keep):
    lowered = compiled(program, window, fetched, keep)
    replay = TokenReplay(lowered, str, 10**6)
    assert replay.run(start) == Executable(lowered).run(start)
    assert not any(not dead for dead in follow(replay).values())
