"""The LLVM IR that is written out by hand, in files of its own: LLVM's verifier takes all of it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from api import (
    block_reuse,
    core_code,
    core_workers,
    elimination,
    growing_table,
    ll_files,
    ops,
    stack_code,
    thread_pool,
    write_function,
)
from each_case import each
from native_checks import graph_of

binding = pytest.importorskip("llvmlite.binding")

code = ll_files.code
FOLDER = Path(ll_files.FOLDER)
FILES = {path.stem for path in FOLDER.glob("*.ll")}
BODY = "define internal i32 @body(ptr, ptr, ptr, ptr, ptr, ptr, ptr) {\n  ret i32 0\n}\n"
ATTRIBUTES = ' "prefer-vector-width"="512" alignstack(64)'
HEAD = stack_code.HEAD


def around(last, free):
    return code("entry", BEFORE_THREAD=1, FREE=free, LAST=last, ATTRIBUTES=ATTRIBUTES, name="{name}")


def collections():
    """Everything on stacks, checkpoints and tables in one module."""
    inner = growing_table._INNER.format(copy="copy_table", merge="merge_table")
    plain = {"name": "merge_table", "size": 16, "elements": 2, "memory": "double"}
    return [
        BODY, around(0, "  call void @free_stacks(ptr %stacks, ptr null)\n"), stack_code.functions(True),
        code("python_objects"),
        code("growing_checkpoints"),
        code("limited_checkpoints", HEAD=HEAD, HEAD_AND_ONE=HEAD + 1, HEAD_BYTES_AND_ONE=8 * HEAD + 8),
        code("tables", FIRST=stack_code.FIRST, HEAD_BYTES=8 * HEAD),
        code("lists", FIRST=stack_code.FIRST, HEAD_BYTES=8 * HEAD),
        code("table_copy", name="copy_table", size=16, inner="select i1 true, ptr %old, ptr null", nested="false"),
        code("table_copy", name="copies", size=8, inner="call ptr @copy_table(ptr %list, ptr %old)", nested="true"),
        code("table_merge", **plain, add="  %sum = fadd double %a, %b"),
        code("table_merge", **plain | {"name": "merge_tables", "size": 8, "elements": 1, "memory": "ptr"}, add=inner),
    ]  # fmt: skip


def threads():
    return [thread_pool._text()[0]]


def no_threads():
    return [code("serial_work"), code("without_threads", SIZE=64, name="{name}")]


def blocks():
    return [block_reuse._text()]


def pages():
    return [code("huge_pages")]


def dropping():
    return ["declare void @free(ptr)\n", code("drop_pages", HUGE=1 << 21, WITHIN=(1 << 21) - 1)]


def matrices():
    return [
        code("determinant"), code("order_sign"), code("clear_above"),
        elimination.lu(), elimination.substitute(), elimination.cholesky(),
    ]  # fmt: skip


def sorted_by(*build):
    def text():
        x = np.arange(1 << 18, dtype=np.float32)
        graph = graph_of(lambda x: [made for f in build for made in (f(x),)], x)
        return [write_function(graph, [x.shape], frozenset()).ir]

    return text


def plainly(x):
    return np.sort(x)


def functions():
    """Of floats."""
    return [
        code("float_tanh", t="float", s="f32", i="i32", f="@tanh_f.float"),
        code("double_tanh", t="double", s="f64", i="i64", f="@tanh_f.double"),
    ]


def quotients():
    """Of complex numbers, and their powers."""
    words = [{"t": f"<2 x {part}>", "r": part, "s": s, "f": f"@divide_c.2x{part}"} for part, s in _PARTS.items()]
    power = "declare { double, double } @autoloop_cpow(double, double, double, double)\n"
    return [
        *[code("complex_quotient", **each) for each in words],
        power, code("complex_power", **words[1] | {"f": "@power_c"}),
    ]  # fmt: skip


def calls():
    """What Python calls with the objects of a call."""
    return [code("entered", WORDS=64, MADE=16, AXES=64, FEWEST=2, MOST=2**62, name="{name}")]


def called():
    """What Python is called by."""
    numbers = {"double": "PyFloat_AsDouble", "i64": "PyLong_AsLongLong"}
    asked = [code("python_number", TYPE=t, READ=read) for t, read in numbers.items()]
    return [BODY, around(0, ""), code("python_objects"), code("python_call"), *asked]


def steps():
    """A step of a plan."""
    sizes = {"ARGUMENTS": 1, "RESULTS": 1, "REPORT": 2, "TOLD": 1, "CONSTANTS": 0}
    return [BODY, code("step", **sizes, GIVEN="", GIVES="", ATTRIBUTES=ATTRIBUTES, name="{name}")]


def core():
    """What moves the tokens between such steps."""
    return [core_code.ir_of(core_workers.core)]


_PARTS = {"float": "f32", "double": "f64"}
MODULES = {
    "collections": collections, "threads": threads, "no threads": no_threads, "reused blocks": blocks, "pages": pages,
    "dropping": dropping, "functions": functions, "quotients": quotients, "matrices": matrices, "calls": calls,
    "called": called, "steps": steps, "core": core,
    "sorting": sorted_by(ops.sort, ops.argsort, plainly), "searching": sorted_by(lambda x: ops.searchsorted(x, x)),
}  # fmt: skip


def verify(texts):
    module = binding.parse_assembly("\n".join(texts).replace("{name}", "named"))
    module.verify()
    return [f.name for f in module.functions if not f.is_declaration]


@each(MODULES)
def test_the_verifier_takes_it(name):
    assert verify(MODULES[name]())


def test_the_verifier_finds_what_is_wrong():
    with pytest.raises(RuntimeError):
        verify([code("growing_checkpoints").replace("load i64", "load ptr", 1)])


def test_no_file_is_left_out():
    ll_files.text_of.cache_clear()
    for texts in MODULES.values():
        texts()
    # of the two ways to search, that of this NumPy
    assert ll_files.text_of.cache_info().currsize == len(FILES) - 1


def test_every_file_is_used_and_no_long_text_stands_elsewhere():
    """In Python there are lines that are put into such texts, and functions of a few instructions."""
    used, long = set(), []
    for path in FOLDER.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("code", "text_of"):
                used |= {a.value for a in node.args if isinstance(a, ast.Constant)}
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("  %") > 25:
                long.append(f"{path.name}:{node.lineno}")
    assert used == FILES
    assert not long
