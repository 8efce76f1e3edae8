"""What threads share without waiting for each other, in every order in which one is held up once or twice."""

from __future__ import annotations

import autoloop as al
import numpy as np
from api import Graph, naming
from each_case import each
from taking_turns import every_order


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
