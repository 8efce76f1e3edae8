"""What is public says what it takes and gives, and shows it: each docstring has an example, which is run here."""

from __future__ import annotations

import doctest
import inspect

import autoloop
import numpy as np
import pytest
from each_case import each

MODULES = ("autoloop", *[f"autoloop.{m}" for m in "linalg fft random nest config profiler debugging sparse".split()])
#: Python's own
WITHOUT_EXAMPLE = {"autoloop.debugging.breakpoint"}


def module_of(name):
    """The module of public names; some are attributes only."""
    return autoloop if name == "autoloop" else getattr(autoloop, name.partition(".")[2])


def public():
    """Each public function and class, once, by the first of its names."""
    found = {}
    for module in MODULES:
        for name in sorted(getattr(module_of(module), "__all__", ())):
            value = getattr(module_of(module), name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found.setdefault(id(value), (f"{module}.{name}", value))
    return dict(found.values())


PUBLIC = public()


def lacking(value):
    """The sections that the docstring of a function should have, and has not."""
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) or inspect.isbuiltin(value):
        return [] if text else ["a docstring"]
    signature = inspect.signature(value)
    gives = signature.return_annotation not in ("None", None)
    wanted = ["Parameters"] * bool(signature.parameters) + ["Returns"] * gives
    return [section for section in wanted if f"\n{section}\n---" not in text and f"\n{section[:-1]}s\n---" not in text]


def test_each_says_what_it_takes_and_gives():
    wrong = {name: missing for name, value in PUBLIC.items() if (missing := lacking(value))}
    assert not wrong


def test_each_has_an_example():
    bare = {name for name, value in PUBLIC.items() if "\nExamples\n---" not in (inspect.getdoc(value) or "")}
    assert bare == WITHOUT_EXAMPLE


def test_sections_that_lack_are_found():
    def f(x: int) -> int:
        """Return it."""

    assert lacking(f) == ["Parameters", "Returns"]


@pytest.fixture(scope="module", autouse=True)
def as_in_the_documents():
    """Few digits, as the pages of the reference say."""
    with np.printoptions(precision=4):
        yield


def examples(value):
    names = {"al": autoloop, "autoloop": autoloop, "np": np}
    return doctest.DocTestParser().get_doctest(inspect.getdoc(value), names, value.__name__, None, 0)


@each(sorted(PUBLIC.keys() - WITHOUT_EXAMPLE), one_in=3)  # all are run where the documents are built
def test_example_gives_what_it_shows(name):
    told = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(examples(PUBLIC[name]), out=told.append)
    assert not told, "".join(told)
