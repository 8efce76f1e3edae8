"""Random programs of array writes do under the decorator what they do without it, or are refused with nothing done.

What the machine has found stands as programs in ``programs_of_doubt``.
"""

import linecache
import random
import re
import signal
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from functools import partial

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, needs_native
from harness import alike
from random_array_programs import HEAD, arguments, program

#: what a refusal may be; an error of any other type that plain Python does not raise is none
REFUSALS = (TypeError, ValueError, NotImplementedError)
COUNTS = (np.int64(3), np.int64(3), 3, np.int64(0))


def compiled_world(text, number, executor=None):
    """Return the names of a program, which Python finds again by its lines; its ``decorate`` is for the executor."""
    name = f"<random arrays {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    decorate = partial(al.function, executor=executor) if executor else lambda f: f
    namespace = {"np": np, "__name__": "world", "decorate": decorate}  # without a name its classes were built-in ones
    exec(compile(text, name, "exec"), namespace)
    return namespace


def lies(array):
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


def outcome(f, layout, count):
    """Return what two calls in a row gave, the exception, the arguments after it, and before the last call."""
    own = arguments(layout, count)
    found = []
    for _ in range(2):
        before = [np.array(one) for one in own]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = f(*own)
            except Exception as error:
                return found, error, own, before
        leaves = value if isinstance(value, tuple) else (value,)
        arrays = {lies(one): place for place, one in reversed([*enumerate(own)]) if np.size(one) and np.ndim(one)}
        places = [arrays.get(lies(leaf)) if isinstance(leaf, np.ndarray) else None for leaf in leaves]
        parts = [place is not None and leaf is not own[place] for leaf, place in zip(leaves, places, strict=True)]
        found.append(([np.array(leaf) for leaf in leaves], [*map(type, leaves)], places, parts))
    return found, None, own, before


def was_there(f, layout, count, held):
    """Return whether each argument holds what plain Python has in it at some line: before a loop that raises, say."""
    own, found = arguments(layout, count), [False] * len(held)

    def line(*_):
        found[:] = [is_as or alike([one], [now]) for is_as, one, now in zip(found, held, own, strict=True)]
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        outcome(lambda *_: f(*own), layout, count)
    finally:
        sys.settrace(before)
    return all(found)


def verdict(text, layout, count, executor, number="program"):
    """Return "fine", "raises" or "refused", or "wrong", of a program, and why."""
    f = compiled_world(text, number)["f"]
    plain, error, wanted, _ = outcome(f, layout, count)
    ours, refusal, held, before = outcome(al.function(f, executor=executor), layout, count)
    if refusal is not None:
        if type(refusal) is type(error) and len(plain) == len(ours):
            # what was written before is there, or is not
            kept = all(alike([one], [new]) or alike([one], [old]) for one, new, old in zip(held, wanted, before))
            kept = kept or was_there(f, layout, count, held)
            return ("raises", "") if kept else ("wrong", f"raises {error!r} and leaves {held}, not {wanted}")
        why = f"{type(refusal).__name__}: {refusal} (plain Python: {error!r})"
        return "refused" if isinstance(refusal, REFUSALS) and alike(held, before) else "wrong", why
    if error is not None:
        return "wrong", f"does not raise {error!r}"
    for (values, kinds, places, parts), (results, types, found, _) in zip(plain, ours, strict=True):
        if kinds != types or not alike(values, results):
            return "wrong", f"gives {results} of {types}, not {values} of {kinds}"
        # a part of an argument comes back as a copy, and so may what a loop or branch chooses
        chosen = re.search(r"\b(if|for|while) ", text[text.index(HEAD) :])
        copies = [one is None and (is_part or chosen) for one, is_part in zip(found, parts, strict=True)]
        if any(one != other and not copy for one, other, copy in zip(found, places, copies, strict=True)):
            return "wrong", f"gives the arguments {found}, not {places}"
    return ("fine", "") if alike(held, wanted) else ("wrong", f"leaves {held}, not {wanted}")


@contextmanager
def at_most(seconds):
    """Give up after some time: a program without one of its lines may have no end."""

    def stop(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def parts_left_out(lines, first):
    """Yield the lines of a program without one statement, or with the body of one in its place."""
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for k in range(first, len(lines)):
        end = next((j for j in range(k + 1, len(lines)) if depths[j] <= depths[k]), len(lines))
        yield lines[:k] + lines[end:]
        if end > k + 1:
            yield lines[:k] + [line[4:] for line in lines[k + 1 : end]] + lines[end:]


def shorter(text, is_wrong):
    """Return a program, as short as can be found, that is wrong, too."""
    lines = text.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("def f(")) + 1
    while True:
        for fewer in parts_left_out(lines, first):
            try:
                compile("\n".join(fewer), "", "exec")
                with at_most(5):
                    if is_wrong("\n".join(fewer) + "\n"):
                        break
            except (SyntaxError, NameError, KeyboardInterrupt):
                continue
        else:
            return "\n".join(lines) + "\n"
        lines = fewer


