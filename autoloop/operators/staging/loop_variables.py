"""The variables of a staged loop: from the user's values to tensors and back.

A variable is a structure of leaves. Each is to the body, and after the loop, what it is before: a tensor, an array, or
a Python number, which is carried in 64 bits. What the body makes of it may be of another kind, type or dtype: a
number becomes a float, or an array of the dtype that NumPy gives it, an array takes the wider dtype that NumPy gives it
in the first iteration; that is found by tracing again. Composites (TensorArray) bring their parts; any other object is
carried around outside and must not change. A variable without a value on entry gets its type from the body, and a flag
that tells whether it was set.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.control.loop_leaf import leaf_names
from autoloop_runtime.ir.array_storage import Storage, kept
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.number_operators import CARRIERS, beside, carried, number_type, type_of_carrier, widest
from autoloop_runtime.ir.structured import LoopVar, StructureError, check_result
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import is_text, text
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    TextTracer,
    marked,
)
from autoloop_runtime.ops.int_bounds import is_step
from autoloop_runtime.ops.operands import is_tensor

from ...left_to_python import refuse_unknown, unless_left
from .container_contents import Whole, has_objects, whole
from .containers_of_blocks import leave_containers, leave_objects_apart
from .list_lengths import as_growing, with_growing
from .loop_leaves import (
    KINDS,
    NAMES,
    Arrays,
    Leaf,
    before_the_loop,
    changing_leaf,
    entering,
    is_no_other,
    make_leaf,
    mixed_leaf,
    outside,
    settled_number,
)
from .mixed_numbers import MixedNumber, accepted, begun, codes_of
from .numbers_or_arrays import leave_inner_turns, noted
from .staged_values import certain, is_variable, kind_of_next
from .standins import is_optional, opened
from .undefined import MaybeUnset, Undefined, maybe, spoken

_NUMBERS = (bool, int, float, complex, np.generic)
# What to do about a container whose structure changes.
_HINTS: dict[type, str] = {
    tuple: "; to collect values use a list and append",
    deque: "; to collect values use a list: append, insert and pop work at any place",
    dict: "; all keys must be there before the loop: to collect values use a list and append",
    defaultdict: "; all keys must be there before the loop: to collect values use a list and append",
}


class Retrace(Exception):
    """The body showed that variables have other types than assumed; holds the variables to try next, and the body and
    what it gives."""

    def __init__(self, variables: Sequence[Variable], graph: Graph, gives: Sequence[Tensor]) -> None:
        self.variables, self.graph, self.gives = list(variables), graph, list(gives)


@dataclass(frozen=True, eq=False)  # tensors compare element by element
class Variable:
    """One variable of a staged loop.

    Attributes
    ----------
    name : str
        The user's name.
    init : object
        The value on entry.
    form : object
        That with its objects as leaves, or taken apart if the body lets it stand for others.
    structure : object
        The structure of the value; None while no value is known.
    leaves : tuple of Leaf
        Its leaves.
    flag : bool, Tensor or None
        Whether it is set on entry, if that has to be carried along.
    optional : bool
        Whether it is None, and not unset, where the flag is false.
    carried : container of Storage
        The memory of arrays that is carried by itself.
    """

    name: str
    init: Any
    form: Any
    structure: Any
    leaves: tuple[Leaf, ...]
    flag: Any = None
    optional: bool = False
    carried: Container[Storage] = ()

    def loop_vars(self) -> list[LoopVar]:
        """Return the declarations of all its tensors."""
        declared = [one for leaf in self.leaves for one in leaf.loop_vars()]
        if self.flag is not None:
            flag = convert_to_tensor(self.flag)
            declared.append(LoopVar(f"{self.name} is set", flag, flag.shape))
        return declared

    def value(
        self,
        tensors: list[Tensor],
        number: Kind = NumberTracer,
        array: Arrays | None = None,
        made: list[tuple[Any, Any]] | None = None,
    ) -> Any:
        """Take this variable's tensors off the list and return its value, see ``Leaf.value``, with its objects as
        ``form`` has them; in what may be unset they are made, see ``assembled``."""
        if self.structure is None:
            return Undefined(self.name)
        leaves = []
        for leaf in self.leaves:
            mine, tensors[: len(leaf.tensors)] = tensors[: len(leaf.tensors)], []
            leaves.append(leaf.value(mine, number, array))
        value = nest.unflatten(self.structure, leaves)
        if self.flag is None:
            return value
        value = _objects().assembled(value, [] if made is None else made) if has_objects(self.form) else value
        return maybe(self.name, value, tensors.pop(0), self.optional)

    # -- what the body gives ----------------------------------------------------------------------------

    def accept(
        self, result: Any, params: Sequence[Tensor], left: Callable[[Leaf, Any], None] = lambda *_: None
    ) -> tuple[Variable, list[Tensor]]:
        """Return the variable as the body's result shows it to be, and the result's tensors: they mean something
        only if the variable is unchanged. ``left`` is told of each leaf what it becomes."""
        is_set: Any = True
        if self._turns_optional(result):
            return self._optional(result), []
        if self.optional and result is None:
            is_set, result = False, self._present([*params])
        elif type(result) is MaybeUnset or (self.optional and is_optional(result)):
            result, is_set = opened(result).value, opened(result).is_set
        elif type(result) is Undefined:
            if self.structure is None:
                return self, []
            is_set, result = False, self._present([*params])
        if self.structure is None:
            return self._born(result), []
        result = as_growing(self.name, result, self.init)
        if (grown := self._grown(result)) is not None:
            return grown, []
        form = self.form
        if has_objects(form) or has_objects(result):
            form, result = _objects().side_by_side(form, result)
        if form is not self.form and (self.init is None or type(self.init) is Undefined):
            return replace(self._born_apart(result), optional=self.optional), []
        if form is not self.form:
            with before_the_loop():
                made = make_variable(self.name, self.init, carried=self.carried, form=form)
            return replace(made, flag=self.flag, optional=self.optional), []
        if self.flag is None and is_set is not True:
            return replace(self, flag=True), []
        leaves, tensors = self._accept_leaves(result, params, left)
        if self.flag is not None:
            tensors.append(convert_to_tensor(is_set))
        return (self if leaves is self.leaves else replace(self, leaves=leaves)), tensors

    def _present(self, params: list[Tensor]) -> Any:
        """Return the value where it is set, in the structure of ``form``."""
        return replace(self, flag=None).value(params)

    def _turns_optional(self, result: Any) -> bool:
        """Return whether the body shows that the variable is None at times."""
        if self.optional or self.flag is not None or self.structure is None or type(result) in (Undefined, MaybeUnset):
            return False
        return (self.init is None) != (result is None) or is_optional(result)

    def _optional(self, result: Any) -> Variable:
        value = opened(result).value if is_optional(result) else result
        if self.init is None:
            return replace(self._born(value), optional=True)
        return replace(self, flag=True, optional=True)

    def _born(self, result: Any) -> Variable:
        """Return the variable with the type that the body gave it; its entry value is never read."""
        if has_objects(result):
            result = _objects().kept_whole(_objects().apart(result), _is_of_block)
        return self._born_apart(result)

    def _born_apart(self, form: Any) -> Variable:
        with undivided():
            from .blank_values import blank_tensor

        values, structure = nest.flatten_with_structure(form)
        leaves = []
        for name, value in zip(leaf_names(spoken(self.name), structure), values, strict=True):
            leaf = make_leaf(name, value)
            if leaf.kind == "composite":
                leaves.append(self._born_composite(name, value))
                continue
            unread = tuple(blank_tensor(t.dtype, t.shape) for t in leaf.tensors)
            shape = leaf.tensors[0].shape if leaf.tensors else None
            leaf = leaf.starting_with(*unread)
            if kept(value) is not None:  # which array it is in some iteration says nothing of the others
                leaf = replace(leaf, entry=replace(leaf.entry, value=None))
            leaves.append(replace(leaf, shape=shape, relaxed=True, changes=True))
        return replace(self, form=form, structure=structure, leaves=tuple(leaves), flag=False)

    @staticmethod
    def _born_composite(name: str, value: Any) -> Leaf:
        with undivided():
            from .blank_values import blank

        with before_the_loop():
            return make_leaf(name, blank(value))

    def _grown(self, result: Any) -> Variable | None:
        """Return the variable with lists of unknown length where the body has changed a list's length."""
        with before_the_loop():
            init = with_growing(self.name, self.init, result)
            return None if init is self.init else make_variable(self.name, init, carried=self.carried)

    def _accept_leaves(
        self, result: Any, params: Sequence[Tensor], left: Callable[[Leaf, Any], None]
    ) -> tuple[tuple[Leaf, ...], list[Tensor]]:
        values, structure = nest.flatten_with_structure(result)
        leave_containers(spoken(self.name), self.form, result)
        if has_objects(result):
            _objects().leave_objects(spoken(self.name), self.form, result)
        if structure != self.structure:
            hint = _HINTS.get(type(self.init), "") if type(self.init) is type(result) else ""
            message = (
                f"{spoken(self.name)!r} does not have the same nested structure after one iteration: "
                f"{nest.describe(self.init)} before, {nest.describe(result)} after{hint} [AL103]"
            )
            raise unless_left(StructureError(message))
        leaves, tensors, start = [], [], 0
        for leaf, value in zip(self.leaves, values, strict=True):
            mine = params[start : start + len(leaf.tensors)]
            start += len(leaf.tensors)
            left(leaf, value)
            new, parts = _accept_leaf(leaf, value, mine)
            leaves.append(new)
            tensors += parts
        same = all(a is b for a, b in zip(leaves, self.leaves, strict=True))
        return (self.leaves if same else tuple(leaves)), tensors


