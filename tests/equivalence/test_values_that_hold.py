"""Values that hold what changes: members of enumerations, and numbers and texts of classes of the user's."""

import enum
import warnings

import autoloop as al
import numpy as np
import pytest


class Module:
    """What the programs find, made anew for each of two sides."""

    def __init__(self):
        class Planet(enum.Enum):
            A = (1.0, 2.0)
            B = (3.0, 4.0)

            def __init__(self, mass, radius):
                self.mass, self.radius = mass, radius
                self.hits, self.n, self.place = [], 0, np.zeros(2)

            def hit(self):
                self.n += 1
                self.hits.append(self.n)
                return self.mass * self.radius

        class Held(enum.Enum):
            LIST = [1]
            DICT = {"k": 2}
            ARRAYS = (np.zeros(2),)

        class Whole(enum.IntEnum):
            X = 1
            Y = 2

        Whole.X.count = 0
        self.planets, self.held, self.whole = Planet, Held, Whole
        self.several, self.keys = (Planet.B, Planet.A), {Planet.A: 1, Planet.B: 2}


def all_of_them(m, x):
    for p in m.planets:
        p.hits.append(p.mass)
        p.place += x
    return [len(p.hits) for p in m.planets]


def methods(m, x):
    return m.planets.A.hit() + m.planets.B.hit(), m.planets.A.n


def found_by(m, x):
    m.planets((1.0, 2.0)).n += 5
    m.planets["B"].n += 7
    for p in (*m.several, *m.keys):
        p.n += 1
    return m.planets.A.n, m.planets.B.n


def values(m, x):
    m.held.LIST.value.append(2)
    m.held.DICT.value["k"] += 1
    m.held.ARRAYS.value[0][0] += x[0]
    return m.held.LIST.value, m.held.DICT.value, m.held.ARRAYS.value[0]


def whole_numbers(m, x):
    m.whole.X.count += 1
    return m.whole.X.count, m.whole.X + 1, x * m.whole.Y


def of_loops(m, x):
    i = 0
    while i < x[0]:
        m.planets.A.n += 1
        m.planets.B.place[1] += i
        m.planets.A.hits.append(i)
        i += 1
    return m.planets.A.n, m.planets.B.place, len(m.planets.A.hits)


def of_branches(m, x):
    if x[0] > 1:
        m.planets.A.mass = x[0] * 2
    else:
        m.planets.B.mass = 1.5
    m.planets.A.place = m.planets.A.place + x[0]
    return m.planets.A.mass, m.planets.B.mass, m.planets.A.place


MEMBERS = (all_of_them, methods, found_by, values, whole_numbers, of_loops, of_branches)


@pytest.mark.parametrize("program", MEMBERS, ids=lambda program: program.__name__)
def test_members_of_enumerations_are_changed_at_each_call(program):
    plain, ours = Module(), Module()
    decorated = al.function(lambda x: program(ours, x))
    for value in (2.0, 3.0, 0.5, 2.0):
        expected = program(plain, np.array([value]))
        assert repr(decorated(np.array([value]))) == repr(expected)


def test_a_refusal_leaves_members_as_they_were():
    ours = Module().planets

    @al.function
    def refused(t):
        ours.A.n = 77
        ours.A.hits.append("no")
        ours.A.place[0] = 5
        r = "text" if t > 0 else [t]
        return r

    with pytest.raises(TypeError):
        refused(al.constant(1))
    assert (ours.A.n, ours.A.hits, ours.A.place.tolist()) == (0, [], [0.0, 0.0])


KINDS = {base.__name__: type("Own", (base,), {}) for base in (int, float, str, bytes, complex, np.float64)}
FIRST = {"int": 3, "float": 2.5, "str": "ab", "bytes": b"ab", "complex": 1j, "float64": 2.0}


def change_it(value, x):
    value.hits.append(1)
    value.n += 1
    value.place += x
    i = 0
    while i < x[0]:
        value.n += i
        i += 1
    return len(value.hits), value.n, value.place[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_argument", [False, True])
def test_numbers_and_texts_with_attributes_are_for_plain_python(kind, is_argument):
    sides = [KINDS[kind](FIRST[kind]) for _ in range(2)]
    for one in sides:
        one.hits, one.n, one.place = [], 0, np.zeros(1)
    decorated = al.function(change_it) if is_argument else al.function(lambda x: change_it(sides[1], x))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            x = np.array([2.0])
            expected = change_it(sides[0], x)
            assert decorated(*[sides[1]] * is_argument, x) == expected
    assert "is a number or text with attributes of its own" in str(said[0].message)


def test_such_a_number_without_attributes_is_a_number():
    three = KINDS["int"](3)

    @al.function(executor="sequential")
    def times(x):
        return x * three

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert times(np.ones(2)).tolist() == [3.0, 3.0]
