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
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import autoloop as al
import numpy as np

sys.path.append(str(Path(__file__).parent.parent / "runtime"))  # `api`
from derivatives import FLAT, gradient  # noqa: E402
from sample_calls import (  # noqa: E402
    DTYPES,
    REFUSED,
    SAME_ERROR,
    UNCLEAR,
    WORKS,
    WRONG,
    Outcome,
    Sample,
    compiled,
    pool,
    samples,
)
from sample_files import gathered  # noqa: E402

PAGE = Path(__file__).parent.parent.parent / "docs" / "numpy.md"
#: how many of them the page is made with
MANY = 3
#: what is said of arguments before NumPy would look at them
REFUSALS = ("does not take the argument", "must be known while the graph is built", "has no counterpart for")
#: classes that are called as functions are, and objects that are indexed
CALLED = ("vectorize", "ndindex", "ndenumerate", "nditer", "broadcast")
INDEXED = ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")


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
            refused = isinstance(ours, UserWarning) or any(said in words for said in REFUSALS)  # Python would say it
            return Outcome(REFUSED if refused else WRONG, f"{words}, not {type(plain).__name__}: {plain}")
        return Outcome(REFUSED if _is_clear(sample, str(ours)) else UNCLEAR, words)
    if isinstance(plain, Exception):
        return Outcome(WRONG, f"gives a value, not {type(plain).__name__}: {plain}")
    found = difference(plain, ours, kinds) or difference(left, changed, False)
    return Outcome(WRONG, found) if found else Outcome(WORKS)


def plain(sample: Sample, dtype: str) -> Any:
    """Return what NumPy makes of a sample, the error if it raises one."""
    return _run(compiled(sample), sample, dtype)[0]


def together(tried: list[Sample]) -> Sample:
    """Return several samples of a function as one, which gives a list of their results."""
    names = tuple([name for name in pool() if any(name in one.names for one in tried)])
    return Sample(tried[0].function, "[" + ", ".join(f"({one.text})" for one in tried) + "]", names)


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
        warnings.filterwarnings("error", ".* runs as plain Python", UserWarning)  # a graph is what is asked for
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
    """A function: its status, and the calls that are not as in NumPy, with the words of each; the same of gradients."""

    function: str
    status: str
    others: tuple[tuple[str, str, Outcome], ...]
    gradient: str = ""
    no_gradients: tuple[tuple[str, Outcome], ...] = ()


def row(
    function: str, tried: list[Sample], executor: str = "sequential", most: int = len(DTYPES), gradients: bool = False
) -> Row:
    """Return what a function's samples come to, with the first ``most`` dtypes, and their gradients."""
    outcomes = [(s.text, d, outcome(s, d, executor)) for s in tried for d in s.dtypes[:most]]
    statuses = {made.status for _, _, made in outcomes}
    status = next((s for s in (WRONG, UNCLEAR) if s in statuses), None)
    if status is None:
        status = WORKS if WORKS in statuses else REFUSED if REFUSED in statuses else "no sample"
    others = tuple([one for one in outcomes if one[2].status not in (WORKS, SAME_ERROR)])
    if not gradients:
        return Row(function, status, others)
    as_numpy = {text for text, dtype, made in outcomes if dtype == DTYPES[0] and made.status == WORKS}
    of_each = [(s.text, gradient_outcome(s, executor)) for s in tried if s.text in as_numpy]
    found = {made.status for _, made in of_each}
    first = next((s for s in (WRONG, UNCLEAR, WORKS, FLAT, REFUSED) if s in found), "")
    return Row(function, status, others, first, tuple([one for one in of_each if one[1].status in NOT_GIVEN]))


#: of gradients
NOT_GIVEN = (WRONG, UNCLEAR, REFUSED)


def gradient_outcome(sample: Sample, executor: str = "sequential", order: int = 1) -> Outcome:
    """Return what the gradient of a sample is; one that is refused says of what."""
    made = gradient(sample, DTYPES[0], order, executor)
    if made.status != REFUSED or "has no gradient" in made.words or _is_clear(sample, made.words):
        return made
    return Outcome(UNCLEAR, made.words)


