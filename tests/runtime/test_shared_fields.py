"""What threads share without waiting for each other, in every order in which one is held up once or twice."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Graph, executable, loop_walk, naming, whole_loops
from each_case import each
from taking_turns import every_order
from test_batches import lowered_of


def code(function):
    return getattr(function, "__wrapped__", function).__code__


def test_two_threads_never_give_a_name_out_twice():
    given = []

    def threads():
        names = naming.Names()
        names.unique("x")
        given.clear()
        return [lambda: given.append(names.unique("x"))] * 2

    def check():
        assert sorted(given) == ["x_1", "x_2"]

    assert every_order(threads, [code(naming.Names.unique)], check) > 10


class Fetching:
    """Threads that fetch a variable that no graph has made."""

    def __init__(self, sessions):
        self.sessions, self.found = sessions, []

    def threads(self):
        graph, variable = Graph(), al.Variable(np.float64(3))
        self.found.clear()
        self.graph, made = graph, [al.Session(graph=graph) for _ in range(self.sessions)]
        for session in made:
            session.run(al.Session(graph=graph).graph.constant(np.float64(1)))
            session._state = type(session._state)()
            session._state.storage(variable).put(np.float64(3))
        return [lambda session=session: self.found.append(session._read(variable)) for session in (made * 2)[:2]]

    def check(self):
        names = [node.name for node in self.graph.nodes]
        assert len(set(names)) == len(names)
        assert len(set(map(id, self.found))) == self.sessions
        assert sum(node.op.name == "ReadVariable" for node in self.graph.nodes) == self.sessions
        places = {node: k for k, node in enumerate(self.graph.nodes)}
        assert all(places[t.node] < places[node] for node in self.graph.nodes for t in node.inputs)


@each([1, 2])
def test_a_variable_that_is_fetched_by_two_threads_is_one_operation_of_a_session(sessions):
    fetching = Fetching(sessions)
    codes = [code(f) for f in (al.Session._read, Graph.add, Graph.constant, Graph.effect_token, naming.Names.unique)]
    assert every_order(fetching.threads, codes, fetching.check, 1) > 20


def test_who_fetches_a_variable_leaves_what_is_built_meanwhile_as_it_was():
    """What another thread makes under control dependencies waits for them."""
    built = []

    def threads():
        graph, variable = Graph(), al.Variable(np.float64(3))
        session = al.Session(graph=graph)
        first = graph.constant(np.float64(1))
        built.clear()

        def build():
            with graph.control_dependencies([first]):
                built.append((graph.constant(np.float64(2), waits=True), first))

        return [build, lambda: session._read(variable)]

    def check():
        [(made, first)] = built
        assert made.node.control_inputs == (first,)

    codes = [code(f) for f in (al.Session._read, Graph.control_dependencies, Graph.add, Graph.constant)]
    assert every_order(threads, codes, check, 2) > 50


# -- faster kernels while runs go on ----------------------------------------------------------------------


def _not_at_all(*_):
    """A batch that machine code cannot do."""


class FewAnswers:
    """A source that has nothing the first time, and then a kernel for the first node."""

    made = 0

    def __init__(self):
        FewAnswers.made += 1
        self.asked, self.due = 0, 0.0

    def kernels(self, pieces, spent, is_shared=False):
        self.asked += 1
        return {pieces[0].key: pieces[0].plain or _not_at_all} if self.asked > 1 else None

    def cores(self):
        return None


class Replacing:
    """Two threads each of which runs a graph, one of them perhaps node by node, and notes that it has taken long."""

    def __init__(self, watched):
        self.lowered, self.watched = lowered_of(lambda x: al.sin(al.cos(x) * 2.0), "float64", shape=(4,)), watched

    def threads(self):
        FewAnswers.made = 0
        self.executable = Executable(self.lowered, faster=FewAnswers)
        self.found, self.taken = [], []

        def run(is_joined):
            for _ in range(2):
                ways = self.executable._ways
                plan = self.executable._plan_of(ways, True, None, None, 2) if is_joined else ways.node_by_node()
                self.taken.append((ways, plan))
                self.found.append(self.executable.run([np.ones(4)], threads=1)[0][0])
                self.executable._note(1.0)

        return [lambda: run(True), lambda: run(not self.watched)]

    def check(self):
        assert len(set(self.found)) == 1 and FewAnswers.made == 1
        assert all(plan.source is ways.lowered for ways, plan in self.taken)
        last = self.executable
        assert last._faster is None and last.lowered is not self.lowered, "the faster kernels were lost"
        assert last._ways.node_by_node().source is last.lowered, "runs node by node go by what is gone"


@each([False, True])
def test_kernels_are_replaced_while_runs_go_on(watched):
    replacing = Replacing(watched)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executable, "LONG", 0.5)
        codes = [code(f) for f in (Executable._look, Executable._look_for_kernels, executable.Ways.node_by_node)]
        assert every_order(replacing.threads, codes, replacing.check, 1) > 30


# -- functions that are made by the first that wants them -------------------------------------------------


class Failing:
    """Two threads that run a loop as one, which fails in its fourth iteration, when its function is made."""

    def threads(self):
        def program(n):
            x = al.constant(np.arange(3, dtype=np.int32))
            return al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + x[i]), [al.constant(0), n])

        executable, self.told = Executable(lowered_of(program, "int32")), []

        def run():
            try:
                executable.run([np.int32(9)], threads=1)
            except IndexError as error:
                self.told.append(error.__notes__[-1])

        return [run, run]

    def check(self):
        assert len(self.told) == 2 and all("iteration 3 of" in told for told in self.told)


@pytest.mark.parametrize("changes", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_failure_is_told_whichever_thread_has_made_the_function(changes):
    failing = Failing()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_walk, "FIRST", 0)
        codes = [code(f) for f in (whole_loops.WholeLoop._first, whole_loops.WholeLoop._turning)]
        assert every_order(failing.threads, codes, failing.check, changes) > 30
