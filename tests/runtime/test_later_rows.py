"""Rows whose modules are loaded when one of their functions is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest
from api import FUNCTIONS, OPS, later_rows, ops

TABLES = """
import importlib
import sys
import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.ops import later_rows
from autoloop_runtime.ir.op import FUNCTIONS
from autoloop_runtime.ir.numpy_protocols import NUMPY_FUNCTIONS, NUMPY_UFUNCS
called, spelled, numpys, ufuncs = {}, {}, {}, {}
def load(module):
    def told():
        return dict(FUNCTIONS), dict(ops.ALIASES), dict(NUMPY_FUNCTIONS), dict(NUMPY_UFUNCS)
    before = told()
    importlib.import_module(f"autoloop_runtime.ops.{module}")
    new = [{k: v for k, v in b.items() if a.get(k) is not v} for a, b in zip(before, told())]
    called[module] = sorted(new[0])
    spelled.update(new[1])
    numpys.update({f.__name__: module for f in (*new[2], *new[3]) if f is np.matmul or not isinstance(f, np.ufunc)})
    ufuncs.update({f.__name__: ours.__name__ for f, ours in new[3].items() if f is not np.matmul})
# each after those that it loads itself
for module in sys.argv[1].split():
    load(module)
wanted = {m: sorted(f"{later_rows.PUBLIC.get(m, '')} {later_rows.CALLED.get(m, '')}".split()) for m in called}
assert called == wanted, [(m, sorted({*called[m]} ^ {*wanted[m]})) for m in called if called[m] != wanted[m]]
assert spelled == dict(later_rows.SPELLED), spelled
assert numpys == dict(later_rows.NUMPYS), numpys
assert ufuncs == dict(later_rows.UFUNCS), ufuncs
"""
ORDER = (
    "python_functions filled selection creation bounds complex_numbers rounding gathering effects joining powers "
    "trigonometry contractions diagonals linalg dots running_sums reductions composed repeating sorting "
    "arrays_as_bytes exact_numbers python_math random extent_names"
)


def test_the_tables_are_what_the_modules_enter():
    assert sorted(ORDER.split()) == sorted(later_rows.MODULES)
    done = subprocess.run([sys.executable, "-c", TABLES, ORDER], capture_output=True, text=True)
    assert not done.stderr, done.stderr


FIRST = {
    "a function": "assert al.max([1, 3]).numpy() == 3 and al.reduce_max is al.max",
    "NumPy's": "assert np.tile(al.constant([1, 2]), 2).numpy().tolist() == [1, 2, 1, 2]",
    "a ufunc of NumPy's": "assert np.matmul(np.eye(2), al.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]",
    "an element-wise one": "assert np.sqrt(al.constant(4.0)).numpy() == 2 and np.sin(al.constant(0.0)).numpy() == 0",
    "an operator": "assert (al.constant([1, 2]) @ al.constant([3, 4]) ** 2).numpy() == 41",
    "a method": "assert al.constant([2, 1]).argmax().numpy() == 0",
    "a NumPy name over a row": "assert np.sort(al.constant([2, 1])).numpy().tolist() == [1, 2]",
    "1.x": "import autoloop.compat.v1 as v1; assert v1.reduce_mean and v1.concat and v1.random",
    "a star": "space = {}; exec('from autoloop import *', space); assert space['stack'] is al.stack",
    "Python's numbers": """
@al.function
def f(n):
    i = 0
    while i < n:
        i = i + 1
    return i
assert f(np.int64(5)) == 5
""",
}


def test_each_way_to_a_row_loads_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import numpy as np, autoloop as al", *FIRST.values()]))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert not done.stderr, done.stderr


def test_rows_are_all_there():
    assert not [name for name in later_rows.MODULE_OF if FUNCTIONS[name].__name__ == "later"]
    assert {"sort", "stack", "array_bytes"} <= OPS.keys()
    with pytest.raises(AttributeError, match="module 'autoloop_runtime.ops' has no attribute 'nothing'"):
        ops.nothing  # noqa: B018
