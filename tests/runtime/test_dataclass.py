"""Our ``dataclass`` against the standard one, on the same class bodies."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
from api import lean

KINDS = {"standard": dataclasses, "lean": lean}
OPTIONS = [{}, {"frozen": True}, {"frozen": True, "slots": True}, {"eq": False}, {"frozen": True, "eq": False}]


def point(kind, options):
    module = KINDS[kind]

    class Point:
        x: int
        y: int = 2
        seen: list = module.field(default_factory=list)

        def __post_init__(self):
            self.seen.append(self.x)

        def total(self):
            return self.x + self.y

    return module.dataclass(**options)(Point)


def outcome(f):
    try:
        return f()
    except Exception as error:
        return next(t for t in type(error).__mro__ if t in (AttributeError, TypeError, Exception))


def behaviour(kind, options):
    cls = point(kind, options)
    replace = KINDS[kind].replace
    a = cls(1)

    def assign(name):
        setattr(cls(1), name, 5)
        return "assigned"

    def remove():
        one = cls(1)
        del one.x
        return "removed"

    return {
        "fields": (a.x, a.y, a.seen, a.total()),
        "own default": cls(1).seen is not a.seen,
        "keywords": (lambda p: (p.x, p.y))(cls(y=7, x=3)),
        "missing": outcome(cls),
        "too many": outcome(lambda: cls(1, 2, [], 4)),
        "unknown": outcome(lambda: cls(1, z=3)),
        "equal": (a == cls(1), a == cls(2), a != cls(1), a == (1, 2, [1])),
        "repr": repr(a).rpartition(".")[2],
        "assign": outcome(lambda: assign("x")),
        "remove": outcome(remove),
        "dict": hasattr(a, "__dict__"),
        "replace": (lambda p: (p.x, p.y, p.seen is a.seen))(replace(a, y=9)),
        "hash": outcome(lambda: hash(cls(1, 2, 3)) == hash(cls(1, 2, 3)) if options.get("eq", True) else True),
        "match": cls.__match_args__,
    }


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_same_as_the_standard_one(options):
    assert behaviour("lean", options) == behaviour("standard", options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_later_instances_are_as_the_first(options):
    cls, original = point("lean", options), None
    for n in range(40):
        original = original or cls.__init__
        one, two, three = cls(n), cls(n, 3), cls(y=4, x=n)
        assert (one.x, one.y, one.seen) == (n, 2, [n]) and one.seen is not two.seen
        assert (two.total(), three.total(), three.seen) == (n + 3, n + 4, [n])
    assert cls.__init__ is not original  # compiled by now


@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 3}), ((1,), {"x": 3})], ids=str)
def test_wrong_arguments_of_the_first_instance_are_told_as_ever(arguments):
    args, keywords = arguments
    told = []
    for made in (0, 40):
        cls = point("lean", {})
        for n in range(made):
            cls(n)
        with pytest.raises(TypeError) as caught:
            cls(*args, **keywords)
        told.append(str(caught.value))
    assert told[0] == told[1] and told[0].startswith("point.<locals>.Point.__init__()")


def test_fields_of_the_first_instance_are_not_compared():
    @lean.dataclass(frozen=True)
    class Held:
        value: object

    array = np.arange(3)
    assert Held(array).value is array


def test_the_own_methods_of_a_class_stay():
    @lean.dataclass(frozen=True)
    class Named:
        name: str

        def __repr__(self):
            return self.name

    assert repr(Named("n")) == "n" and Named("n") == Named("n") and len({Named("n"), Named("n")}) == 1


def test_first_instances_in_several_threads():
    cls = point("lean", {"frozen": True})
    barrier, made = threading.Barrier(4), []

    def make(i):
        barrier.wait(10)
        made.extend(cls(i) for _ in range(20))

    threads = [threading.Thread(target=make, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(10)
    assert sorted(p.x for p in made) == [n // 20 for n in range(80)]


def test_nothing_is_compiled_for_a_class_of_few_instances(monkeypatch):
    compiled = []
    monkeypatch.setattr(
        lean, "exec", lambda source, names: (compiled.append(source), exec(source, names)), raising=False
    )
    cls = point("lean", {})
    assert cls(1).x == 1 and cls(2).x == 2 and not compiled
    assert [cls(n).x for n in range(100)] == list(range(100)) and len(compiled) == 1
