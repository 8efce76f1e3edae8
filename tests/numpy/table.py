"""Every public function of NumPy's, plain against decorated: what works, what is refused with words, what is wrong.

    python tests/numpy/table.py                       the totals, and what is wrong or unclear
    python tests/numpy/table.py np.sum np.linalg      the samples of some functions or namespaces one by one
    python tests/numpy/table.py --update              the page docs/numpy.md

Samples are expressions, in the dictionaries ``SAMPLES`` of the files ``samples_*.py``: function -> calls, in which the
names of ``pool`` stand for arrays. Those with ``x``, ``y``, ``v``, ``w`` or ``cube`` are tried with several dtypes, the
others once. ``NOT_APPLICABLE`` says of functions why they have none: files, text, settings. To add some, make a file
``samples_<kind>.py`` (see ``samples_reductions.py``); it is found by itself.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import sys
import types
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import autoloop as al
import numpy as np

sys.path.append(str(Path(__file__).parent.parent / "runtime"))  # `api`
from sample_files import gathered  # noqa: E402

PAGE = Path(__file__).parent.parent.parent / "docs" / "numpy.md"
#: the first is what samples are tried with by day
DTYPES = ("float64", "int32", "bool", "float32", "int64", "uint8", "complex128", "float16")
#: how many of them the page is made with
MANY = 3
TYPED = frozenset(("x", "y", "v", "w", "cube"))
WORKS, SAME_ERROR, REFUSED, WRONG, UNCLEAR = "works", "same error", "refused", "WRONG", "UNCLEAR"
#: what is said of arguments before NumPy would look at them
REFUSALS = ("does not take the argument", "must be known while the graph is built", "has no counterpart for")
#: classes that are called as functions are, and objects that are indexed
CALLED = ("vectorize", "ndindex", "ndenumerate", "nditer", "broadcast")
INDEXED = ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")


@cache
def _values() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(12)
    return {
        "x": np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]]),
        "y": np.array([[1.5, 2.0, 1.0], [3.0, 1.0, 0.5]]),
        "v": np.array([2.0, 0.5, 3.0, 1.0]),
        "w": np.array([1.0, 2.0, 4.0, 0.5]),
        "cube": rng.uniform(0.5, 5.0, (2, 3, 4)).round(1),
    }


@cache
def pool(dtype: str = "float64") -> dict[str, Any]:
    """Return what the names in samples stand for; who hands it to a sample makes copies.

    ``x``, ``y``: matrices of 2 x 3; ``v``, ``w``: vectors of 4; ``cube``: 2 x 3 x 4; all of ``dtype``. ``m``: a matrix
    of 3 x 3 that has an inverse, ``s``: a symmetric positive one, ``z``: complex, 2 x 3; ``i``: the integers 2, 0, 1;
    ``j``: 2 x 3 integers; ``b``: 2 x 3 booleans; ``n``: an integer array of no dimensions, 3; ``t``: a float of no
    dimensions, 0.5; ``empty``: 0 x 3.
    """
    typed = {name: _as(value, dtype) for name, value in _values().items()}
    m = np.array([[2.0, -1.0, 0.5], [0.3, 3.0, 1.0], [-0.7, 0.2, 1.5]])
    return {
        **typed, "m": m, "s": m @ m.T + np.eye(3), "z": _values()["x"] + 1j * _values()["y"], "i": np.array([2, 0, 1]),
        "j": np.array([[5, 3, 2], [7, 1, 4]]), "b": np.array([[True, False, True], [False, False, True]]),
        "n": np.array(3), "t": np.array(0.5), "empty": np.zeros((0, 3)),
    }  # fmt: skip


def _as(value: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        return value > 1
    return np.abs(value).astype(dtype) if dtype.startswith("u") else value.astype(dtype)


class Sample(NamedTuple):
    """A call of ``function`` as an expression, and the names it uses."""

    function: str
    text: str
    names: tuple[str, ...]

    @property
    def dtypes(self) -> tuple[str, ...]:
        return DTYPES if TYPED & set(self.names) else DTYPES[:1]


def samples() -> list[Sample]:
    """Return all samples, of each function the first one first."""
    known = pool()
    made = []
    for function, texts in gathered("SAMPLES").items():
        for text in texts:
            used = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
            made.append(Sample(function, text, tuple([name for name in known if name in used])))
    return made


@cache
def compiled(sample: Sample) -> Any:
    """Return the function whose body is the sample, with a source that can be read."""
    source = f"def sample({', '.join(sample.names)}):\n    return {sample.text}\n"
    filename = f"<sample {sample.text}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"np": np, "__name__": "sample"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["sample"]


class Outcome(NamedTuple):
    """What became of a sample: its status, and the words that say why."""

    status: str
    words: str = ""


def outcome(sample: Sample, dtype: str, executor: str = "sequential", kinds: bool = True) -> Outcome:
    """Return what a sample is, plain against decorated."""
    f = compiled(sample)
    plain, left = _run(f, sample, dtype)
    ours, changed = _run(al.function(f, executor=executor), sample, dtype)
    if isinstance(ours, Exception):
        words = f"{type(ours).__name__}: {ours}".splitlines()[0]
        if isinstance(plain, Exception):
            if isinstance(plain, type(ours)) or isinstance(ours, type(plain)):
                return Outcome(SAME_ERROR)
            refused = any(said in words for said in REFUSALS)
            return Outcome(REFUSED if refused else WRONG, f"{words}, not {type(plain).__name__}: {plain}")
        return Outcome(REFUSED if _is_clear(sample, str(ours)) else UNCLEAR, words)
    if isinstance(plain, Exception):
        return Outcome(WRONG, f"gives a value, not {type(plain).__name__}: {plain}")
    found = difference(plain, ours, kinds) or difference(left, changed, False)
    return Outcome(WRONG, found) if found else Outcome(WORKS)


def eager_outcome(sample: Sample, dtype: str) -> Outcome:
    """Return what a sample is on tensors that have values, outside of any function."""
    f = compiled(sample)
    plain, _ = _run(f, sample, dtype)
    ours, _ = _run(lambda *given: f(*map(al.constant, given)), sample, dtype)
    if isinstance(ours, Exception):
        return Outcome(SAME_ERROR if isinstance(plain, Exception) else REFUSED, f"{type(ours).__name__}: {ours}")
    if isinstance(plain, Exception):
        return Outcome(WRONG, f"gives a value, not {type(plain).__name__}: {plain}")
    found = difference(plain, ours, False)
    return Outcome(WRONG, found) if found else Outcome(WORKS)


def _run(f: Any, sample: Sample, dtype: str) -> Any:
    known = pool(dtype)
    given = [np.array(known[name]) for name in sample.names]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = f(*given)
            return made, given
        except Exception as error:
            return error, given


def _is_clear(sample: Sample, message: str) -> bool:
    """Return whether a refusal names the function, one of its arguments, or what is not taken as such."""
    name = sample.function.rpartition(".")[2]
    keywords = [k.arg for k in ast.walk(ast.parse(sample.text)) if isinstance(k, ast.keyword) and k.arg]
    return any(
        word in message for word in (name, "the argument '", "has no counterpart for", *[f"'{k}'" for k in keywords])
    )


def difference(plain: Any, ours: Any, kinds: bool) -> str:
    """Return how two results differ, nothing if they do not."""
    if isinstance(plain, (tuple, list)):
        if not isinstance(ours, (tuple, list)) or len(plain) != len(ours):
            return f"gives {type(ours).__name__}, not {type(plain).__name__} of {len(plain)}"
        if isinstance(plain, tuple) != isinstance(ours, tuple):
            return f"gives {type(ours).__name__}, not {type(plain).__name__}"
        return next((found for a, b in zip(plain, ours) if (found := difference(a, b, kinds))), "")
    if plain is None or isinstance(plain, (str, bytes, type, np.dtype, slice, dict)):
        return "" if type(plain) is type(ours) and plain == ours else f"gives {ours!r}, not {plain!r}"
    if kinds and _kind(plain) != _kind(ours):
        return f"gives {type(ours).__name__}, not {type(plain).__name__}"
    if isinstance(plain, types.GeneratorType):
        return "gives no generator" if ours is None else ""
    return _of_arrays(np.asarray(plain), np.asarray(ours), isinstance(plain, (bool, int, float, complex)))


def _kind(value: Any) -> str:
    """Return what a value is to its user; an array without axes is no scalar."""
    if isinstance(value, al.Tensor):
        return "tensor"
    if isinstance(value, np.ndarray):
        return "array" if value.ndim else "array without axes"
    return "scalar" if isinstance(value, np.generic) else type(value).__name__


def _of_arrays(plain: Any, ours: Any, is_number: bool) -> str:
    if plain.shape != ours.shape:
        return f"shape {ours.shape}, not {plain.shape}"
    if plain.dtype != ours.dtype and not (is_number and plain.dtype.kind == ours.dtype.kind):
        return f"dtype {ours.dtype}, not {plain.dtype}"
    if plain.dtype.kind not in "fc":
        return "" if np.array_equal(plain, ours) else f"{ours.tolist()}, not {plain.tolist()}"
    near = 64 * np.finfo(plain.dtype).eps
    finite = plain[np.isfinite(plain)]
    scale = np.max(np.abs(finite), initial=0.0)
    with np.errstate(all="ignore"):
        same = np.allclose(plain, ours, rtol=near, atol=near * scale, equal_nan=True)
    return "" if same else f"{ours.tolist()}, not {plain.tolist()}"


def public_functions() -> Iterator[str]:
    """Yield the names of NumPy's public functions, and of what is called or indexed as functions are."""
    for prefix, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)):
        for name in sorted(dir(module)):
            if name.startswith("_") or (prefix == "np" and name in ("test", "deprecate")):
                continue
            value = getattr(module, name)
            is_function = callable(value) and not isinstance(value, type) and not isinstance(value, types.ModuleType)
            if (is_function and name != "test") or (prefix == "np" and name in CALLED + INDEXED):
                yield f"{prefix}.{name}"
    for name in sorted(dir(np.ndarray)):
        if not name.startswith("_"):
            yield f"np.ndarray.{name}"


