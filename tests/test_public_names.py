"""What is public: each public module lists its names, shows these alone, and takes none from Python with a star."""

from __future__ import annotations

import ast
import builtins
import importlib
import types
from pathlib import Path

import autoloop as al
import autoloop.distributed
import pytest
from api import later_rows, ops

#: what users import, or find under ``autoloop``
MODULES = (
    "autoloop", "autoloop.compat", "autoloop.compat.app", "autoloop.compat.flags", "autoloop.compat.nn",
    "autoloop.compat.train", "autoloop.compat.v1", "autoloop.config", "autoloop.debugging", "autoloop.distributed",
    "autoloop.errors", "autoloop.fft", "autoloop.linalg", "autoloop.nest", "autoloop.profiler", "autoloop.random",
    "autoloop.sparse", "autoloop.typing",
)  # fmt: skip


def module_of(name):
    """One that is public, whatever file it stands in."""
    found = al
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.fixture(params=MODULES)
def module(request):
    return module_of(request.param)


def source_of(module):
    return ast.parse(Path(module.__file__).read_text())


def test_names_are_listed_once_and_as_text(module):
    """Type checkers read the list."""
    lists = [
        node.value
        for node in source_of(module).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert [ast.literal_eval(one) for one in lists] == [module.__all__]
    assert len(set(module.__all__)) == len(module.__all__)


def test_what_is_listed_is_there_and_nothing_else_is_shown(module):
    others = set(dir(module)) - set(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(builtins, name) or name[:2] == "__" or name in ("errors", "typing") for name in others), others
    assert [name for name in dir(module) if not hasattr(module, name)] == []


def test_a_star_takes_no_name_from_python(module):
    """But that of ``compat.v1``, as TensorFlow's."""
    taken = {name for name in module.__all__ if hasattr(builtins, name) and module is not al.compat.v1}
    assert [name for name in taken if getattr(module, name) is not getattr(builtins, name)] == []
    everything: dict = {}
    exec(f"from {module.__name__} import *", everything)
    assert {name for name in everything if name[0] != "_"} == {name for name in module.__all__ if name[0] != "_"}


def test_no_module_shows_what_it_works_with(module):
    """Neither modules of others nor our own that nobody is to import, nor what comes from others."""
    public = {id(module_of(name)) for name in MODULES}
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            assert id(value) in public, name
        elif isinstance(value, type | types.FunctionType):
            assert value.__module__.startswith("autoloop") or name in ("Axis", "Dimension"), name


@pytest.mark.parametrize("name", ["fft", "linalg", "random", "sparse", "debugging", "compat.v1"])
def test_functions_and_classes_of_a_module_are_listed(name):
    module = module_of(f"autoloop.{name}")
    own = {
        node.name
        for node in source_of(module).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
    }
    assert own <= set(dir(module))


def test_what_operations_add_is_listed():
    """A row of an operation adds names to ``autoloop`` and to ``compat.v1``: add them to both lists."""
    rows = {*ops.__all__, *ops.ALIASES, *later_rows.SPELLED} - {"ALIASES"}
    for module in (al, al.compat.v1):
        assert sorted(rows - set(dir(module))) == [], f"add them to __all__ in {module.__file__}"
    assert sorted(set(al._MODULE_OF) - set(dir(al))) == []


def test_every_public_module_is_reached_by_its_name():
    for name in MODULES:
        if Path(al.__file__).parent in Path(module_of(name).__file__).parents:
            assert importlib.import_module(name) is module_of(name)
