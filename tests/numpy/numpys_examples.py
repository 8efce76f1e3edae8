"""The examples in NumPy's and SciPy's own docstrings, each as a function that is called plain and decorated.

    python tests/numpy/numpys_examples.py np.sum np.linalg        what is not as in NumPy, with the example
    python tests/numpy/numpys_examples.py --executor dataflow     all of them, by the scheduler
    python tests/numpy/numpys_examples.py --refused np.random     what is refused, too

The examples of a docstring run one after the other, plain, as a doctest does. Each is then the body of a function whose
arguments are the arrays and numbers it reads; in a second one the arrays and lists it writes out are arguments, too.
Compared are results, names bound, what became of the arguments, what was printed, exceptions and random streams.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import io
import linecache
import signal
import traceback
import types
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import autoloop as al
import numpy as np
import table
from sample_calls import REFUSED, SAME_ERROR, UNCLEAR, WORKS, WRONG, Outcome

#: what a number or an array is: it becomes an argument
VALUES = (np.ndarray, np.generic, bool, int, float, complex)
GENERATORS = (np.random.Generator, np.random.RandomState)
SECONDS = 20
#: pictures, files, what is used up, memory as it is found, settings, and what is another one each time
NOT_TRIED = frozenset((
    "plt", "ax", "fig", "os", "tempfile", "open", "time", "timeit", "help", "memmap", "TemporaryFile", "mkdtemp",
    "loadtxt", "genfromtxt", "fromregex", "fromiter", "empty", "empty_like", "ndarray", "masked_all", "chararray",
    "masked_all_like", "seterr", "geterr", "errstate", "SeedSequence", "id", "flat", "test", "fp", "newfp", "fpc",
    "fpr", "fpo", "StringIO", "BytesIO", "path", "maxima", "means", "info", "recarray", "broadcast",
))  # fmt: skip
PARSER = doctest.DocTestParser()


class Example(NamedTuple):
    """An example as a function: whose docstring it stands in, its text, its arguments and what else it reads."""

    owner: str
    text: str
    function: Any
    given: tuple[Any, ...]
    namespace: dict[str, Any]


#: where docstrings are looked for
SPACES = (
    "np", "np.linalg", "np.fft", "np.random", "np.ndarray", "np.generic", "np.ufunc", "np.random.Generator",
    "np.random.RandomState", "np.polynomial.Polynomial", "np.poly1d", "np.emath", "np.lib.stride_tricks",
    *[f"np.polynomial.{name}" for name in ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e")],
    "np.ma", "np.strings", "np.rec", "scipy.special", "scipy.linalg",
)  # fmt: skip


def _holder(space: str) -> Any:
    """Return what a dotted name stands for; SciPy may not be there."""
    module, _, path = space.partition(".")
    if module == "np":
        return functools.reduce(getattr, path.split(".") if path else [], np)
    try:
        return importlib.import_module(space)
    except ImportError:
        return None


def docstrings(wanted: tuple[str, ...] = SPACES) -> Iterator[tuple[str, str]]:
    """Yield the names of what has examples, and the docstrings, each once: of functions, or of all in a namespace."""
    seen = set()
    for space in SPACES:
        names = [one.rpartition(".")[2] for one in wanted if one.rpartition(".")[0] == space and one not in SPACES]
        holder = _holder(space) if names or space in wanted else None
        for name in dir(holder) if space in wanted else names:
            value = getattr(holder, name, None)
            text = None if isinstance(value, types.ModuleType) else getattr(value, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and text not in seen:
                seen.add(text)
                yield f"{space}.{name}", inspect.cleandoc(text)


def examples(owner: str, text: str) -> Iterator[Example]:
    """Yield the examples of one docstring, having run those before."""
    namespace: dict[str, Any] = {"np": np, "numpy": np, "__name__": "examples"}
    try:
        parsed = PARSER.get_examples(text)
    except ValueError:
        return
    for one in parsed:
        try:
            tree = ast.parse(one.source)
        except SyntaxError:
            return
        if _is_tried(tree):
            for body in _variants(tree, namespace):
                yield _example(owner, one.source.strip(), body, namespace)
        with _quiet(), contextlib.suppress(Exception), _at_most(SECONDS):
            exec(compile(tree, f"<{owner}>", "exec"), namespace)


def _is_tried(tree: ast.Module) -> bool:
    """Return whether an example computes something: imports, definitions, files and pictures are set-up."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Global, ast.With, ast.Delete)
    if any(isinstance(node, (*kept, ast.Lambda)) for node in tree.body):
        return False
    if any(isinstance(node, ast.Is | ast.IsNot) for node in ast.walk(tree)):
        return False  # arguments are copies, one by one
    if any(ast.unparse(node).endswith("default_rng()") for node in ast.walk(tree) if isinstance(node, ast.Call)):
        return False  # which draws others each time
    used = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}
    return not used & NOT_TRIED


