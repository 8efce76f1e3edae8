"""Random programs with a world do to it under the decorator what they do without, call after call."""

import contextlib
import functools
import io
import random
import re
import sys
import types
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest
from examples import examples
from executors import EXECUTORS
from harness import alike
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_array_programs import HEAD, HELPERS, arguments
from random_state_programs import GLOBALS, WORLD, program
from test_random_arrays import REFUSALS, compiled_world, is_wrong, shorter
from test_random_arrays import checked as checked_of

CALLS = 3
PLAIN = "runs as plain Python"


def parts(value, seen, path="", above=()):
    """Yield what a value consists of, with the way there: types, keys, numbers, arrays."""
    inside = (*above, id(value))
    if isinstance(value, (np.ndarray, np.generic)):
        yield path, value
    elif id(value) in above:
        yield path, "what it is in"
    elif isinstance(value, (list, tuple)):
        yield path, (type(value).__name__, len(value))
        for k, one in enumerate(value):
            yield from parts(one, seen, f"{path}[{k}]", inside)
    elif isinstance(value, dict):
        yield path, (type(value).__name__, [*value])
        for key, one in value.items():
            yield from parts(one, seen, f"{path}.{key}", inside)
    elif hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType)):
        yield path, type(value).__name__
        if id(value) not in seen:
            seen.add(id(value))
            yield from parts(vars(value), seen, path, inside)
    else:
        yield path, value if isinstance(value, (int, float, complex, str)) else getattr(value, "__name__", value)


def described(value):
    """Return what a value consists of, with copies of arrays."""
    found = parts(value, set())
    return {
        path: (type(one), np.array(one)) if isinstance(one, (np.ndarray, np.generic)) else one for path, one in found
    }


def arrays_of(value):
    """Return the arrays of a value, and the ways there."""
    found = [(path, one) for path, one in parts(value, set()) if isinstance(one, np.ndarray)]
    return [path for path, _ in found], [one for _, one in found]


def apart(wanted, found):
    """Return in what places two descriptions differ, and how."""
    return {
        path: (found.get(path, ...), "not", wanted.get(path, ...))
        for path in {**wanted, **found}
        if not same(wanted.get(path, ...), found.get(path, ...))
    }


def same(one, other):
    """Return whether two values of a description are equal, and of one type."""
    if type(one) is not type(other) or (isinstance(one, tuple) and one[0] != other[0]):
        return False
    if not isinstance(one, tuple) or not isinstance(one[1], np.ndarray):
        if isinstance(one, (float, complex)):
            return bool(np.isclose(one, other, rtol=1e-12, equal_nan=True))
        return one == other
    return alike([one[1]], [other[1]])


def together(ways, arrays):
    """Return which arrays are one, and which share memory."""
    pairs = [(j, k) for k in range(len(arrays)) for j in range(k) if np.may_share_memory(arrays[j], arrays[k])]
    shared = {(ways[j], ways[k]) for j, k in pairs if np.shares_memory(arrays[j], arrays[k])}
    return shared | {(ways[j], "is", ways[k]) for j, k in pairs if arrays[j] is arrays[k]}


def holders(value, seen, path=""):
    """Yield the ways to what holds other things, with its number."""
    within = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if isinstance(value, (type, types.FunctionType, types.MethodType, functools.partial)):
        return
    if isinstance(value, (list, tuple)):
        within = dict(enumerate(value))
    if within is None or isinstance(value, np.ndarray):
        return
    if not isinstance(value, tuple):
        yield path, id(value)
    if id(value) not in seen or isinstance(value, tuple):  # of which nobody asks whether two are one
        seen.add(id(value))
        for key, one in within.items():
            yield from holders(one, seen, f"{path}.{key}")


def one_holder(value):
    """Return the ways that lead to one list, dict or object."""
    ways = {}
    for path, which in holders(value, set()):
        ways.setdefault(which, []).append(path)
    return {tuple(some) for some in ways.values() if len(some) > 1}


