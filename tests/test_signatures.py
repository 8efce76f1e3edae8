"""Array functions say what they take and what they give: to checkers, to editors and to ``help``."""

from __future__ import annotations

import inspect
import os
import runpy
import subprocess
import sys
import types
import typing
from pathlib import Path

import autoloop as al
import autoloop.compat.v1 as v1
import pytest
from api import ops
from autoloop import spellings
from each_case import each

HERE = Path(__file__).parent
_RANDOM = {name: f for name, f in vars(al.random).items() if isinstance(f, types.FunctionType) and name[0] != "_"}
FUNCTIONS = {
    **{name: getattr(ops, name) for name in ops.__all__ if isinstance(getattr(ops, name), types.FunctionType)},
    **{f"random.{name}": f for name, f in _RANDOM.items() if f.__module__ == al.random.__name__},
}


@each(FUNCTIONS)
def test_no_parameter_and_no_result_is_anything(name):
    f = FUNCTIONS[name]
    hints = typing.get_type_hints(f)
    assert {*inspect.signature(f).parameters, "return"} == hints.keys()
    assert typing.Any not in hints.values()
    assert hints["return"] != typing.Callable[..., typing.Any]


@each(
    [
        (al.set_loop_options, "shape_invariants parallel_iterations maximum_iterations swap_memory unroll"),
        (
            al.while_loop,
            "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory maximum_iterations name",
        ),
    ]
)
def test_parameters_of_loops_keep_their_places(f, names):
    assert list(inspect.signature(f).parameters)[: len(names.split())] == names.split()


def test_each_public_name_is_listed_once():
    """In the module that it stands in; the package gathers them."""
    modules = [m for m in vars(ops).values() if isinstance(m, types.ModuleType) and m.__name__.startswith(ops.__name__)]
    listed = [name for module in modules if module is not al.random for name in getattr(module, "__all__", ())]
    assert len(listed) > 150 and len(set(listed)) == len(listed)
    assert {*listed, "random", "ALIASES"} == set(ops.__all__) <= {*dir(al), "ALIASES"}


#: what may be tensors in any structure, which no type says
STRUCTURES = {
    "loop_vars", "shape_invariants", "elems", "initializer", "dtype", "fn_output_signature", "branch_fns",
    "pred_fn_pairs", "ys", "xs", "grad_ys", "stop_gradients", "primal", "primals", "vector", "args", "kwargs",
    "maximum_iterations",
}  # fmt: skip


@each([n for n in dir(al) if isinstance(getattr(al, n), types.FunctionType)])
def test_only_structures_are_anything(name):
    f = getattr(al, name)
    hints = typing.get_type_hints(f)
    assert {*inspect.signature(f).parameters, "return"} == hints.keys()
    anything = {parameter for parameter, hint in hints.items() if hint is typing.Any}
    assert anything - {"return"} <= STRUCTURES
    if "return" in anything:
        assert name in GIVE_STRUCTURES


#: of which a checker cannot know what they give: what a function of the user's gives, the structure of an
#: argument, or an object of a library that need not be there
GIVE_STRUCTURES = {
    "case", "cond", "export_onnx", "foldl", "foldr", "function", "gradients", "hessian_vector_product", "map_fn",
    "scan", "switch_case", "vectorized_map", "while_loop",
}  # fmt: skip


def _shown(f):
    return str(inspect.signature(f)).replace("'", "")


def test_functions_made_by_families_have_signatures_of_their_own():
    assert _shown(al.add) == "(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor"
    assert _shown(al.exp) == _shown(al.floor) == _shown(al.conj) == "(x: ArrayLike, name: str | None = None) -> Tensor"
    reduction = "x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None"
    assert _shown(al.max) == f"({reduction}) -> Tensor"
    assert _shown(al.sum) == f"({reduction}, *, dtype: DTypeLike | None = None) -> Tensor"


def test_all_functions_say_what_they_return():
    for name, f in FUNCTIONS.items():
        first = f.__doc__.partition("\n")[0]
        assert first.startswith("Return ") or name in ACTS, name


#: these do something
ACTS = {"print", "assert_true", "Assert", "raise_error", "py_function", "random.set_seed"}


def test_other_spellings_are_those_of_the_rows():
    told = {name: f for name, f in vars(spellings).items() if name[0] != "_" and name != "ops"}
    assert told == {alias: getattr(ops, name) for alias, name in ops.ALIASES.items()}
    assert told.items() <= vars(al).items() and told.keys() <= vars(v1).keys()


def test_values_have_the_types_that_checkers_are_told(monkeypatch):
    seen = []

    def assert_type(value, kind):
        seen.append(kind)
        outer, *inner = typing.get_origin(kind) or kind, *typing.get_args(kind)
        assert isinstance(value, outer)
        assert not inner or all(isinstance(part, inner[0]) for part in value)

    monkeypatch.setattr(typing, "assert_type", assert_type)
    runpy.run_path(str(HERE / "typing" / "typed_calls.py"))
    assert len(seen) >= 30


def test_a_users_file_runs(capsys):
    """What strict checkers are content with."""
    runpy.run_path(str(HERE / "typing" / "users_file.py"), run_name="__main__")
    assert "relaxation" not in capsys.readouterr().err


#: what ``.ci/run`` does, too
CHECKERS = {"mypy": ["--cache-dir", os.devnull, "tests/typing"], "basedpyright": ["-p", "tests/typing"]}


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_knows_the_types(name):
    """And finds each marked line of ``wrong_uses.py``: marks that nothing needs are errors."""
    pytest.importorskip(name)
    command = [sys.executable, "-m", name, *CHECKERS[name]]
    found = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