def _variants(tree: ast.Module, namespace: dict[str, Any]) -> Iterator[tuple[ast.Module, dict[str, Any]]]:
    """Yield the example with the values it reads as arguments, then with those it writes out as well."""
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    values = {
        name: namespace[name][()] if isinstance(namespace[name], np.ndarray) else namespace[name]  # no 0-d arrays
        for name in sorted(read) if name in namespace and _is_value(namespace[name])
    }  # fmt: skip
    yield tree, values
    lifted = _Lifted(namespace)
    with _quiet(), _at_most(SECONDS):
        changed = lifted.visit(copy.deepcopy(tree))
    if lifted.values:
        yield ast.fix_missing_locations(changed), {**values, **lifted.values}


def _is_value(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_value(one) for one in value)
    return isinstance(value, VALUES) and not isinstance(value, np.character)  # which is a str of Python's


class _Lifted(ast.NodeTransformer):
    """Arrays made on the spot, and lists as first arguments of functions, become arguments ``given0``, ``given1`` …"""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace, self.values = namespace, {}

    def visit_Call(self, node: ast.Call) -> Any:
        called = ast.unparse(node.func)
        if called in ("np.array", "np.arange", "np.ones", "np.zeros", "np.linspace", "np.eye"):
            return self._given(node) or node
        if called.startswith(("np.", "special.", "linalg.", "scipy.")) and node.args:
            for at, one in enumerate(node.args[:2]):
                if isinstance(one, (ast.List, ast.Tuple, ast.Constant)) and (made := self._given(one)):
                    node.args[at] = made
        return self.generic_visit(node)

    def _given(self, node: ast.expr) -> ast.expr | None:
        try:
            value = eval(compile(ast.Expression(node), "<lifted>", "eval"), dict(self.namespace))
            value = value if isinstance(value, VALUES) else np.array(value)
        except Exception:
            return None
        if not _is_value(value) or (isinstance(value, np.ndarray) and value.dtype.kind not in "biufc"):
            return None
        name = f"given{len(self.values)}"
        self.values[name] = value[()] if isinstance(value, np.ndarray) else value
        return ast.Name(name, ast.Load())


def _example(owner: str, text: str, body: tuple[ast.Module, dict[str, Any]], namespace: dict[str, Any]) -> Example:
    tree, values = copy.deepcopy(body[0]), body[1]
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inner = {
        n.id
        for c in ast.walk(tree)
        if isinstance(c, ast.comprehension)
        for n in ast.walk(c.target)
        if isinstance(n, ast.Name)
    }
    last = tree.body[-1]
    names = sorted(bound - inner)
    back = ast.parse(f"return ({', '.join([*names, ''])})" if names else "return None").body[0]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Return(last.value)
    else:
        tree.body.append(back)
    function = ast.parse(f"def example({', '.join(values)}): pass")
    function.body[0].body = tree.body
    source = ast.unparse(ast.fix_missing_locations(function)) + "\n"
    filename = f"<example {owner} {abs(hash(source))}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    reached = dict(namespace)
    exec(compile(source, filename, "exec"), reached)
    return Example(owner, source, reached["example"], tuple(values.values()), reached)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Run(NamedTuple):
    """What a call came to."""

    result: Any
    given: Any
    printed: str
    streams: Any