class Row(NamedTuple):
    """A function: its status, and the calls that are not as in NumPy, with the words of each."""

    function: str
    status: str
    others: tuple[tuple[str, str, Outcome], ...]


def row(function: str, tried: list[Sample], executor: str = "sequential", most: int = len(DTYPES)) -> Row:
    """Return what a function's samples come to, with the first ``most`` dtypes."""
    outcomes = [(s.text, d, outcome(s, d, executor)) for s in tried for d in s.dtypes[:most]]
    statuses = {made.status for _, _, made in outcomes}
    status = next((s for s in (WRONG, UNCLEAR) if s in statuses), None)
    if status is None:
        status = WORKS if WORKS in statuses else REFUSED if REFUSED in statuses else "no sample"
    return Row(function, status, tuple([one for one in outcomes if one[2].status not in (WORKS, SAME_ERROR)]))


def rows(executor: str = "sequential", wanted: tuple[str, ...] = (), most: int = len(DTYPES)) -> list[Row]:
    """Return the rows of all functions, or of those whose names begin with one of ``wanted``."""
    every: dict[str, list[Sample]] = {name: [] for name in public_functions()}
    for sample in samples():
        every.setdefault(sample.function, []).append(sample)
    same = {_named(name): tried for name, tried in every.items() if tried}
    for name, tried in every.items():
        every[name] = tried or same.get(_named(name), [])
    absent = gathered("NOT_APPLICABLE")
    made = []
    for function, tried in every.items():
        if wanted and not any(function == w or function.startswith(f"{w}.") for w in wanted):
            continue
        if function in absent:
            made.append(Row(function, "not applicable", ((function, "", Outcome("not applicable", absent[function])),)))
        else:
            made.append(row(function, tried, executor, most))
    return made


