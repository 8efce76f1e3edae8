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


@pytest.mark.parametrize("function", [fields, structures, functions, joined, in_a_loop, evaluation_order])
def test_same_text(function, capsys):
    function(3, X)
    expected = capsys.readouterr().out.replace("np.float64(1.5)", "1.5")
    al.function(function)(al.constant(3), X)
    assert capsys.readouterr().out == expected
    al.convert(function)(3, X)
    assert capsys.readouterr().out.replace("np.float64(1.5)", "1.5") == expected


def test_percent_is_refused():
    with pytest.raises(TypeError, match="`%` makes no text of tensors: use an f-string"):
        al.function(lambda n: print("%d" % n))(al.constant(3))  # noqa: UP031
    al.convert(lambda n: print("%d" % n))(3)  # noqa: UP031
