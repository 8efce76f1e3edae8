"""Texts that methods of the user's or libraries make of values of a run: as in plain Python, or refused."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import pprint
import reprlib
import string
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

TWO, WIDE = "{} {!r}", "{:>9} {}"
PERCENT, PERCENTS = "%s", "%s and %r"


class Named:
    def __init__(self, n):
        self.n = n

    def __str__(self):
        return "Named " + str(self.n)

    def __repr__(self):
        return f"<N {self.n}>"


class Padded(Named):
    def __format__(self, spec):
        return f"{self.n:{spec or '6.2f'}}|"


class Inner:
    def __init__(self, one):
        self.one = one

    def __repr__(self):
        return f"Inner({self.one!r})"


@dataclasses.dataclass
class Point:
    x: object


class Failure(Exception):
    def __init__(self, n):
        self.n = n
        super().__init__("failed")

    def __str__(self):
        return f"failed at {self.n}"


class Plain(Exception):
    pass


def converted_methods(n):
    o = Named(n)
    return str(o), repr(o), f"{o}", f"{o!r:>20}", f"{o!s} {n}", TWO.format(o, n), format(o)


def own_format(n):
    return f"{Padded(n)} {Padded(n):8.3f}", format(Padded(n), "5.1f"), format(Padded(n))


def inside_another(n):
    return str(Inner(Named(n))), f"{Inner(Inner(n))}"


def of_dataclasses(n):
    return repr(Point(n)), f"{Point([n])}", str(Point((n, Named(n))))


def of_caught(n):
    try:
        raise KeyError(n, 1)
    except KeyError as e:
        return str(e), f"{e!r}", PERCENT % e


def of_own_caught(n):
    try:
        raise Plain(n)
    except Plain as e:
        print(e, [e])
        return f"{e}"


def of_own_with_a_method(n):
    return str(Failure(n)), f"{Failure(n)}"


def by_template(n):
    return string.Template("a $x").substitute(x=n)


def by_pprint(n):
    return pprint.pformat([n])


def by_reprlib(n):
    return reprlib.repr([n])


def by_percent(n):
    template = "%s"
    one = template % n
    template %= n
    return one, template, PERCENTS % (Named(n), n)


def by_methods(n):
    return n.__str__(), [n, n].__repr__(), n.__format__("")


def printed(n):
    o = Named(n)
    print(o, [o], Point(n))
    o.n = 2
    print(o)
    return n


TEXTS = [
    converted_methods, inside_another, of_dataclasses, of_caught, of_own_caught, of_own_with_a_method, by_template,
    by_pprint, by_reprlib, by_percent, by_methods, printed,
]  # fmt: skip


def outcome(f, *args):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*runs as plain Python")
        return f(*args), stream.getvalue()


@pytest.mark.parametrize("f", [*TEXTS, own_format], ids=lambda f: f.__name__)
def test_texts_are_those_of_plain_python(f):
    decorated = al.function(f)
    for n in (3, np.float64(2.5), np.array([1.0, 2.0]))[: 2 if f is own_format else 3]:
        for _ in range(2):
            assert outcome(decorated, n) == outcome(f, n)


def printed_in_a_loop(n):
    i = 0
    while i < n:
        i += 1
        print(Named(i), f"{Named(i * n)!s:>14}", [Named(i)])
    return i


def test_a_loop_shows_an_object_of_each_iteration():
    assert outcome(al.function(printed_in_a_loop), np.float64(3.5)) == outcome(printed_in_a_loop, np.float64(3.5))


def by_pprint_in_a_loop(n):
    text = ""
    while n > 1:
        n = n / 2
        text = pprint.pformat(Named([n]))
    return text


def test_a_library_that_swallows_errors_gets_the_values():
    assert outcome(al.function(by_pprint_in_a_loop), np.float64(3.5)) == outcome(by_pprint_in_a_loop, np.float64(3.5))


def template_in_a_loop(n):
    text = ""
    while n > 1:
        n = n / 2
        text = string.Template("a $x").substitute(x=n)
    return text


def refusal_is_caught(n):
    text = ""
    while n > 1:
        n = n / 2
        try:
            text = string.Template("a $x").substitute(x=n)
        except (TypeError, ValueError):
            text = "caught"
    return text


def raised_with_an_object(n):
    if n > 2:
        raise ValueError(Named(n))
    return n


def raised_with_a_method(n):
    if n > 2:
        raise Failure(n)
    return n


def asserted_with_an_object(n):
    assert n < 2, Named(n)
    return n


def test_the_message_of_an_assertion_is_plain_pythons():
    for f in (al.function(asserted_with_an_object), asserted_with_an_object):
        with pytest.raises(AssertionError, match="3.5"):
            outcome(f, np.float64(3.5))


@each([template_in_a_loop, refusal_is_caught])
def test_texts_that_a_library_makes_of_values(f):
    refused_or_plain(f, "text is made of a value that only the run knows by code", np.float64(3.5))


def test_an_exception_that_says_itself_what_it_holds_is_raised_by_the_run():
    for f in (al.function(raised_with_a_method), raised_with_a_method):
        with pytest.raises(Failure, match="failed at 3.5") as info:
            f(np.float64(3.5))
        assert (type(info.value.n), info.value.n, info.value.args) == (np.float64, 3.5, ("failed",))


@each([raised_with_an_object])
def test_what_would_show_a_stand_in_is_refused_at_the_line(f):
    with pytest.raises(TypeError, match="text is made of a value that only the run knows") as info:
        al.function(f, executor="native")(np.float64(3.5))
    assert "f-string" in str(info.value)
    assert any(entry.name == f.__name__ for entry in info.traceback)
    with pytest.warns(UserWarning, match="text is made of a value"), pytest.raises(ValueError, match="3.5"):
        al.function(f)(np.float64(3.5))


def test_the_format_of_an_object_of_the_run_in_a_held_template_is_refused():
    def held(n):
        return WIDE.format(Named(n), n)

    with pytest.raises(TypeError, match=r"^unsupported format string passed to Named\.__format__$"):
        al.function(held)(np.float64(2.5))
    with pytest.raises(TypeError, match="the format '>9' of an object"):
        al.function(held)(al.constant(2.5))
