"""What ``import autoloop`` loads, and that names which are loaded later behave like the others."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import autoloop
import pytest
from api import later_rows
from each_case import each

#: costs milliseconds at every start, and most programs do without
LATER = (
    "autoloop.compat", "autoloop.conversion.advice", "autoloop.conversion.matching", "autoloop.explanation",
    "autoloop.operators.constructs.attempts", "autoloop.operators.constructs.boolean_operators",
    "autoloop.operators.constructs.builtins", "autoloop.operators.constructs.call_expression",
    "autoloop.operators.constructs.comprehensions", "autoloop.operators.constructs.counted_whiles",
    "autoloop.operators.constructs.for_statement", "autoloop.fast_path",
    "autoloop.operators.constructs.if_statement", "autoloop.operators.constructs.iterables",
    "autoloop.operators.constructs.items",
    "autoloop.operators.constructs.library_calls", "autoloop.operators.constructs.mixed_operators",
    "autoloop.operators.constructs.stateful_calls", "autoloop.operators.constructs.text",
    "autoloop.operators.staging.begun_lists", "autoloop.operators.staging.branch_merge",
    "autoloop.operators.staging.branch_sides",
    "autoloop.operators.staging.bytes_of_runs", "autoloop.operators.staging.growing_list",
    "autoloop.operators.staging.list_columns", "autoloop.operators.staging.maybe_numbers",
    "autoloop.operators.staging.moved_lists",
    "autoloop.operators.staging.optional", "autoloop.operators.staging.several_types",
    "autoloop.operators.mutation.texts_of_tracers", "autoloop.state.changes", "autoloop.state.endless",
    "autoloop.state.guards", "autoloop.state.held_instances", "autoloop.state.other_threads", "autoloop.state.replays",
    "autoloop_runtime.base.deadlines", "autoloop_runtime.ir.failures",
    "autoloop_runtime.base.threads", "autoloop_runtime.collections.tensor_array",
    "autoloop_runtime.collections.tensor_array_ops", "autoloop_runtime.collections.variables",
    "autoloop_runtime.control.while_loop",
    "autoloop_runtime.passes.regions", "autoloop_runtime.passes.resume", "autoloop_runtime.python_code.block_loop",
    "autoloop_runtime.python_code.buffer_reuse", "autoloop_runtime.python_code.fused_function",
    "autoloop_runtime.python_code.timeline", "autoloop_runtime.running.session",
    "autoloop_runtime.gradients", "autoloop.drawing",
    "autoloop_runtime.collections.sparse", "autoloop_runtime.control.map_scan",
    "autoloop_runtime.control.vectorized_map", "autoloop_runtime.ops.public_functions",
    "autoloop_runtime.ops.numpy_names", *[f"autoloop_runtime.ops.{m}" for m in later_rows.MODULES],
    "autoloop.input_signature", "autoloop.switched_calls",
    "autoloop_runtime.native", "autoloop_runtime.dataflow",
    "autoloop_runtime.python_code.emitted_branches", "heapq", "optree",
    "astunparse", "threadpoolctl", "llvmlite", "scipy", "numpy.fft", "numpy.random", "dataclasses", "json", "pathlib",
    "bisect", "random", "string", "sysconfig", "tempfile", "threading", "logging", "autoloop_runtime.base.logs",
)  # fmt: skip


#: what the first call needs besides
AT_FIRST_CALL = (
    "autoloop.conversion", "autoloop.operators", "autoloop.tracing", "autoloop_runtime.passes",
    "autoloop_runtime.python_code", "autoloop_runtime.running.runner",
)  # fmt: skip
COUNT = """
def f(n):
    i = al.constant(0)
    while i < n:
        i = i + 1
    return i
