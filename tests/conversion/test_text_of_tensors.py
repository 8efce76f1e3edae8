"""Text with tensors in it: what a staged function prints is what plain Python prints."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

X = np.array([1.5, 2.0])


def fields(n, x):
    print(f"{n!r} {n!s} {n} {n:3d}|{n!r:>5}|{n=}|{{}} {x!r} {x} {x[0]!r} {x[0]:.2f} {x[1]:{6}.{1}f}")


def structures(n, x):
    print(f"{[1, 'a', n]} {(n, x[0])} { {'k': n} } {None} {[1, 2]}", (n, "a"))


def functions(n, x):
    print(str(n) + "!", repr(n), format(n, "4d"), format(x[0]), str(x))
    print("{} {:3d} {0}".replace(" {0}", "").format(n, n), "{1} {0!r:>4} {k:.1f} {{}}".format(n, "b", k=x[0]))


def joined(n, x):
    text = "n is " + f"{n}"
    text += f", x is {x[0]}"
    print(text, text + "!", f"{n}" + f"{n}")


def in_a_loop(n, x):
    best = None
    out = []
    for i in range(n):
        if i > 1:
            best = i
        out.append(i)
        print(f"{i}: {best} {i * x[0]:.1f}", str(i))
    print(f"{best}", best)


def evaluation_order(n, x):
    shown = []
    print(f"{shown}{shown.append(1)}{shown} {n} {shown.append(n)}", len(shown))


def lists(n, x):
    out, pairs, rows = [], [], []
    for i in range(n):
        if i > 0:
            out.append(i)
            pairs.append((i, {"x": i + 1}))
            rows.append(x * i)
    print(out, [out, 1], f"{out}|{out!s}|{out!r:>12}", str(out), repr(out), {"k": out})
    print(pairs, len(out), sep=";")
    print(rows)


def lists_without_elements(n, x):
    out = []
    for i in range(n):
        if i > 7:
            out.append(i)
    print(out, f"{out}")


def none_or_a_value(n, x):
    best = worst = None
    if n > 1:
        best = x[0]
    if n > 9:
        worst = x[0]
    print([best, worst], (worst,), f"{best:.2f} {[worst]} {worst}", {"k": worst}, str(worst), repr([worst]))


@pytest.mark.parametrize(
    "function",
    [
        fields,
        structures,
        functions,
        joined,
        in_a_loop,
        evaluation_order,
        lists,
        lists_without_elements,
        none_or_a_value,
    ],
)
def test_same_text(function, capsys):
    function(3, X)
    expected = capsys.readouterr().out
    al.function(function)(al.constant(3), X)
    assert capsys.readouterr().out == expected
    al.convert(function)(3, X)
    assert capsys.readouterr().out == expected


def test_texts_of_a_run_are_joined():
    v = np.array([3, 1, 2])
    for f in (
        lambda v: ",".join(map(str, v.tolist())),
        lambda v: " {} ".join([str(v[0]), "x", f"{v[1]:.1f}"]),
        lambda v: "".join(c for c in "xy") + ", ".join(["a", "b"]),
    ):
        assert al.function(f)(v) == f(v)
    for g in (lambda v: ",".join([v[0]]), lambda v: ",".join(["a", v])):
        with pytest.raises(TypeError, match="expected str instance, numpy.* found"):
            al.function(g)(v)


def test_percent_of_what_the_run_knows(capsys):
    def grown(n):
        out = []
        for i in range(n):
            out.append(i)
        return "%s" % out  # noqa: UP031

    al.function(lambda n: print("%d" % n))(al.constant(3))  # noqa: UP031
    al.convert(lambda n: print("%d" % n))(3)  # noqa: UP031
    assert capsys.readouterr().out == "3\n3\n"
    assert al.function(lambda n: "%s %5.2f" % (n, n))(al.constant(3)).numpy() == "3  3.00"  # noqa: UP031
    assert al.function(lambda n: "%s" % [{"n": (n,)}])(al.constant(3)).numpy() == "[{'n': (3,)}]"  # noqa: UP031
    assert al.function(grown)(np.int64(3)) == "[0, 1, 2]"


def of_none_or_more(x):
    s, p, q = 0.0, None, None
    while s < x:
        s += 0.5
        p = 1
        if s > 1:
            q = "low"
    return str(p), f"{p}|{q!r:>6}", [repr(p)], f"{(p, q)}", "%s" % (p,)  # noqa: UP031


def test_the_text_of_what_may_be_none_is_a_text():
    decorated = al.function(of_none_or_more)
    for x in (0.0, 0.7, 2.0):
        assert decorated(np.float64(x)) == of_none_or_more(x)
        assert decorated(al.constant(x)) == of_none_or_more(x)  # as of numbers that a tensor decides
