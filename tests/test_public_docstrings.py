"""What is public says what it takes and gives, and shows it: each docstring has an example, which is run here."""

from __future__ import annotations

import doctest
import inspect
import re
from collections import Counter
from pathlib import Path

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


def names_of(module):
    """Each public name of a module; a star takes those that are none of Python's only."""
    return sorted(name for name in dir(module) if name[0] != "_")


def public():
    """Each public function and class, once, by the first of its names."""
    found = {}
    for module in MODULES:
        for name in names_of(module_of(module)):
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


REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
_TABLE = re.compile(r"^```\{(names|list-of-names)\} (\S+)\n((?:.*\n)*?)```$", re.M)


def tables():
    """The tables of names in the reference: kind, module, names."""
    pages = sorted(REFERENCE.glob("*.md"))
    return [table for page in pages for table in _TABLE.findall(page.read_text(encoding="utf-8"))]


def test_the_reference_names_what_there_is():
    named = Counter(name for _, module, names in tables() if module == "autoloop" for name in names.split())
    rest = named.pop(":rest:")  # the page that takes what no other has
    assert rest == 1 and set(named) <= set(dir(autoloop)) and set(named.values()) == {1}


def test_each_module_has_its_table():
    whole = {module for _, module, names in tables() if not names}
    assert whole == {*MODULES, "autoloop.compat.v1", "autoloop.typing"} - {"autoloop"}
