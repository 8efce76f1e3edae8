"""Classes, functions and modules that say nothing, or anything, of what they are called and where they are from."""

import itertools
import linecache
import sys
import types

import autoloop as al
import numpy as np
import pytest

SOURCE = """
import numpy as np
{of_module}

class N:
    {of_class}

    def __init__(self):
        self.k = 2.0

    def __call__(self, x):
        return x * self.k

    def add(self, x):
        self.k += 1
        return x + self.k

n = N()

def h(x):
    return x + 1

{of_function}

def f(x):
    return n(x) + n.add(x) + h(x)
"""
VALUES = ("4", "None", "[]", "Raises()")
OF_CLASSES = [
    f"{name} = {value}" for name in ("__module__", "__name__", "__doc__") for value in (*VALUES, "property(h)")
]
OF_CLASSES += ["__code__ = Raises()", "__code__ = property(lambda self: 1 / 0)", "__hash__ = Raises()", "__func__ = 4"]
OF_FUNCTIONS = [f"h.{name} = {value}" for name in ("__module__", "__doc__", "__wrapped__") for value in VALUES]
OF_MODULES = [f"{name} = {value}" for name in ("__name__", "__file__", "__package__") for value in VALUES]


class Raises:
    def __get__(self, instance, owner=None):
        raise RuntimeError("what is asked of the class")


def h(self):
    raise RuntimeError("what is asked of an instance")


CASES = [{"of_class": one} for one in OF_CLASSES] + [{"of_function": one} for one in OF_FUNCTIONS]
CASES += [{"of_module": one} for one in OF_MODULES]
COUNT = itertools.count()


@pytest.fixture(autouse=True)
def no_module_stays():
    """Others look through all modules, and at their files."""
    yield
    for name in [one for one in sys.modules if one.startswith("module_of_odd_names_")]:
        del sys.modules[name]


def world(case):
    name = f"module_of_odd_names_{next(COUNT)}"
    text = SOURCE.format(**{"of_class": "pass", "of_function": "", "of_module": "", **case})
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(Raises=Raises, h=h, __file__=name)
    exec(compile(text, name, "exec"), vars(module))
    return module


@pytest.mark.parametrize("value", [*VALUES, "{}", "'text'"])
def test_objects_of_a_class_that_says_itself_what_they_hold_are_left_to_plain_python(value):
    case = {"of_class": f"__dict__ = {value}"}
    plain, function = world(case).f, al.function(world(case).f)
    with pytest.warns(UserWarning, match="is of a class that says itself what its objects hold"):
        found = [function(np.arange(3.0)).tolist() for _ in range(3)]
    assert found == [plain(np.arange(3.0)).tolist() for _ in range(3)]


@pytest.mark.parametrize("case", CASES, ids=[*OF_CLASSES, *OF_FUNCTIONS, *OF_MODULES])
def test_they_are_called_all_the_same(case):
    plain, function = world(case).f, al.function(world(case).f)
    for _ in range(3):
        assert function(np.arange(3.0)).tolist() == plain(np.arange(3.0)).tolist()