def _entered(*some, **named):
    if within:  # noqa: F821
        return f(*some, **named)  # noqa: F821
    enter()  # noqa: F821
    within.append(True)  # noqa: F821
    try:
        return f(*some, **named)  # noqa: F821
    finally:
        within.clear()  # noqa: F821


def entering(f, enter, within):
    """Return a function that calls another, and what is to be done before, if it is called ``within`` no other one.

    It is a library's, whose variables nobody looks at: programs put it where ``f`` finds it, and would reach all this.
    """
    code = _entered.__code__.replace(co_filename=np.__file__)
    return functools.wraps(f)(types.FunctionType(code, {"f": f, "enter": enter, "within": within}))


def played(text, number, layout, count, executor=None, look=None, enter=None):
    """Return what each call gave, raised and left, and whether it ran as plain Python.

    ``look`` is told at each line which call it is, and what the arguments and the world hold, ``enter`` at each call of
    the function.
    """
    names = compiled_world(text, number, executor)
    f = names["f"] = names["decorate"](names["f"])
    decorated = {name: names[name] for name in ("f", "outer") if name in names}
    own = list(arguments("apart" if layout == "the world's" else layout, count))
    call = names.get("call", lambda f, own, k: f(*own))
    found, is_plain = [], False
    for k in range(names.get("CALLS", CALLS)):
        names["change"](k)
        if layout == "the world's":
            own[0] = names["W"]
        before = described([own, names["state"]()])
        if enter is not None:
            within = []
            for name, g in decorated.items():
                names[name] = entering(g, lambda k=k: enter(k, own, names["state"]()), within)
            f = names["f"]
        value = error = None
        printed = io.StringIO()
        with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            try:
                value = (
                    call(f, own, k)
                    if look is None
                    else watched(partial(call, f, own, k), partial(look, k, [own, names["state"]]))
                )
            except Exception as one:
                error = one
        is_plain |= any(PLAIN in str(one.message) for one in told)
        state = names["state"]()
        (_, results), (ways, places) = arrays_of(value), arrays_of([own, state])
        found.append(
            (
                described(value),
                error,
                before,
                described([own, state]),
                together(ways, places),
                [[np.shares_memory(one, place) for place in places] for one in results],
                together(range(len(results)), results),
                printed.getvalue(),
                one_holder([own, state, value]),
            )
        )
        if error is not None:
            break
    return found, is_plain


def as_entered(text, layout, count, executor, k):
    """Return what there was when the decorated function was called for the last time in the call ``k``."""
    found = []
    played(text, "entered", layout, count, executor, enter=lambda call, *held: found.append((call, described([*held]))))
    return next((held for call, held in reversed(found) if call == k), None)


def watched(call, look):
    """Return what a call gives; ``look`` is called at each of its lines."""

    def line(frame, *_):
        if frame.f_code.co_name != "state":
            look()
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        return call()
    finally:
        sys.settrace(before)


def never_there(text, layout, count, call, left, paths):
    """Return which places hold what plain Python has in them at no line: before a loop that raises, say."""
    paths = set(paths)

    def look(k, held):
        own, state = held
        if k == call and paths:
            before = sys.gettrace()
            sys.settrace(None)
            now = described([own, state()])
            paths.difference_update([path for path in paths if same(now.get(path), left.get(path))])
            sys.settrace(before)

    played(text, "watched", layout, count, look=look)
    return paths