def is_wrong(found):
    """Return whether a program is wrong, and not for want of lines that have been left out."""
    return found[0] == "wrong" and "UnboundLocalError(" not in found[1] and "NameError" not in found[1]


def told(text, layout, count, executor):
    """Return the message for a program that is wrong: a short one that is, too."""
    short = shorter(text, lambda t: is_wrong(verdict(t, layout, count, executor)))
    return f"{layout} {count!r} {executor}\n{short[short.index(HEAD) :]}{verdict(short, layout, count, executor)[1]}"


def checked(choices, executors, program=program, verdict=verdict, told=told):
    """Check one program; return the reason of a refusal, or what else became of it."""
    text, layout = program(choices)
    count, executor = choices.choice(COUNTS), choices.choice(executors)
    what, why = verdict(text, layout, count, executor)
    assert what != "wrong", told(text, layout, count, executor)
    return re.sub(r"'[^']*'|\d+", "_", why)[:100] if what == "refused" else what


def test_random_programs():
    """Of plain seeds: the examples of Hypothesis are for the greater part those before with a part repeated."""
    executors = "sequential", "sequential", "dataflow"
    found = Counter(checked(random.Random(seed), executors) for seed in range(1_000_000, 1_000_080))
    assert found["fine"] > found.total() * 0.7, found.most_common()


FAILING = (
    "k = 0\nwhile k < n:\n    k += 1\n    b = np.sin(a)\n    b[:k + 2] = b[:2] * 2\n    x += m[k, 0]\nreturn x",
    "for k in range(n):\n    a = np.sin(np.cos(a))\n    x += m[k, k]\n    assert k < 2, 'three'\nreturn a, x",
    "k = 0\nwhile k < n:\n    k += 1\n    print(k)\n    a[k + 3] += np.sin(a).sum()\n    i[k * 3] = 1\nreturn a, i",
)


@needs_native
def test_an_element_takes_no_array_in_machine_code():
    text = HEAD + "    i[0] = a[np.array([4])]\n    a[1] = a[2:3]\n"
    assert verdict(text, "apart", 3, "native")[0] in ("refused", "fine", "raises")


@needs_native
def test_random_programs_in_machine_code():
    found = Counter(checked(random.Random(seed), ["native"]) for seed in range(2_000_000, 2_000_025))
    assert found["fine"] > found.total() / 2, found.most_common()


#: what raises, and is told by which of two failures plain Python comes upon first
RAISING = (
    "w = 0\nwhile w < n:\n    w += 1\n    c.flat[w] = w\n    a[a > x] = i[1:] * 0.5",
    "w = 0\nwhile w < n and x > 1:\n    w += 1\n    np.cumsum(a.copy(), out=a)\nif i.sum() > 9:\n"
    "    for k in range(1, n):\n        i[:k + 1] = flags[:2]\n        b -= a",
    "for r in m: c.T[0] = 0.5\nfor k in range(len(a) - 3): r[:k + 1] = a[:2] - x",
)


@each(["auto", "dataflow"])
def test_what_arguments_hold_after_an_exception(executor):
    for body in RAISING:
        text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
        for layout in ("apart", "same"):
            assert verdict(text, layout, 3, executor) == ("raises", ""), text
    f = compiled_world(text, "raising")["f"]
    assert was_there(f, "apart", 3, arguments("apart", 3))
    assert not was_there(f, "apart", 3, [one + 1 for one in arguments("apart", 3)[:5]] + [*arguments("apart", 3)[5:]])


@pytest.mark.parametrize("threads", [1, 2])
def test_the_scheduler_tells_the_failure_that_plain_python_comes_upon(threads):
    before = al.config.get_num_threads()
    al.config.set_num_threads(threads)
    try:
        for body in FAILING:
            f = compiled_world(HEAD + "".join(f"    {line}\n" for line in body.splitlines()), "failing")["f"]
            errors = [outcome(one, "apart", np.int64(9))[1] for one in (f, al.function(f, executor="dataflow"))]
            assert type(errors[0]) is type(errors[1]) and str(errors[0]) in str(errors[1]), errors
    finally:
        al.config.set_num_threads(before)


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_programs(chunk):
    found = Counter(checked(random.Random(seed), EXECUTORS[:3]) for seed in range(500 * chunk, 500 * chunk + 500))
    refused = found.total() - found["fine"] - found["raises"]
    print(f"{refused / found.total():.1%} of {found.total()} programs are refused:", *found.most_common(8), sep="\n")
    assert refused < found.total() * 0.2


@pytest.mark.nightly
@needs_native
@pytest.mark.parametrize("chunk", range(4))
def test_many_random_programs_in_machine_code(chunk):
    found = Counter(
        checked(random.Random(seed), ["native"]) for seed in range(10**5 + 250 * chunk, 10**5 + 250 * chunk + 250)
    )
    assert found["fine"] > found.total() * 0.6, found.most_common()
