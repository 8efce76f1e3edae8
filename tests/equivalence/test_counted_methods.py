"""Special methods of the user's are called as often as by plain Python: not to look objects up in our own tables."""

import itertools

from each_case import each
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
TOP = """
import enum, typing
log = []
class C:
    def __init__(self, k=2.0): self.k = k
    def __hash__(self): log.append('hash'); return 5
    def __eq__(self, o): log.append('eq'); return isinstance(o, C) and self.k == o.k
    def __call__(self, v): log.append('call'); return v * self.k
    def __bool__(self): log.append('bool'); return self.k > 1
    @property
    def p(self): log.append('p'); return self.k
class A:
    def __array__(self, dtype=None, copy=None): log.append('array'); return np.arange(3.)
class G:
    def __getattr__(self, n): log.append(n); return 2.0
class M(type):
    def __instancecheck__(cls, o): log.append('inst'); return hasattr(o, 'k') or hasattr(o, 'sum')
    def __call__(cls, *a): log.append('mcall'); return super().__call__(*a)
    def __eq__(cls, o): log.append('meq'); return cls is o
    def __hash__(cls): log.append('mhash'); return 9
class X(metaclass=M): k = 3.0
class L(list):
    def __iter__(self): log.append('iter'); return list.__iter__(self)
class S(str):
    def __hash__(self): log.append('shash'); return str.__hash__(self)
class E(enum.Enum):
    a, b = 1, 2
@typing.runtime_checkable
class Shaped(typing.Protocol):
    shape: tuple
a, c, d, g, l, s = A(), C(), C(3.0), G(), L([1.0, 2.0]), S('ab')
D, T, N, F = {c: 1.0, d: 2.0}, {c, d}, {s: 2.0}, {E.a: 3.0, E.b: 4.0}
log.clear()
"""
BODIES = [
    "return c(x)", "return x * hasattr(c, 'p')", "return x * hasattr(g, 'foo')", "return np.where(x > 1, a, x)",
    "return x * D[c]", "return x * D.get(C(3.0), 5)", "D[c] = x[0]\nreturn x * D[d]",
    "return x * sum(v for v in D.values())",
    "if x[0] > 1: D[c] = x[1]\nreturn x * D[c]", "return x * len(T | {C()})", "return x * (C(3.0) in T)",
    "return x * N['ab']",
    "return x * X().k", "return x * isinstance(x, X)", "return x * isinstance(x[0], X)", "return x * isinstance(3, X)",
    "return x * sum(l)", "return x * (2 if c else 3)", "s = 0\nfor v in x:\n    if c == d: s += v\nreturn s",
]  # fmt: skip


def check(body):
    text = module(body, TOP, "(log, len(log))")
    found, reasons = played("counted", text, next(EXECUTORS))
    assert found == played("counted", text)[0]
    return reasons


@each(BODIES)
def test_methods_are_called_as_often_as_by_plain_python(body):
    check(body)


@each(["return x * F[E.a]", "return x * isinstance(x, Shaped)", "return x * isinstance(x[0], (int, Shaped))"])
def test_members_of_enumerations_and_protocols_are_in_the_graph(body):
    assert not check(body)