"""


#: executor -> what its first call does without that others need
OF_OTHERS = {
    "sequential": ("autoloop_runtime.running.automatic", "autoloop_runtime.running.tier_up"),
    "dataflow": (
        "autoloop_runtime.dataflow.overlap", "autoloop_runtime.dataflow.workers", "autoloop_runtime.base.threads",
        "autoloop_runtime.python_code", "autoloop_runtime.running.automatic", "autoloop_runtime.running.tier_up",
    ),
}  # fmt: skip
#: executor -> how many of our modules may be there after its first call: each costs a quarter of a millisecond
MOST_MODULES = {"import": 99, "auto": 243, "sequential": 239, "dataflow": 243}
#: what converts, of which a process needs nothing whose functions another one has converted
CONVERTING = (
    "copy",
    "gast",
    "autoloop.conversion.converting",
    "autoloop.conversion.nodes",
    "autoloop.conversion.source",
)
MOST_OF_KEPT = {"import": 99, "auto": 217, "sequential": 213, "dataflow": 217}


def loaded(tmp_path, names, code=""):
    """Those of ``names`` that a program has loaded that imports autoloop and runs ``code``."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys, numpy\nbefore = set(sys.modules)\nimport autoloop as al\n{code}\n"
        f"print(*sorted(set(sys.modules) - before & set({names!r})))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split()) & set(names)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize(("kept", "most"), [("0", MOST_MODULES), ("1", MOST_OF_KEPT)], ids=["anew", "kept"])