def _named(name: str) -> Any:
    """Return what a dotted name stands for: several may be one function."""
    found: Any = {"np": np, "ufunc": np.ufunc}.get(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, name)
    return found


STATUSES = (WORKS, REFUSED, "not applicable", "no sample", UNCLEAR, WRONG)


def totals(made: list[Row]) -> str:
    """Return the table of how many functions of each namespace have each status."""
    spaces = sorted({one.function.rpartition(".")[0] for one in made}, key=lambda s: (not s.startswith("np"), s))
    lines = ["| namespace | " + " | ".join(STATUSES) + " |", "| --- |" + " ---: |" * len(STATUSES)]
    for space in spaces:
        found = [one.status for one in made if one.function.rpartition(".")[0] == space]
        lines.append(f"| `{space}` | " + " | ".join(str(found.count(status)) for status in STATUSES) + " |")
    return "\n".join(lines)


def page(made: list[Row]) -> str:
    """Return the text of docs/numpy.md."""
    text = [
        "# NumPy's functions in decorated functions",
        "",
        "Made by `python tests/numpy/table.py --update` out of calls with keywords and by position, over dtypes, plain",
        "against decorated: values, dtypes, shapes, exceptions, what became of the arguments. *Works*: all calls are",
        "as in NumPy, but for those in the last column, which are refused with words. `tests/numpy` compares the page.",
        "",
        totals(made),
        "",
        "| function | status | refused |",
        "| --- | --- | --- |",
    ]
    for one in sorted(made):
        refused = dict.fromkeys(call for call, _, _ in one.others if call != one.function)
        reason = one.others[0][2].words if one.status == "not applicable" else ""
        text.append(f"| `{one.function}` | {one.status} | {reason or ', '.join(f'`{call}`' for call in refused)} |")
    return "\n".join(text) + "\n"


def main() -> None:
    """Run the table from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wanted", nargs="*", help="functions or namespaces")
    parser.add_argument("--update", action="store_true", help="write docs/numpy.md")
    parser.add_argument("--executor", default="sequential")
    parser.add_argument("--dtypes", type=int, default=len(DTYPES), help="how many of them")
    parser.add_argument("--refused", action="store_true", help="show what is refused, too")
    given = parser.parse_args()
    made = rows(given.executor, tuple(given.wanted), MANY if given.update else given.dtypes)
    for one in made:
        for call, dtype, found in one.others:
            if found.status in (WRONG, UNCLEAR) or (found.status == REFUSED and given.refused):
                print(f"{found.status} {call} [{dtype}]: {found.words[:200]}")
        if one.status == "no sample":
            print(f"no sample: {one.function}")
    print(totals(made))
    if given.update:
        PAGE.write_text(page(made))
    sys.exit(any(one.status in (WRONG, UNCLEAR) for one in made))


if __name__ == "__main__":
    main()