def rows(
    executor: str = "sequential", wanted: tuple[str, ...] = (), most: int = len(DTYPES), gradients: bool = False
) -> list[Row]:
    """Return the rows of all functions, or of those whose names begin with one of ``wanted``."""
    every: dict[str, list[Sample]] = {name: [] for name in public_functions()}
    for sample in samples():
        every.setdefault(sample.function, []).append(sample)
    same = {named(name): tried for name, tried in every.items() if tried}
    for name, tried in every.items():
        every[name] = tried or same.get(named(name), [])
    absent = gathered("NOT_APPLICABLE")
    made = []
    for function, tried in every.items():
        if wanted and not any(function == w or function.startswith(f"{w}.") for w in wanted):
            continue
        if function in absent:
            made.append(Row(function, "not applicable", ((function, "", Outcome("not applicable", absent[function])),)))
        else:
            made.append(row(function, tried, executor, most, gradients))
    return made


def named(name: str) -> Any:
    """Return what a dotted name stands for: several may be one function."""
    found: Any = {"np": np, "ufunc": np.ufunc}.get(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, name)
    return found


STATUSES = (WORKS, REFUSED, "not applicable", "no sample", UNCLEAR, WRONG)


GRADIENTS = {"gradient": WORKS, "zero gradient": FLAT, "gradient refused": REFUSED, "WRONG gradient": WRONG}


def totals(made: list[Row]) -> str:
    """Return the table of how many functions of each namespace have each status, and how many have gradients."""
    spaces = sorted({one.function.rpartition(".")[0] for one in made}, key=lambda s: (not s.startswith("np"), s))
    heads = [*STATUSES, *GRADIENTS]
    lines = ["| namespace | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for space in spaces:
        here = [one for one in made if one.function.rpartition(".")[0] == space]
        counts = [[one.status for one in here].count(status) for status in STATUSES]
        counts += [[one.gradient for one in here].count(status) for status in GRADIENTS.values()]
        lines.append(f"| `{space}` | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


#: what the page says of a gradient
SAID = {WORKS: "yes", FLAT: "zero"}


def page(made: list[Row]) -> str:
    """Return the text of docs/numpy.md."""
    text = [
        "# NumPy's functions in decorated functions",
        "",
        "Made by `python tests/numpy/table.py --update` out of calls with keywords and by position, over dtypes, plain",
        "against decorated: values, dtypes, shapes, exceptions, what became of the arguments. *Works*: all calls are",
        "as in NumPy, but for those in the last column: no graph has them, and plain Python runs them on arrays, with",
        "a warning; where a graph is needed they are refused with words. *Gradient*: reverse mode against",
        "differences of NumPy's results; empty where no floats go in, or none come out. `tests/numpy`",
        "compares the page.",
        "",
        totals(made),
        "",
        "| function | status | gradient | refused |",
        "| --- | --- | --- | --- |",
    ]
    for one in sorted(made):
        refused = [f"`{call}`" for call in dict.fromkeys(call for call, _, _ in one.others if call != one.function)]
        refused += [f"the gradient of `{call}`" for call, _ in one.no_gradients]
        reason = one.others[0][2].words if one.status == "not applicable" else ""
        slope = SAID.get(one.gradient, one.gradient)
        text.append(f"| `{one.function}` | {one.status} | {slope} | {reason or ', '.join(refused)} |")
    return "\n".join(text) + "\n"


def main() -> None:
    """Run the table from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wanted", nargs="*", help="functions or namespaces")
    parser.add_argument("--update", action="store_true", help="write docs/numpy.md")
    parser.add_argument("--executor", default="sequential")
    parser.add_argument("--dtypes", type=int, default=len(DTYPES), help="how many of them")
    parser.add_argument("--values", action="store_true", help="no gradients")
    parser.add_argument("--refused", action="store_true", help="show what is refused, too")
    given = parser.parse_args()
    most = MANY if given.update else given.dtypes
    made = rows(given.executor, tuple(given.wanted), most, given.update or not given.values)
    for one in made:
        for call, dtype, found in one.others:
            if found.status in (WRONG, UNCLEAR) or (found.status == REFUSED and given.refused):
                print(f"{found.status} {call} [{dtype}]: {found.words[:200]}")
        for call, found in one.no_gradients:
            if found.status in (WRONG, UNCLEAR) or given.refused:
                print(f"{found.status} gradient of {call}: {found.words[:200]}")
        if one.status == "no sample":
            print(f"no sample: {one.function}")
    print(totals(made))
    if given.update:
        PAGE.write_text(page(made))
    sys.exit(any({one.status, one.gradient} & {WRONG, UNCLEAR} for one in made))


if __name__ == "__main__":
    main()
