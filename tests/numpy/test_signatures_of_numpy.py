"""Every counterpart of a function of NumPy's has exactly the parameters of that: names, order, kinds, defaults."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from api import HOLDS, NUMPY_FUNCTIONS, NUMPY_UFUNCS, SIGNATURES, Counterpart
from each_case import each

#: the version of NumPy whose signatures the counterparts have; a newer one shows here what changed
WRITTEN_FOR = (2, 4)
#: what a newer one takes besides, which leaves a call to plain Python
LATER = {"descending"}
WRITTEN = {f: ours for f, ours in NUMPY_FUNCTIONS.items() if not isinstance(ours, Counterpart)}
NEWEST = tuple(map(int, np.__version__.split(".")[:2])) >= WRITTEN_FOR


def _parameters(f):
    """What a caller sees of each parameter; those given by place only have no name that matters."""
    return [
        (None if p.kind is p.POSITIONAL_ONLY else p.name, p.kind.name, repr(p.default))
        for p in inspect.signature(f).parameters.values()
        if p.name not in LATER
    ]


def _ids(f):
    return f"{getattr(f, '__module__', 'ndarray')}.{f.__name__}"


@pytest.mark.skipif(not NEWEST, reason="an older NumPy, whose functions have fewer parameters")
#: of which NumPy says only in words what they take
@each([f for f in WRITTEN if f not in (np.ndarray.view, np.broadcast)], _ids)
def test_parameters_are_numpys(function):
    assert _parameters(WRITTEN[function]) == _parameters(SIGNATURES.get(function, function))


@each(WRITTEN, _ids)
def test_nothing_is_swallowed(function):
    kinds = {p.kind for p in inspect.signature(WRITTEN[function]).parameters.values()}
    handed_on_or_refused = (np.einsum, np.clip, np.pad, np.piecewise)
    assert inspect.Parameter.VAR_KEYWORD not in kinds or function in handed_on_or_refused


def test_python_names_numpys_function_where_a_call_is_wrong():
    for ours in WRITTEN.values():
        assert ours.__name__ in [function.__name__ for function in WRITTEN if WRITTEN[function] is ours]


def test_the_door_knows_which_module_holds_a_name():
    """Else it loads all of them, which would be felt by a first call."""
    held = {name: module for module, names in HOLDS.items() for name in names.split()}
    found = {}
    for function, ours in [*NUMPY_FUNCTIONS.items(), *NUMPY_UFUNCS.items()]:
        room, _, module = (getattr(ours, "__module__", None) or "").rpartition(".")
        if room.endswith(".numpy_names") and getattr(np, function.__name__, None) is function:
            found[function.__name__] = module
    held = {name: module for name, module in held.items() if hasattr(np, name)}  # NumPy drops some
    assert held == found, {name: found.get(name) for name in held.keys() ^ found.keys()}


def test_a_call_loads_what_it_needs_of_numpys_names(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, numpy as np, autoloop as al\n"
        "@al.function(executor='sequential')\n"
        "def f(x):\n"
        "    return np.sum(x, 0) + np.max(x)\n"
        "assert np.array_equal(f(np.ones((2, 3))), [3.0, 3.0, 3.0])\n"
        "print(*sorted(name.rpartition('.')[2] for name in sys.modules if '.numpy_names.' in name))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"begun_reductions", "counterparts", "library_rows", "numpy_reductions"}
