"""How a row is entered: the primitive, the public function over it, and what NumPy calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..ir.array_kinds import computing
from ..ir.numpy_arguments import Counterpart
from ..ir.numpy_protocols import NUMPY_FUNCTIONS, NUMPY_UFUNCS
from ..ir.op import OPS, Op, function, register
from ..ir.traits import NoRule, Traits

Function: TypeAlias = Callable[..., Any]
_F = TypeVar("_F", bound=Function)
#: a call, and what ``print`` shows of its result: a row's own, for its docstring; tests run it
Example: TypeAlias = tuple[str, str]
#: other spelling, TensorFlow's or the array API's -> our name; filled while modules are imported
ALIASES: dict[str, str] = {}


def publish(
    name: str, f: _F, doc: str | None = None, numpy: Any = None, aliases: Sequence[str] = (), fetches: bool = False
) -> _F:  # fmt: skip
    """Register ``f`` as the public function ``name`` and as what NumPy's ``numpy`` means on tensors.

    ``aliases`` are what it is called besides, at top level and in ``compat.v1``. What ``fetches`` needs the values of
    arrays that are computed later.
    """
    ALIASES.update(dict.fromkeys(aliases, name))
    if "<locals>" in f.__qualname__:
        f.__module__ = __package__ or ""  # where pickle finds what a maker has made
    f.__name__ = f.__qualname__ = name
    if doc is not None:
        f.__doc__ = doc
    f = f if fetches else computing(f)
    for counterpart in numpy if isinstance(numpy, tuple) else (numpy,):
        if counterpart is not None:
            if isinstance(counterpart, np.ufunc):
                NUMPY_UFUNCS[counterpart] = f
            else:
                NUMPY_FUNCTIONS[counterpart] = Counterpart(counterpart, f)
    function(name, f)
    return f


def public(
    *, numpy: Any = None, name: str | None = None, aliases: Sequence[str] = (), fetches: bool = False
) -> Callable[[_F], _F]:  # fmt: skip
    """Return the decorator form of ``publish``, for functions written out."""
    return lambda f: publish(name or f.__name__, f, numpy=numpy, aliases=aliases, fetches=fetches)


def primitive(
    name: str, infer: Function, kernel: Function, vjp: Function | NoRule, *, traits: Traits, **options: Any
) -> Op:
    """Add a primitive to the table."""
    return register(Op(name, infer, kernel, vjp, traits=traits, **options))


def op_of(f: Any) -> Op:
    """Return the primitive of a public function that one of the makers made."""
    return OPS[f.__name__]


def document(summary: str, parameters: Sequence[tuple[str, str]], example: Example | None = None) -> str:
    """Return a NumPy-style docstring; ``summary`` says what is returned, ``example`` shows a call and what it gives."""
    rows = "".join(f"{n} : {t}\n" for n, t in (*parameters, ("name", "str, optional")))
    summary = summary if summary[:2].isupper() else summary[0].lower() + summary[1:]
    text = f"Return {summary}\n\nParameters\n----------\n{rows}\nReturns\n-------\nTensor\n"
    if example is not None:
        text += "\nExamples\n--------\n>>> print({})\n{}\n".format(*example)
    return text
