"""Telling values that are computed by a graph from plain Python values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.numpy_results import is_array
from autoloop_runtime.ir.run_state import Stored
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import of_texts
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    Kind,
    NumberTracer,
    TextTracer,
    ZeroDimArray,
    join,
    kind_of,
    marked,
    own_kind,
)

from ...errors import programs_own
from ...left_to_python import refuse_unknown
from .numbers_or_arrays import noted
from .raising import Raising, raise_unless
from .standins import Maybe, StandIn, opened
from .users_methods import method_of


def cast_where_made(tensor: Tensor, dtype: Any) -> Tensor:
    """Return a tensor in another dtype, made where the tensor itself was."""
    if tensor.node is None:
        return Tensor(tensor.value.astype(dtype))
    with tensor.node.graph.as_default():
        cast: Tensor = ops.cast(tensor.plain, dtype)
    return cast


_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


def answer(made: Any, *asked_of: Any) -> Any:
    """Return what Python would give as a bool of its own, asked of some values: a tensor if one of them is one."""
    kind = kind_of(asked_of)
    return marked(NumberTracer if kind is ArrayTracer else kind, made)


def is_staged(value: Any) -> TypeGuard[Tensor]:
    """Return whether a decision on ``value`` must be left to the graph.

    A concrete tensor counts while a graph is being built: the user who writes ``constant(0)`` in a function
    asks for a loop in the graph.
    """
    if isinstance(value, Tensor):
        return value.node is not None or current_graph() is not None
    return isinstance(value, Stored) and current_graph() is not None


def any_staged(values: Sequence[Any]) -> bool:
    """Return whether one of the values is for the graph to decide on."""
    return any(map(is_staged, values))


def stands_for(value: Any) -> type:
    """Return the type of what a staged value is to the user: of an array, a NumPy scalar, a Python number, a tensor."""
    if isinstance(value, TextTracer):
        return str
    if isinstance(value, ArrayTracer):
        if value.may_be_scalar:
            raise UnknownWhileTracing("whether this is an array or a scalar only the run knows: ask np.ndim(x)")
        return np.ndarray if value.shape.rank != 0 or type(value) is ZeroDimArray else value.dtype.type
    return number_type(value) or type(value)


def kind_of_either(name: str, one: Any, other: Any) -> Kind:
    """Return the kind of an array or scalar that is one of two values, and only the run knows which.

    Raises
    ------
    LeftToPython
    TypeError
        If that would have to know, too, whether what has no axes is an array or a scalar.
    """
    kinds = own_kind(one), own_kind(other)
    if set(kinds) != {ArrayTracer, ZeroDimArray}:
        return kinds[0] if kinds[0] is kinds[1] else kind_of((one, other))
    if not all(is_array(value, ZeroDimArray) for value in (one, other)):
        refuse_unknown(
            f"{name!r} is an array without axes here, and what may be a scalar elsewhere: only the run knows which",
            "make it a scalar, x[()], or an array, np.asarray(x), in both places",
        )
    return ZeroDimArray


def kind_of_all(values: Iterable[Any]) -> Kind:
    """Return the kind of what is one of some values of one dtype: of arrays without axes only, such an array."""
    values = list(values)
    kinds = set(map(own_kind, values))
    return ZeroDimArray if kinds == {ZeroDimArray} else kind_of(values)


def kind_of_next(name: str, kind: Kind, held: Sequence[Tensor], value: Any) -> Kind:
    """Return the kind of a variable that the body of a loop gives ``value``, of its own kind and what it held."""
    if {kind, own_kind(value)} == {ArrayTracer, ZeroDimArray}:
        return kind_of_either(name, marked(kind, held[0]), value)
    return join(own_kind(value), kind)


def check_hashable(value: Any) -> None:
    """Raise what Python says of a key of a dict, or an element of a set, that is an array, be it one without axes."""
    if isinstance(value, ArrayTracer) and value.shape.rank == 0 and stands_for(value) is np.ndarray:
        raise programs_own(TypeError("unhashable type: 'numpy.ndarray'"))


def full_name(kind: type) -> str:
    """Return what Python's messages call a type: with its module, but for those of Python's own."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def asked(value: Any) -> Any:
    """Return what a condition decides on; an object of the user's is asked as Python asks it."""
    if isinstance(value, bool | Tensor):
        return value
    if isinstance(value, StandIn):
        return opened(value).decision()
    for name in ("__bool__", "__len__"):
        if (method := method_of(value, name)) is not None:
            return asked(method())
    return value