def _objects() -> Any:
    """Return the module that takes objects apart, of which most loops have none."""
    with undivided():
        from . import instances
    return instances


def _is_of_block(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.node is not None and leaf.node.graph is current_graph()


def make_variable(
    name: str, value: Any, shape: Any = None, carried: Container[Storage] = (), form: Any = None
) -> Variable:
    """Return a variable with its value on entry, of which ``form`` may be known; arrays whose memory is ``carried``
    stay what they are."""
    flag = None
    if type(value) is Undefined:
        return Variable(name, value, None, None, ())
    optional = is_optional(value)
    if optional or type(value) is MaybeUnset:
        value, flag = opened(value).value, opened(value).is_set
    form = whole(value) if form is None else form
    values, structure = nest.flatten_with_structure(form)
    names = leaf_names(name, structure)
    leaves = tuple(make_leaf(one, leaf, shape, carried) for one, leaf in zip(names, values, strict=True))
    return Variable(name, value, form, structure, leaves, flag, optional, carried)


def _accept_leaf(leaf: Leaf, value: Any, params: Sequence[Tensor]) -> tuple[Leaf, list[Tensor]]:
    if leaf.kind == "outside" or is_no_other(value):
        return _accept_outside(leaf, value), []
    if isinstance(leaf.init, MixedNumber):
        return _accept_mixed(leaf, leaf.init, value, params)
    if (several := _of_several_types(leaf, value)) is not None:
        return several, []
    if leaf.kind == "composite":
        parts, structure = leaf.entry.next(value, "before the loop")
        composite = composite_of(value)
        if composite is not None and structure != leaf.entry.structure:
            # the body shows what is known of it, e.g. what shape the elements of a TensorArray have
            either = composite.either(value, leaf.entry.packed(leaf.tensors), True, False)
            if (structure := nest.structure_of(either, True)) != leaf.entry.structure:
                return replace(leaf, entry=replace(leaf.entry, structure=structure)), []
        return leaf, parts
    if isinstance(leaf.init, TextTracer) and isinstance(value, str):
        value = TextTracer(text(value))
    if value is None or not _is_numeric(value) or isinstance(leaf.init, TextTracer) != isinstance(value, TextTracer):
        message = (
            f"{leaf.name!r} is a tensor or number before the loop and {value!r} at the end of the iteration [AL106]"
        )
        raise unless_left(TypeError(message))
    if leaf.is_number and not leaf.changes and isinstance(value, Tensor) and value.plain is params[0]:
        # The body leaves the number alone: it can stay the Python number it is.
        return outside(leaf.name, leaf.init), []
    kind = kind_of_next(leaf.name, KINDS[leaf.kind], leaf.tensors, value)
    if issubclass(kind, NumberTracer):
        return _accept_number(leaf, value, kind)
    if number_type(value) is not None:
        return _accept_beside(leaf, value)
    if is_variable(value) and leaf.variable is None and value is not leaf.init:
        return replace(leaf, variable=value), []
    leave_inner_turns(leaf.name, value, kind)
    value = certain(value)
    if isinstance(value, ArrayTracer) and noted(value) is not None and not leaf.may_stay_number and kind is not Tensor:
        return replace(leaf, may_stay_number=True, changes=True), []
    result = convert_to_tensor(value)
    if leaf.is_number:
        return settled_number(replace(leaf, kind=NAMES[kind]), leaf, result)
    if NAMES[kind] != leaf.kind:
        return replace(leaf, kind=NAMES[kind]), []
    return (leaf, [result]) if kind is Tensor else (_settled_array(leaf, result), [result])


def _of_several_types(leaf: Leaf, value: Any) -> Leaf | None:
    """Return the variable as a number of several types, if the body gives it another one; None if not."""
    born = leaf.relaxed and leaf.shape is not None and leaf.shape.rank == 0 and leaf.kind in KINDS
    entry = marked(KINDS[leaf.kind], leaf.tensors[0]) if born else leaf.init  # nobody reads that of what is born
    init = entry if leaf.init is None else leaf.init
    codes = codes_of(init)
    if (leaf.shape is not None and not born) or codes is None or codes_of(value) in (None, codes):
        return None
    variable = begun(init, value)
    if variable is None or leaf.kind == NAMES[DecidedNumber] or codes_of(entry) != codes:
        return None
    variable.static = entry
    return mixed_leaf(leaf.name, variable)


def _accept_mixed(leaf: Leaf, variable: MixedNumber, value: Any, params: Sequence[Tensor]) -> tuple[Leaf, list[Tensor]]:
    """Carry a number of several types, or what it turns out to be else."""
    made = accepted(variable, value)
    if isinstance(made, MixedNumber):
        return mixed_leaf(leaf.name, made), []
    if made is not None:
        return leaf, list(made)
    if variable.static is None:
        variable = MixedNumber(variable.types, variable.carrier, None, None, variable.leaving())
    single = changing_leaf(leaf.name, variable.static)
    settled, _ = _accept_leaf(single, value, params)
    return settled, []


def _accept_number(leaf: Leaf, value: Any, kind: Kind) -> tuple[Leaf, list[Tensor]]:
    """Carry a number that stays one, in the type that all its values have."""
    init = leaf.tensors[0]
    common = widest(type_of_carrier(init.dtype), number_type(value) or complex)
    if CARRIERS[common] != init.dtype or NAMES[kind] != leaf.kind:
        return replace(leaf.starting_with(entering(leaf.name, init, CARRIERS[common])), kind=NAMES[kind]), []
    tensor = carried(value, common)
    if leaf.is_counter and not is_step(tensor):
        return replace(leaf, counts=False), []
    return leaf, [tensor]


def _accept_beside(leaf: Leaf, value: Any) -> tuple[Leaf, list[Tensor]]:
    """Carry a number that an array or tensor becomes: it takes its dtype, as it does where they meet."""
    dtype = leaf.tensors[0].dtype
    common = beside(dtype, value)
    if common != dtype and leaf.kind in ("array", "array without axes"):
        return leaf.starting_with(entering(leaf.name, leaf.tensors[0], common)), []
    return leaf, [entering(leaf.name, value, common)]


def _settled_array(leaf: Leaf, result: Tensor) -> Leaf:
    """Give an array the dtype that NumPy gives it in the first iteration, if that holds all of the first one's values;
    and dimensions that may be any if the body changes them."""
    init = leaf.tensors[0]
    if result.dtype != init.dtype and np.can_cast(init.dtype, result.dtype, "safe"):
        return leaf.starting_with(entering(leaf.name, init, result.dtype))
    invariant = leaf.shape if leaf.shape is not None else init.shape
    if (leaf.shape is not None and not leaf.relaxed) or result.shape.is_subsumed_by(invariant):
        return leaf
    return replace(leaf, shape=TensorShape(invariant).most_general(result.shape), relaxed=True)


def _accept_outside(leaf: Leaf, value: Any) -> Leaf:
    if value is leaf.init or (type(value) is type(leaf.init) and _equal(value, leaf.init)):
        return leaf
    if isinstance(value, Whole) and isinstance(leaf.init, Whole) and value.value is leaf.init.value:
        return leaf
    if isinstance(leaf.init, str) and is_text(value) and not (is_no_other(leaf.init) or is_no_other(value)):
        return changing_leaf(leaf.name, TextTracer(text(leaf.init)))
    if kept(leaf.init) is not None:
        refuse_unknown(
            f"{leaf.name!r} is another array after one iteration, and its array is written to by several ways in a "
            f"loop that the graph runs",
            "give the new array a name of its own",
        )
    if type(leaf.init) is set:
        raise TypeError(
            f"the set {leaf.name!r} changes in a loop on tensors: what is in it can only be known when the loop runs; "
            f"use a list with append, or a tensor of flags [AL017]"
        )
    if leaf.init is None:
        leave_objects_apart(leaf.name, leaf.init, value)
        message = (
            f"{leaf.name!r} is None before the loop and has a value after one iteration; give it a value of the "
            f"type it will have before the loop [AL107]"
        )
        raise unless_left(TypeError(message))
    may_change = not (is_no_other(leaf.init) or is_no_other(value))
    if isinstance(leaf.init, (*_NUMBERS, Tensor)) and _is_numeric(value) and may_change:
        # It does change after all: make it a tensor again, for good.
        return changing_leaf(leaf.name, leaf.init)
    leave_objects_apart(leaf.name, leaf.init, value)
    message = (
        f"{leaf.name!r} is {leaf.init!r} before the loop and {value!r} after one iteration: in a loop on tensors "
        f"only tensors, numbers and structures of them, dataclasses among them, may change [AL106]"
    )
    raise unless_left(TypeError(message))


def _equal(one: Any, other: Any) -> bool:
    return isinstance(one, str | bytes | int | float | complex | bool | set) and bool(one == other)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, (np.ndarray, *_NUMBERS)) or is_tensor(value)


def check_results(declared: Sequence[LoopVar], tensors: Sequence[Tensor]) -> list[Tensor]:
    """Check what the body gives against dtypes and invariants; messages name variable and remedy."""
    return [check_result(one, tensor) for one, tensor in zip(declared, tensors, strict=True)]
