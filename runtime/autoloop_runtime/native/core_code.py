"""Functions in a small part of Python as machine code: those that work on an array of 64-bit words.

Each parameter called ``m`` is that array, all else are integers of 64 bits; there are assignments to names and words,
``while``, ``if``, ``return``, calls of one another and of what stands in ``core_words.ll``. Words before ``SHARED`` are
looked at by other threads without a lock, so they are written at once.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import platform
import re
import textwrap
import time
from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any

from ..base.forks import Kind
from ..base.parsing import parse
from .kernels.ll_files import code
from .toolchain.cache import default_cache
from .toolchain.compile_ir import Code, compile_ir

Entry = Callable[[int, int, int, int, int], int]
_making = Kind("native.core_code", "a child makes what is not there").lock()
#: by function; added to under the lock ``_making``
_made: dict[Callable[..., Any], Code] = {}
#: words of two lines of the cache
SHARED = 16
#: how often a thread looks at a lock that another holds before it lets others have the processor: a power of two
_YIELD = 256
_PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "AMD64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)"}
_SYMBOLS = ("sched_yield", "clock_gettime")
_BINARY: Mapping[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Mod: "srem", ast.BitAnd: "and", ast.RShift: "ashr",
}  # fmt: skip
_COMPARED: Mapping[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


def entered(function: Callable[..., Any]) -> Entry | None:
    """Return a function, with those that it calls, as machine code that gives up the interpreter's lock; None where
    there is no such system.

    It takes the address of the words, and four integers, and gives an integer.
    """
    with _making:
        code = _made.get(function)
        if code is None:
            try:
                library = ctypes.CDLL(None)
                addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _SYMBOLS}
            except (OSError, TypeError, AttributeError):
                return None
            code = _made[function] = compile_ir(ir_of(function), addresses, default_cache())
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 4)(code.address)


def ir_of(function: Callable[..., Any]) -> str:
    """Return the IR of a function, which is called ``{name}``, and of those that it calls."""
    pause = _PAUSE.get(platform.machine())
    words = code(
        "core_words", PAUSE=f"call void @{pause}" if pause else "", CLOCK=time.CLOCK_MONOTONIC, YIELD=_YIELD - 1
    )
    assert isinstance(function, FunctionType)
    todo, texts, known = [function], list[str](), re.findall(r"@(\w+)\(.*\{", words)
    for one in todo:  # grows as it is walked
        written = _Function(one, "{name}" if one is function else one.__name__, known)
        texts.append(written.text())
        todo += [called for called in written.called if called not in todo]
    return "\n".join([words, *texts, ""])


class _Function:
    """Writes one function; ``known``: those that are written already."""

    def __init__(self, function: FunctionType, name: str, known: Collection[str]) -> None:
        self._globals, self._name = function.__globals__, name
        self._known = known
        [tree] = parse(textwrap.dedent(inspect.getsource(function))).body
        assert isinstance(tree, ast.FunctionDef)
        self._tree = tree
        self.called: list[FunctionType] = []
        self._lines: list[str] = []
        self._count = 0
        self._parameters = [argument.arg for argument in tree.args.args]

    def text(self) -> str:
        """Return its IR."""
        own = [name for name in self._parameters if name != "m"]
        stored = [n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        names = [*own, *sorted(set(stored).difference(own))]
        self._lines = [f"%{name}.at = alloca i64" for name in names]
        self._lines += [f"store i64 %{name}, ptr %{name}.at" for name in own]
        self._block(self._tree.body, "")
        self._lines.append("ret i64 0")
        taken = ", ".join("ptr %m" if name == "m" else f"i64 %{name}" for name in self._parameters)
        head = f"define {'' if self._name == '{name}' else 'internal '}i64 @{self._name}({taken})"
        return "\n".join([f"{head} {{", *self._lines, "}"])

    def _new(self, what: str = "v") -> str:
        self._count += 1
        return f"{what}{self._count}"

    def _value(self, text: str) -> str:
        name = f"%{self._new()}"
        self._lines.append(f"{name} = {text}")
        return name

    def _open(self, label: str) -> None:
        """Begin a block; what comes before goes on there."""
        self._lines += [f"br label %{label}", f"{label}:"]

    # -- statements ---------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt], around: str) -> None:
        for statement in statements:
            if isinstance(statement, ast.If):
                self._branch(statement, around)
            elif isinstance(statement, ast.While):
                self._loop(statement)
            elif isinstance(statement, ast.Return):
                result = "0" if statement.value is None else self._integer(statement.value)
                self._lines += [f"ret i64 {result}", f"{self._new('after')}:"]
            elif isinstance(statement, ast.Assign | ast.AugAssign):
                self._assign(statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._integer(statement.value)
            elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):  # a docstring
                raise TypeError(ast.unparse(statement))

    def _branch(self, statement: ast.If, around: str) -> None:
        then, otherwise, end = self._new("then"), self._new("else"), self._new("end")
        self._jump(statement.test, then, otherwise)
        self._lines.append(f"{then}:")
        self._block(statement.body, around)
        self._lines += [f"br label %{end}", f"{otherwise}:"]
        self._block(statement.orelse, around)
        self._open(end)

    def _loop(self, statement: ast.While) -> None:
        test, body, end = self._new("test"), self._new("body"), self._new("end")
        self._open(test)
        self._jump(statement.test, body, end)
        self._lines.append(f"{body}:")
        self._block(statement.body, end)
        self._lines += [f"br label %{test}", f"{end}:"]

    def _assign(self, statement: ast.Assign | ast.AugAssign) -> None:
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        place, shared = self._place(target)
        value = self._integer(statement.value)
        if isinstance(statement, ast.AugAssign):
            before = self._value(f"load i64, ptr {place}, align 8")
            value = self._value(f"{_BINARY[type(statement.op)]} i64 {before}, {value}")
        self._lines.append(f"store {'atomic ' if shared else ''}i64 {value}, ptr {place}{shared}, align 8")

    def _place(self, target: ast.expr) -> tuple[str, str]:
        """Return where a name or word is, and how a word is written that others look at."""
        if isinstance(target, ast.Name):
            return f"%{target.id}.at", ""
        assert isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == "m"
        index = self._integer(target.slice)
        shared = " monotonic" if index.isdigit() and int(index) < SHARED else ""
        return self._value(f"getelementptr i64, ptr %m, i64 {index}"), shared

    # -- expressions --------------------------------------------------------------------------------------

    def _integer(self, tree: ast.expr) -> str:
        """Return the value of an expression."""
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub) and isinstance(tree.operand, ast.Constant):
            return f"-{tree.operand.value!r}"
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return str(tree.value)
        if isinstance(tree, ast.Name):
            known = self._globals.get(tree.id)
            return str(known) if type(known) is int else self._value(f"load i64, ptr %{tree.id}.at")
        if isinstance(tree, ast.Subscript):
            return self._value(f"load i64, ptr {self._place(tree)[0]}, align 8")
        if isinstance(tree, ast.BinOp):
            left, right = self._integer(tree.left), self._integer(tree.right)
            return self._value(f"{_BINARY[type(tree.op)]} i64 {left}, {right}")
        if isinstance(tree, ast.Call):
            return self._call(tree)
        if isinstance(tree, ast.Compare):
            return self._value(f"zext i1 {self._compared(tree)} to i64")
        raise TypeError(ast.unparse(tree))

    def _call(self, tree: ast.Call) -> str:
        assert isinstance(tree.func, ast.Name)
        called = self._globals[tree.func.id]
        if tree.func.id not in self._known and called not in self.called:
            self.called.append(called)
        given = [
            "ptr %m" if isinstance(one, ast.Name) and one.id == "m" else f"i64 {self._integer(one)}"
            for one in tree.args
        ]
        return self._value(f"call i64 @{tree.func.id}({', '.join(given)})")

    def _compared(self, tree: ast.Compare) -> str:
        left, right = self._integer(tree.left), self._integer(tree.comparators[0])
        return self._value(f"icmp {_COMPARED[type(tree.ops[0])]} i64 {left}, {right}")

    def _jump(self, tree: ast.expr, true: str, false: str) -> None:
        """Go on at one of two blocks."""
        if isinstance(tree, ast.BoolOp):
            is_and = isinstance(tree.op, ast.And)
            for one in tree.values[:-1]:
                following = self._new("also")
                self._jump(one, *((following, false) if is_and else (true, following)))
                self._lines.append(f"{following}:")
            self._jump(tree.values[-1], true, false)
            return
        if isinstance(tree, ast.Constant) and tree.value is True:
            self._lines.append(f"br label %{true}")
            return
        is_compared = isinstance(tree, ast.Compare)
        found = self._compared(tree) if isinstance(tree, ast.Compare) else ""
        if not is_compared:
            found = self._value(f"icmp ne i64 {self._integer(tree)}, 0")
        self._lines.append(f"br i1 {found}, label %{true}, label %{false}")