def truth(value: Any) -> Tensor:
    """Return a staged value's truth as a boolean scalar: a number is true if it is not zero.

    It is a Python bool to the user, or a tensor if the value is one.

    Raises
    ------
    ValueError
        If it has more than one element.
    """
    tensor = convert_to_tensor(value)
    if isinstance(value, ArrayTracer) and not tensor.shape.is_fully_defined():
        tensor = _of_one_element(tensor)
    elif tensor.shape.rank not in (0, None):
        if tensor.shape.is_fully_defined() and tensor.size == 1:
            tensor = ops.reshape(tensor, ())
        elif isinstance(value, ArrayTracer):
            raise programs_own(_ambiguous(tensor.size))
        else:
            plain = _AMBIGUOUS + ": " if isinstance(value, ArrayTracer) else ""
            raise programs_own(
                ValueError(
                    f"{plain}the truth value of a tensor of shape {tensor.shape} is ambiguous; reduce it with "
                    f"autoloop.any(...) or autoloop.all(...) [AL006]"
                )
            )
    if isinstance(value, TextTracer):
        return of_texts(bool, bool, value)  # type: ignore[no-any-return]
    if tensor.dtype.kind != "b":
        tensor = ops.not_equal(tensor, 0)
    made: Tensor = answer(tensor, value)
    return made


def _of_one_element(array: Tensor) -> Tensor:
    """Return the element of an array of unknown shape; the run checks that there is one, as NumPy does."""
    size = ops.size(array)
    raise_unless(ops.equal(size, 1), Raising(ValueError, _ambiguous), size)
    made: Tensor = ops.reshape(array, ())
    return made


def _ambiguous(size: Any) -> ValueError:
    if size:
        return ValueError(_AMBIGUOUS)
    return ValueError(
        "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
    )


def subject(value: Any, looks_inside: bool | None, depth: int = 0) -> Any:
    """Return the subject of a ``match`` that stays Python's.

    Parameters
    ----------
    value : object
        The subject.
    looks_inside : bool or None
        Whether its parts are asked for a class of Python's or NumPy's; False if only the whole is, None if nothing is.
    depth : int
        How deep it is looked into as a list, tuple or dict.

    Raises
    ------
    TypeError
        If a tensor would be asked, which stands for an array or a number of the user's and is neither; or if it is
        looked into what only the run knows.
    """
    if depth:
        _look_into(value, depth)
    if looks_inside is None:
        return value
    if is_staged(value) or (looks_inside and any(map(is_staged, nest.flatten(value)))):
        refuse_unknown(
            "`match` asks a tensor here for the class of a number or an array, which it only stands for",
            "compare values, `case 3 | 4`, or ask for its dtype by `if`",
        )
    return value


def _look_into(value: Any, depth: int) -> None:
    if isinstance(value, StandIn):
        refuse_unknown(
            f"`match` would look into {opened(value).described()}", "ask for its length, or for None, by `if`"
        )
    if depth > 1 and isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            _look_into(one, depth - 1)


def as_maybe(array: Any) -> Any:
    """Return an array as one that may be a number, if that is noted of it."""
    if type(array) is not ArrayTracer or noted(array) is None:
        return array
    with undivided():
        from .maybe_numbers import as_maybe_number

    return as_maybe_number(array)


def certain(leaf: Any) -> Any:
    """Return an array whose dtype a loop has changed as what it is after a turn; the run is refused without one."""
    if not isinstance(leaf, ArrayTracer) or (found := noted(leaf)) is None or not found.is_array:
        return leaf
    with undivided():
        from .maybe_numbers import after_a_turn

    return after_a_turn(leaf)


def is_variable(value: Any) -> bool:
    """Return whether something is a ``Variable``."""
    return isinstance(value, Stored)


class ValuesOfVariables:
    """The tensors that stand for what may be a ``Variable``, by id; a record of a graph.

    To compute with, the one is as good as the other. Who is given it back, or finds it in an attribute or list, would
    have a tensor where plain Python leaves the ``Variable``, which others assign to.
    """

    def __init__(self) -> None:
        self.known: dict[int, Tensor] = {}

    def copy(self) -> ValuesOfVariables:
        """Return the same, which later ones do not reach."""
        made = ValuesOfVariables()
        made.known = dict(self.known)
        return made


def note_variable(made: Any, *chosen: Any) -> None:
    """Note that a tensor stands for one of several values, if a ``Variable`` is one of them."""
    graph = current_graph()
    if graph is not None and isinstance(made, Tensor) and any(isinstance(one, Stored) for one in chosen):
        graph.root.record(ValuesOfVariables).known[id(made)] = made


def leave_variables(values: Iterable[Any]) -> None:
    """Let plain Python run a function that would leave, or give, such a tensor; raise where it cannot.

    Raises
    ------
    LeftToPython
    TypeError
    """
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(ValuesOfVariables)
    if found is None:
        return
    leaves = [leaf for one in values for leaf in nest.flatten(opened(one).value if isinstance(one, Maybe) else one)]
    if any(id(one) in found.known for one in leaves):
        refuse_unknown(
            "a Variable, or another value in place of it, is given back or left where others find it, as a loop or "
            "branch on tensors chooses, which gives values",
            "assign to a Variable, choose it outside of loops and branches, or make it a value, v.read_value()",
        )


def refuse_variables(values: Iterable[Any]) -> None:
    """Do so of values that are put into a list that grows in a loop or branch.

    Raises
    ------
    LeftToPython
    TypeError
    """
    if any(isinstance(one, Stored) for one in values):
        refuse_unknown(
            "a Variable is put into a list that grows in a loop or branch on tensors, which holds values",
            "put in its value, v.read_value()",
        )
