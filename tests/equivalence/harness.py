"""Programs called plain and decorated: on copies of the same arguments, twice in a row.

What is compared: the values, dtypes and kinds of the results, which of them are arguments, what the arguments hold
after each call, and the type of an exception. Programs are Python source, the body of a function of ``HEAD``.
"""

import copy
import linecache
import sys
import types
import warnings

import autoloop as al
import numpy as np

HEAD = "def f(a, m, i, c, flags, x, n, place):\n"


def arguments(count):
    """Return the arguments of a program; ``count`` is a Python int or a NumPy scalar, which a trace does not know."""
    return (
        np.arange(6.0) + 0.25,
        np.arange(12.0).reshape(3, 4) + 0.5,
        np.arange(5),
        np.arange(3) * (1 + 2j),
        np.array([1, 0, 0, 1, 0, 1], bool),
        np.float64(2.5),
        count,
        np.int64(1),
    )


def compiled(source, number, before=""):
    """Return the function whose body is ``source``, which Python finds again by its lines, in a module of its own.

    ``before`` stands in that before the function.
    """
    text = before + HEAD + "".join(f"    {line}\n" for line in source.strip().splitlines())
    text += "    return a * 1, m.sum(), i + 0\n" if "return" not in source else ""
    name = f"<equivalence {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = sys.modules[name] = types.ModuleType(name)  # dataclasses look for it there
    module.np = np
    exec(compile(text, name, "exec"), vars(module))
    return module.f


def form(value):
    """Return the types of a structure's parts, and the keys of its dicts."""
    if isinstance(value, dict):
        return type(value).__name__, [(key, form(one)) for key, one in value.items()]
    return (type(value).__name__, list(map(form, value)) if isinstance(value, list | tuple) else None)


def outcome(function, given):
    """Return results or exception of a call, and the arguments after it."""
    given = copy.deepcopy(given)
    found = []
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = function(*given)
            except Exception as error:
                return found, error, given
        leaves = al.nest.flatten(value)
        which = [next((place for place, one in enumerate(given) if one is leaf), None) for leaf in leaves]
        arrays = [place if isinstance(leaf, np.ndarray) else None for leaf, place in zip(leaves, which, strict=True)]
        found.append(([repr(form(value)), *copy.deepcopy(leaves)], [None, *arrays]))
    return found, None, given


def difference(source, number, given, executor, before=""):
    """Return what a decorated program does otherwise than the plain one, in words; empty if nothing."""
    program = compiled(source, number, before)
    return apart(outcome(program, given), outcome(al.function(program, executor=executor), given), executor)


def apart(as_plain, as_decorated, executor):
    """Return how the outcome of a decorated program is another than that of the plain one; empty if it is not."""
    plain, error, wanted = as_plain
    ours, refusal, held = as_decorated
    if error is not None or refusal is not None:
        plain_only = str(refusal).startswith("executor='native' cannot run")  # what runs as plain Python otherwise
        if executor == "native" and (type(refusal).__name__ == "NativeRefusal" or plain_only):
            return ""
        same = type(error) is type(refusal)
        return "" if same else f"raises {refusal!r}, not {error!r}"
    for (values, places), (results, found) in zip(plain, ours, strict=True):
        if [type(one) for one in values] != [type(one) for one in results] or not alike(values, results):
            return f"gives {results}, not {values}"
        if places != found:
            return f"gives the arguments {found}, not {places}"
    return "" if alike(wanted, held) else f"leaves {held}, not {wanted}"


def alike(some, others):
    """Return whether values are of the same dtypes, shapes and contents."""
    return len(some) == len(others) and all(map(_same, some, others))


def _same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return bool(np.allclose(one, other, rtol=1e-12, equal_nan=True) if one.dtype.kind in "fc" else (one == other).all())