def test_an_import_and_a_first_call_load_no_more_than_they_need(tmp_path, kept, most):
    """The first call of each executor is that of a process of its own, forked from one that has imported us."""
    script = tmp_path / "script.py"
    script.write_text(f"""
import os
import sys
import numpy
before = set(sys.modules)
import autoloop as al
def told(name):
    print(name, *sorted(set(sys.modules) - before), flush=True)
told("import"){COUNT}for executor in {["auto", *list(most)[1:]]!r}:  # the first may keep what the others find
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        continue
    assert int(al.function(executor=executor)(f)(al.constant(3))) == 3
    told(executor)
    os._exit(0)
""")
    environment = os.environ | {"AUTOLOOP_CACHE": kept, "AUTOLOOP_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found = {name: set(modules) for name, *modules in map(str.split, done.stdout.splitlines())}
    assert found.keys() == most.keys()
    assert not found["import"] & {*LATER, *AT_FIRST_CALL, *CONVERTING}
    converting = set() if kept == "1" else set(CONVERTING)
    assert found["auto"] & {*LATER, *AT_FIRST_CALL, *CONVERTING} == {*AT_FIRST_CALL, *converting}
    for name, modules in found.items():
        assert not modules & set(OF_OTHERS.get(name, ()))
        ours = [one for one in modules if one.startswith("autoloop")]
        rooms = {room: sorted(one for one in ours if one.rpartition(".")[0] == room) for room in sorted(ours)}
        assert len(ours) <= most[name], (
            f"{name}: {len(ours)} modules; let what a simple program does without come later: "
            f"{ {room: names for room, names in rooms.items() if names} }"
        )


def test_an_import_is_not_interrupted_by_collections_of_garbage(tmp_path):
    """That of NumPy, which comes with it, neither: there is no garbage, and some forty walks cost a tenth of it."""
    script = tmp_path / "script.py"
    script.write_text("""
import gc
told = []
gc.callbacks.append(lambda phase, _: told.append(phase))
import autoloop
gc.callbacks.clear()
print(told.count("start"), gc.isenabled())
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, is_on = done.stdout.split()
    assert int(count) <= 20 and is_on == "True"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links here")
def test_it_may_be_imported_through_a_link(tmp_path):
    """Its own files are those that Python imports, under the names it gives them."""
    source = Path(autoloop.__file__).parent.parent
    runtime = Path(later_rows.__file__).parent.parent.parent
    for name, folder in (("front", source), ("back", runtime)):
        (tmp_path / name).symlink_to(folder)
    script = tmp_path / "script.py"
    script.write_text("""
import traceback
import warnings
import numpy as np
import autoloop as al
warnings.simplefilter("error")
@al.function
def f(x, least):
    y = al.add(x, 1)
    if y[0] < least:
        raise ValueError("it is too small")
    return float(x[0]) + 1
assert f(np.ones(3), 1) == 2.0
try:
    f(np.ones(3), 3)
except ValueError as error:
    files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
print(*files, al.__file__)
""")
    path = os.pathsep.join(str(tmp_path / name) for name in ("front", "back"))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert done.stdout.split() == [str(script), str(tmp_path / "front" / "autoloop" / "__init__.py")], done.stderr


def test_calls_of_numpy_and_arrays_made_anew_need_no_optree(tmp_path):
    code = """
import numpy as np
@al.function
def f(a, most):
    made, other = np.zeros(a.shape, dtype=a.dtype), np.ndarray((2, 3), np.float64)
    for k in range(a.shape[0]):
        made[k] = np.maximum(a[k], most) + np.sum(a[:k])
    return made
assert f(np.arange(3.0), np.float64(1)).tolist() == [1, 1, 3]
"""
    assert not loaded(tmp_path, ("optree",), code)


def test_a_call_of_numpys_needs_nothing_of_what_builtins_and_lists_are_for(tmp_path):
    constructs = (
        "builtins", "comprehensions", "effect_calls", "for_statement", "generator_expressions", "math_functions",
        "random_calls", "text",
    )  # fmt: skip
    needless = (
        *(f"autoloop.operators.constructs.{one}" for one in (*constructs, "mixed_operators", "if_statement")),
        *(f"autoloop.operators.staging.{one}" for one in ("growing_list", "begun_lists", "maybe_numbers", "optional")),
    )
    code = """
import numpy as np
@al.function
def f(n, x):
    i, total = np.int64(0), np.float64(0)
    while i < n:
        i, total = i + 1, total + np.maximum(x, 2.5)
    return total
assert f(np.int64(3), np.float64(1)) == 7.5
"""
    call = "autoloop.operators.constructs.call_expression"
    assert loaded(tmp_path, (call, *needless), code) == {call}


def test_a_builtin_loads_nothing_of_what_others_are_for(tmp_path):
    constructs = (
        "chosen_elements",
        "effect_calls",
        "folded_lists",
        "mixed_operators",
        "random_calls",
        "staged_libraries",
    )
    needless = (*(f"autoloop.operators.constructs.{one}" for one in constructs), "random")
    code = """
import numpy as np
@al.function
def f(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total{}
assert f(np.ones(4), np.ones(4)) == 4
"""
    zipped = "autoloop.operators.constructs.side_by_side"
    of_others = (
        "boolean_operators", "chosen_items", "comprehensions", "container_comparisons", "if_statement", "last_rows",
        "math_functions", "named_iterators", "sorted_lists", "text", "unwanted_elements",
    )  # fmt: skip
    no_loop_of_python = (
        *(f"autoloop.operators.constructs.{one}" for one in of_others),
        *(f"autoloop.operators.staging.{one}" for one in ("branch_merge", "growing_list", "maybe_numbers", "optional")),
        *(f"autoloop.operators.constructs.{one}" for one in ("staged_fors", "staged_loops", "tried_loops")),
        *(f"autoloop.operators.staging.{one}" for one in ("containers_of_blocks", "loop_leaves", "loop_variables")),
    )
    assert loaded(tmp_path, (*needless, zipped, *no_loop_of_python), code.format("")) == set()
    two = code.format(" + sum(a - b for a, b in zip(x, y))")
    assert loaded(tmp_path, (*needless, zipped), two) == {zipped}


def test_numbers_of_two_types_have_operators_in_the_first_trace_of_all(tmp_path):
    chosen = """
import numpy as np
@al.function
def f(c):
    v = 2 if c else 0.5
    return v + 1
assert f(np.bool_(True)) == 3
"""
    looped = """
import numpy as np
@al.function
def f(n):
    v, i = 2, 0
    while i < n:
        v, i = 0.5, i + 1
    return v * 2
assert f(np.int64(0)) == 4
"""
    for code in (chosen, looped):
        assert loaded(tmp_path, ("gast",), code) == {"gast"}


#: each needs another part of what is loaded late, and the first trace of a process is of it
FIRST_TRACES = {
    "bytes of a run": ("x.tobytes()", "np.arange(3.0)"),
    "flags": ("x * 2 if x.flags.c_contiguous else x", "np.arange(3.0)"),
    "a function of a number of two types": ("math.sqrt(2 if x else 0.25)", "np.bool_(False)"),
    "a ufunc of one": ("np.maximum(2 if x else 0.25, 1)", "np.bool_(False)"),
    "a comparison of one": ("(2 if x else 0.25) < 1", "np.bool_(False)"),
    "its absolute": ("abs(-2 if x else 0.25)", "np.bool_(True)"),
    "a flag that ends a loop": ("stopped(x)", "np.int64(7)"),
    "a number of the world": ("x * FACTOR", "np.arange(3.0)"),
    "what is written to it": ("written(x)", "np.arange(3.0)"),
    "what holds one of its objects": ("(x * 2, LIST)[0]", "np.arange(3.0)"),
    "a number of two types after a loop": ("looped(x)", "np.int64(3)"),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_first_trace_may_need_any_part(tmp_path):
    """Each is the first of a process of its own, forked from one that has imported the library."""
    functions = "\n".join(f"def f{k}(x):\n    return {one}" for k, (one, _) in enumerate(FIRST_TRACES.values()))
    checks = "\n".join(f"check(f{k}, lambda: {given})" for k, (_, given) in enumerate(FIRST_TRACES.values()))
    code = f"""
import math
import os
import traceback
import numpy as np
FACTOR, LIST, last = 2, [1], 0
def written(x):
    global last
    last = last + 1
    return x + last
def stopped(x):
    k = 0
    while k < x:
        k += 1
        if k * k > x:
            break
    return k
def looped(x):
    v = 1
    while x > 0:
        v, x = v + 0.5, x - 1
    return v - 1
{functions}
def check(f, given):
    global last
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0, f.__name__
        return
    try:
        made = al.function(f)(given())
        state, last = (last, LIST), 0
        expected = f(given())
        assert state == (last, LIST)
        assert type(made) is type(expected) and np.array_equal(made, expected), (made, expected)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
{checks}
"""
    loaded(tmp_path, (), code)


def test_threads_may_be_the_first_to_need_the_rest(tmp_path):
    """Each begins with another part of what is loaded late."""
    code = """
import threading
def count(n):
    i = al.constant(0)
    while i < n:
        i = i + 1
    return i
barrier, told = threading.Barrier(6), []
def thread(first):
    barrier.wait(10)
    told.append((first(), int(al.function(count)(al.constant(3))))[1])
firsts = [
    lambda: al.set_loop_options, lambda: al.to_code(count), lambda: al.IndexedSlices, lambda: al.sparse,
    lambda: al.while_loop(lambda i: i < 3, lambda i: i + 1, [al.constant(0)]), lambda: al.grad,
]
threads = [threading.Thread(target=thread, args=(first,)) for first in firsts]
for one in threads:
    one.start()
for one in threads:
    one.join(60)
assert told == [3] * 6, told
"""
    assert loaded(tmp_path, ("gast",), code) == {"gast"}


def test_every_name_that_comes_later_is_declared_to_checkers():
    tree = ast.parse(Path(autoloop.__file__).read_text())
    declared = {
        alias.name
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "_typing.TYPE_CHECKING"
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    # what comes with a star: the array functions, and their other spellings
    assert declared == {*autoloop._MODULE_OF, "*"} - {*later_rows.MODULE_OF, *later_rows.SPELLED, "random"}


@each(sorted(autoloop._MODULE_OF))
def test_names_that_come_later(name):
    value = getattr(autoloop, name)
    assert name in dir(autoloop)
    if name in autoloop.__all__:
        everything: dict = {}
        exec("from autoloop import *", everything)
        assert everything[name] is value
    if name not in autoloop._LATER_MODULES:
        assert callable(value)
        is_row = name in later_rows.MODULE_OF or name in later_rows.SPELLED  # some of those, makers made
        assert is_row or pickle.loads(pickle.dumps(value)) is value


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'autoloop' has no attribute 'nothing'"):
        autoloop.nothing