def run(example: Example, function: Any) -> Run:
    """Return what the example gives, on copies of what it reads."""
    given = copy.deepcopy(example.given)
    generators = {
        n: v for n, v in example.namespace.items() if isinstance(v, (np.random.Generator, np.random.RandomState))
    }
    kept = {name: copy.deepcopy(_state(one)) for name, one in generators.items()}
    np.random.seed(7)
    printed = io.StringIO()
    with (
        warnings.catch_warnings(), np.errstate(all="ignore"), np.printoptions(),
        contextlib.redirect_stdout(printed),
    ):  # fmt: skip
        warnings.simplefilter("ignore")
        try:
            with _at_most(SECONDS):
                result = function(*given)
        except Exception as error:
            result = error
    streams = {name: str(_state(one)) for name, one in generators.items()}, str(np.random.get_state())
    for name, one in generators.items():
        _state(one, kept[name])
    return Run(result, given, printed.getvalue(), streams)


def _state(generator: Any, state: Any = None) -> Any:
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False) if state is None else generator.set_state(state)
    if state is not None:
        generator.bit_generator.state = state
    return generator.bit_generator.state


def outcome(example: Example, executor: str = "auto") -> Outcome:
    """Return what an example is, plain against decorated."""
    plain = run(example, example.function)
    decorated = al.function(example.function, executor=executor)
    ours = run(example, decorated)
    if isinstance(ours.result, Exception):
        words = f"{type(ours.result).__name__}: {ours.result}"
        if not isinstance(plain.result, Exception):
            return Outcome(REFUSED if _at_the_line(example, ours.result) else UNCLEAR, words)
        if isinstance(plain.result, type(ours.result)) or isinstance(ours.result, type(plain.result)):
            return Outcome(SAME_ERROR)
        return Outcome(REFUSED, f"{words}, not {type(plain.result).__name__}: {plain.result}")
    if isinstance(plain.result, Exception):
        return Outcome(WRONG, f"gives {ours.result!r}, not {type(plain.result).__name__}: {plain.result}")
    found = difference(plain.result, ours.result) or difference(plain.given, ours.given, " in an argument")
    if not found and plain.printed != ours.printed:
        found = f"prints {ours.printed!r}, not {plain.printed!r}"
    if not found and plain.streams != ours.streams:
        found = "leaves a random stream elsewhere"
    return Outcome(WRONG, found) if found else Outcome(WORKS)


def _at_the_line(example: Example, error: Exception) -> bool:
    """Return whether a refusal shows the example's own line."""
    filename = example.function.__code__.co_filename
    return any(frame.filename == filename for frame in traceback.extract_tb(error.__traceback__)) or filename in str(
        error
    )


def difference(plain: Any, ours: Any, where: str = "") -> str:
    """Return how two values differ, nothing if they do not."""
    if isinstance(plain, (list, tuple)) and type(plain) is type(ours) and len(plain) == len(ours):
        return next((found for a, b in zip(plain, ours) if (found := difference(a, b, where))), "")
    if isinstance(plain, np.ndarray) and plain.dtype.kind not in "biufc" or not isinstance(plain, VALUES):
        if isinstance(plain, dict) and isinstance(ours, dict) and plain.keys() == ours.keys():
            return next((found for key in plain if (found := difference(plain[key], ours[key], f" at {key!r}"))), "")
        same = type(plain) is type(ours) and (repr(plain) == repr(ours) or " at 0x" in repr(plain))
        return "" if same else f"gives {ours!r}, not {plain!r}{where}"
    if isinstance(plain, np.ndarray) != isinstance(ours, np.ndarray):
        return f"gives {type(ours).__name__} {ours!r}, not {type(plain).__name__} {plain!r}{where}"
    if isinstance(plain, np.ndarray) and (type(plain) is not type(ours)):
        return f"gives {type(ours).__name__}, not {type(plain).__name__}{where}"
    found = table.difference(plain, ours, True)
    return f"{found}{where}" if found else ""


def main() -> None:
    """Try the examples from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wanted", nargs="*")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--refused", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    counted: collections.Counter[str] = collections.Counter()
    number = 0
    for owner, text in docstrings(tuple(given.wanted) or SPACES):
        for example in examples(owner, text):
            number += 1
            if number % given.every:
                continue
            try:
                found = outcome(example, given.executor)
            except Exception as error:
                found = Outcome("BROKEN", repr(error))
            counted[found.status] += 1
            shown = found.status not in (WORKS, SAME_ERROR) or found.words
            if shown and (given.refused or found.status in (WRONG, UNCLEAR, "BROKEN")):
                print(f"## {found.status} {owner}\n{example.text.rstrip()}\n   {found.words[:600]}", flush=True)
    print(dict(counted))


if __name__ == "__main__":
    main()