def verdict(text, layout, count, executor, number="program"):
    """Return "fine", "raises", "plain" or "refused", or "wrong", of a program, and why."""
    wanted, _ = played(text, number, layout, count)
    ours, is_plain = played(text, number, layout, count, executor)
    for k, (one, other) in enumerate(zip(wanted, ours)):
        value, error, before, after, lie, shared, among, printed, ways = one
        result, refusal, given, left, lies_, held, among_, printed_, ways_ = other
        if differences := apart(before, given):
            return "wrong", f"call {k}: finds {differences}"
        if refusal is not None:
            if repr(type(refusal)) == repr(type(error)) or (error is not None and executor == "dataflow"):
                # what was written before is there, or is not
                kept = {path for path in apart(after, left) if not same(before.get(path), left.get(path))}
                kept = kept and never_there(text, layout, count, k, left, kept)
                return (
                    ("wrong", f"call {k}: raises {error!r} and leaves {apart(after, left)}") if kept else ("raises", "")
                )
            why = f"{type(refusal).__name__}: {refusal} (plain Python: {error!r})"
            if not isinstance(refusal, REFUSALS):
                return "wrong", why
            changed = apart(before, left) and apart(as_entered(text, layout, count, executor, k) or before, left)
            return ("wrong", f"{why} leaves {changed}") if changed else ("refused", why)
        if error is not None:
            return "wrong", f"call {k}: does not raise {error!r}"
        if differences := apart(value, result):
            return "wrong", f"call {k}: gives {differences}"
        if differences := apart(after, left):
            return "wrong", f"call {k}: leaves {differences}"
        if printed != printed_:
            return "wrong", f"call {k}: prints {printed_!r}, not {printed!r}"
        if ways != ways_:
            return "wrong", f"call {k}: leaves as one {ways_ - ways}, not {ways - ways_}"
        if lie != lies_:
            return "wrong", f"call {k}: leaves arrays that lie so: {lies_ - lie}, not so: {lie - lies_}"
        # a part of an argument comes back as a copy, and so may what a loop or branch chooses
        if any(b and not a for x, y in zip(shared, held, strict=True) for a, b in zip(x, y, strict=True)):
            return "wrong", f"call {k}: results share {held}, not {shared}"
    return ("plain" if is_plain else "fine"), ""


def told(text, layout, count, executor):
    """Return the message for a program that is wrong: a short one that is, too."""
    short = shorter(text, lambda t: "def change(k)" in t and is_wrong(verdict(t, layout, count, executor)))
    held = "".join(re.findall(r"^(?:V|h) = .*\n", short, re.M))
    why = verdict(short, layout, count, executor)[1]
    return f"{layout} {count!r} {executor}\n{held}{short[short.index('def f(') :]}{why[:1500]}"


checked = partial(checked_of, program=program, verdict=verdict, told=told)


def test_random_programs_with_a_world():
    found = Counter()

    @settings(
        max_examples=examples(80),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(st.randoms(use_true_random=False))
    def every(choices):
        found[checked(choices, ("sequential", "sequential", "dataflow"))] += 1

    every()
    assert found["fine"] > found.total() * 0.6, found.most_common()


def test_what_loops_that_raise_leave():
    body = "    for r in m:\n        for k in range(1, n):\n            i[:k + 1] = a[:2]\n            m[1][0] = 0.5\n"
    world = WORLD.format(V="W", v="W")
    text = f"{HELPERS}{world}{HEAD}{GLOBALS}{body}def change(k):\n    return None\n"
    assert verdict(text, "apart", 3, "auto") == ("raises", "")
    left = described([list(arguments("apart", 3)), None])
    assert never_there(text, "apart", 3, 0, left, {"[0][2]"}) == set()
    left["[0][2]"] = np.ndarray, left["[0][2]"][1] + 1
    assert never_there(text, "apart", 3, 0, left, {"[0][2]"}) == {"[0][2]"}


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_programs_with_a_world(chunk):
    found = Counter(checked(random.Random(seed), EXECUTORS[:3]) for seed in range(500 * chunk, 500 * chunk + 500))
    refused = found.total() - found["fine"] - found["raises"] - found["plain"]
    print(f"{refused / found.total():.1%} of {found.total()} programs are refused:", *found.most_common(12), sep="\n")
    assert refused < found.total() * 0.3
