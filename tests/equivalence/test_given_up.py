"""What an attempt has written that is given up is not written twice, nor printed, drawn, appended or counted twice.

Given up are traces (a list grows, a type settles, a place comes to light, only plain Python can do it), machine code of
a loop or function that finds in the middle that it cannot go on, and calls begun in generated Python that machine code
makes anew.
"""

import numpy as np
import pytest
from api import automatic, background, on_stack_replacement, tier_up
from executors import needs_native
from worlds import module, played

HELD = """
class Held:
    n, s, seen = 0, 0.5, None
    def step(self, v):
        self.n += 1
        self.s += v
h = Held()
W, V, C, LOG, D = np.ones(120), np.arange(120.0), 0, [], {'n': 0}
"""
STATE = "W, V, C, LOG, D, h.n, h.s"
#: a count that only a run knows: 60, 90 and 120 at the three calls; a window that is cut short there machine code
#: does not go on with
COUNT = "n = (x[1] * 30).astype(int)\n"
PROGRAMS = {
    "an array": "for k in range(n): W[k] += W[k:k + 2].sum() * 0.25\nx[0] += 1",
    "two arrays that change places": "u, v = W.copy(), V.copy()\nfor k in range(n):\n    v[k] += u[k:k + 2].sum()\n"
    "    u, v = v, u\nx += u[:3]",
    "attributes": "for k in range(n):\n    h.n += 1\n    h.s += W[k:k + 2].sum()\n    W[0] += 1",
    "a helper's attributes": "for k in range(n):\n    h.step(W[k:k + 2].sum())\n    x[0] += 1",
    "a global": "global C\nfor k in range(n):\n    C += 1\n    D['n'] += C\n    W[k:k + 2] += 1\n"
    "    W[0] += V[k:k + 2].sum()",
    "what is printed": "for k in range(n):\n    W[k] += W[k:k + 2].sum() * 0.25\n    if k % 29 == 0: print(k, W[k])",
    "random numbers": "for k in range(n): W[k] += W[k:k + 2].sum() + np.random.rand() + rng.random() + R.random()",
    "a list": "for k in range(n):\n    LOG.append(W[k:k + 2].sum())\n    W[k] -= 1",
    "a loop in a loop": "for k in range(n):\n    for j in range(n - 110): W[k] += V[j + k:j + k + 2].sum()\n"
    "    x[1] += 0.5",
    "a branch": "for k in range(n):\n    if W[k] > 0.5: W[k:k + 2] *= 0.5\n    else: V[k] += V[k:k + 2].sum()",
    "a break": "k = 0\nwhile k < n:\n    W[k] += V[k:k + 2].sum()\n    x[0] += 1\n    if W[k] > 236: break\n    k += 1",
    "a derivative": "def loss(v):\n    for k in range(n): v = np.sin(v) * 1.1 + W[k] * 0\n    return v.sum()\n"
    "LOG.append(al.grad(loss)(x * 1.0))\nW[:3] += x",
    "a list that grows in a branch": "print('once')\nW[0] += 1\nout = []\nfor k in range(n):\n"
    "    if V[k] > 50: out.append(V[k])\nLOG.append(len(out))",
    "a type that settles": "s = 0\nprint('once')\nfor k in range(n):\n    s = s + V[k]\n    W[0] += 1\nx[0] = s",
    "an array of the trace": "w = np.zeros(3)\nh.n += 1\nw[0] = 1\nfor k in range(n): w[k % 3] += W[k]\nx += w",
    "plain Python": "global C\nC += 1\nx[0] += 1\nprint('once')\nLOG.append(next(IT))\nW[0] += 1",
    "plain Python in the end": "for k in range(n): W[k] += 1\nx[0] += 1\nLOG.append(next(IT))",
}  # fmt: skip
#: what stands elsewhere at the second call: memory that the trace is not for
CHANGE = "global W, V\nif k == 1: W = W[::-1]\nif k == 2: W, V = np.ones(120), np.ones(240)[::2]"
WAYS = ("generated Python", "the scheduler", "loops in machine code", "machine code later", "machine code")


def text_of(body, changes):
    top = HELD + "import autoloop as al\nIT = iter(range(9))\n"
    return module(COUNT + body + "\nreturn x * 1, n", top, STATE, CHANGE if changes else "")


def in_a_way(way, monkeypatch, replace_on_stack):
    """Let graphs run in a way; return the executor."""
    if way == "loops in machine code":
        replace_on_stack(on_stack_replacement.FIRST)
    elif way == "machine code later":
        monkeypatch.setattr(tier_up, "price", lambda nodes: 0.0)
        for one in (on_stack_replacement, automatic):
            monkeypatch.setattr(one, "SMALLEST", 0.0)
        monkeypatch.setattr(background, "submit", lambda job: job() is None)
    return {"generated Python": "sequential", "the scheduler": "dataflow", "machine code": "native"}.get(way, "auto")


def same(one, other):
    """Return whether two descriptions are, floats but for rounding."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return bool(np.isclose(one, other, rtol=1e-12, equal_nan=True))
    return one == other


def check(way, programs, monkeypatch, replace_on_stack):
    """Compare programs in one way; return how many calls were compared, and what was given up."""
    executor, taken, given_up = in_a_way(way, monkeypatch, replace_on_stack), 0, []
    give_up = tier_up.TierUp.give_up
    monkeypatch.setattr(tier_up.TierUp, "give_up", lambda *args: given_up.append(args[-1]) or give_up(*args))
    untouched = played("untouched", text_of("pass", False))[0][0][2:]
    for name in programs:
        text = text_of(PROGRAMS[name], way == "generated Python")
        expected, _ = played(name, text)
        found, _ = played(name, text, executor)
        for call, (one, other) in enumerate(zip(expected, found, strict=True)):
            if executor == "native" and isinstance(other[0][0], type):  # it refuses
                before = found[call - 1][2:] if call else untouched
                assert same(other[1:], ([1.0 + call, 2.0 + call, 0.0 + call], *before)), f"{name}, {call}: {other}"
                break
            wrong = [pair for pair in zip(one, other) if not same(*pair)]
            assert not wrong, f"{name}, call {call}: " + "\n".join(map(str, wrong))
            taken += 1
    return taken, given_up


def some_way(way):
    return pytest.param(way, marks=needs_native if "machine" in way else ())


@pytest.mark.auto
@pytest.mark.parametrize("way", [*map(some_way, WAYS)])
def test_nothing_is_done_twice(way, monkeypatch, replace_on_stack):
    first = WAYS.index(way)
    programs = [*PROGRAMS][first % 2 :: 2] if way == "loops in machine code" else [*PROGRAMS][first % 3 :: 3]
    taken, given_up = check(way, programs, monkeypatch, replace_on_stack)
    assert taken > (0 if way == "machine code" else 2) * len(programs)
    assert (way != "loops in machine code") or len(given_up) > 1


@pytest.mark.nightly
@pytest.mark.auto
@pytest.mark.parametrize("way", [*map(some_way, WAYS)])
def test_nothing_at_all_is_done_twice(way, monkeypatch, replace_on_stack):
    check(way, PROGRAMS, monkeypatch, replace_on_stack)
