"""A call that machine code is not made for is refused again without a trace, as long as the world is what it was."""

import traceback

import autoloop as al
import numpy as np
import pytest
from autoloop.state import retrials
from executors import needs_native

pytestmark = needs_native
LOUD, NEXT = True, iter(range(10))


def printing(x):
    if LOUD:
        print(x)
    return x + 1


def advancing(x):
    return x * next(NEXT)


@pytest.mark.parametrize("f", [printing, advancing])
def test_it_is_refused_again(f, monkeypatch):
    decorated, said, begun = al.function(f, executor="native"), [], []
    for _ in range(3):
        with pytest.raises((TypeError, NotImplementedError), match="test_known_refusals.py") as raised:
            decorated(np.ones(2))
        said.append((str(raised.value), [one.line for one in traceback.extract_tb(raised.tb)][1:]))
        if len(said) == 1:
            monkeypatch.setattr(retrials, "_attempt", lambda *given: begun.append(1))
    assert said == said[:1] * 3 and not begun
    assert f is printing or next(NEXT) == 0


def test_it_is_traced_where_the_world_is_another_one(monkeypatch):
    decorated = al.function(printing, executor="native")
    for loud in (True, True, False, True, False):
        monkeypatch.setitem(globals(), "LOUD", loud)
        if loud:
            with pytest.raises(NotImplementedError, match="print"):
                decorated(np.ones(2))
        else:
            assert decorated(np.ones(2)).tolist() == [2.0, 2.0]
    assert decorated.tracing_count == 1
    with pytest.raises(NotImplementedError, match="print"):
        al.function(lambda f, x: f(x), executor="native")(lambda x: print(x), np.ones(2))
