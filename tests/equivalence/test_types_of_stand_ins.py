"""What Python says of the type of what stands for a value in a trace it says of the value: of none of ours, and it is
raised where plain Python raises it."""

import copy
import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.errors import STAND_INS, in_words
from autoloop.operators.staging.standins import StandIn

MADE = {
    "maybe none": "e = None\n if n > 5:\n  e = d[0]",
    "maybe unset": "if n > 5:\n  e = n * 2",
    "mixed": "e = 1\n if n > 5:\n  e = 2.5",
    "array or number": "e = 1.0\n if n > 5:\n  e = x",
    "list": "e = []\n for i in range(n):\n  e.append(i * 2)",
    "bytes": "e = (x * n).tobytes()",
    "range": "e = range(n)",
    "map": "e = map(abs, range(n))",
    "generator": "e = (i * 2 for i in range(n))",
    "text": "e = 'a'\n if n > 5:\n  e = 'bc'",
}
ASKED = (
    "return e(1)", "e[0] = x[1]; return 0", "del e[0]; return 0", "return e @ 'a'", "return next(e)", "return -e < 'a'",
    "del e.foo; return 0", "return [1, 2][e]", "return copy.copy(e) is None",
)  # fmt: skip
CAUGHT = "try:\n  e[0] = x[1]\n except TypeError:\n  return 'caught'\n return 'set'"


def of_source(text):
    name, names = f"<stand-in {abs(hash(text))}>", {"copy": copy}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    return names["f"]


def outcome(f, n):
    given = [np.ones(3), 2]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "gives", repr(f(np.int64(n), np.array([1.0, 2.0, 3.0]), given)), repr(given)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("made", MADE)
def test_no_message_names_a_class_of_ours(made):
    for asked in (*ASKED, CAUGHT):
        f = of_source(f"def f(n, x, d):\n {MADE[made]}\n {asked}\n")
        decorated = al.function(f)
        for n in (7, 3):
            plain, found = outcome(f, n), outcome(decorated, n)
            assert not any(name in part for name in STAND_INS for part in found), (asked, found)
            # none of them gives another value; what is refused is refused in other words
            assert found == plain or found[0].endswith("Error"), (asked, plain, found)


def every_kind(kind):
    return {kind, *(one for sub in kind.__subclasses__() for one in every_kind(sub))}


def test_words_are_there_for_every_class():
    abstract = {"StandIn", "Rows", "ListColumns", "Maybe", "MaybeRecord", "NoneOrNot", "_NoneOrValue", "_UnsetOrValue"}
    # names that are words of the user's, too: these never stand where Python asks for a type
    plain = {"Undefined", "Moved"}
    assert {one.__name__ for one in every_kind(StandIn)} - abstract - plain <= STAND_INS.keys()
    assert in_words(TypeError("'MaybeNone' object is not callable")) is not None
    assert in_words(TypeError("'int' object is not callable")) is None


def mixed_copied(n):
    e = 1
    if n > 5:
        e = 2.5
    return copy.copy(e)


def test_a_copy_of_what_only_the_run_knows_is_refused():
    with pytest.raises(TypeError, match="cannot copy a number .of which only the run knows the type"):
        al.function(mixed_copied)(np.int64(7))
