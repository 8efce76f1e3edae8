"""Lists that grow in a staged loop or branch.

When a list has another length after a staged block than before, it is turned into a :class:`GrowingList`: the
same methods over a TensorArray. Appending costs constant time; ``pop`` copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import nest
from autoloop_runtime.graph import convert_to_tensor
from autoloop_runtime.registry import call
from autoloop_runtime.tensor import Tensor
from autoloop_runtime.tensor_array import TensorArray


class GrowingList:
    """A list whose length is known only when the graph runs.

    Parameters
    ----------
    name : str
        The user's variable, for messages.
    arrays : sequence of TensorArray
        One per leaf of an element.
    structure : object
        The structure of an element.
    """

    def __init__(self, name: str, arrays: Sequence[TensorArray], structure: Any) -> None:
        self.name = name
        self.arrays = list(arrays)
        self.structure = structure

    def copy(self) -> GrowingList:
        """Return a list of its own with the same elements."""
        return GrowingList(self.name, self.arrays, self.structure)

    @property
    def length(self) -> Any:
        """The number of elements, a tensor."""
        return self.arrays[0].size()

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        leaves, structure = nest.flatten_with_structure(value)
        if structure != self.structure:
            raise TypeError(
                f"the elements of the list {self.name!r} must have the same structure in a loop on tensors: "
                f"appended was {nest.describe(value)}"
            )
        index = self.length
        for position, (array, leaf) in enumerate(zip(self.arrays, leaves, strict=True)):
            self._check(array, leaf)
            self.arrays[position] = array.write(index, leaf)

    def _check(self, array: TensorArray, leaf: Any) -> None:
        shape = convert_to_tensor(leaf).shape
        if not shape.is_compatible_with(array.element_shape):
            raise ValueError(
                f"the elements of the list {self.name!r} must have one shape in a loop on tensors: it holds "
                f"elements of shape {array.element_shape}, appended was one of shape {shape}"
            )

    def extend(self, values: Any) -> None:
        """Append each of some values."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> GrowingList:
        self.extend(values)
        return self

    def pop(self, index: int = -1) -> Any:
        """Take the last element off."""
        if not isinstance(index, int) or index != -1:
            raise TypeError(f"the list {self.name!r} grows in a loop on tensors: only its last element can be popped")
        last = call("subtract", self.length, 1)
        value = self[last]
        rest = call("range", last)
        for position, array in enumerate(self.arrays):
            empty = TensorArray(array.dtype, 0, True, element_shape=array.element_shape)
            self.arrays[position] = empty.unstack(array.gather(rest))
        return value

    def stack(self) -> Any:
        """Return the elements as the rows of a tensor, or of a structure of tensors."""
        return nest.unflatten(self.structure, [array.stack() for array in self.arrays])

    def __autoloop_tensor__(self) -> Tensor:
        if len(self.arrays) != 1:
            raise TypeError(f"the elements of the list {self.name!r} are structures, not tensors")
        return convert_to_tensor(self.arrays[0].stack())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return nest.map_structure(lambda rows: rows[index], self.stack())
        if isinstance(index, int):
            index = call("add", self.length, index) if index < 0 else index
        else:
            index = call("where", call("less", index, 0), call("add", index, self.length), index)
        return nest.unflatten(self.structure, [array.read(index) for array in self.arrays])

    def __len__(self) -> int:
        raise TypeError(f"the length of the list {self.name!r} is a tensor: call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"the list {self.name!r} grows in a loop on tensors: run over it with a `for` statement, or use "
            f"autoloop.stack({self.name})"
        )

    def __repr__(self) -> str:
        return f"<list {self.name!r} of tensors, of unknown length>"


def growing(name: str, elements: Sequence[Any], example: Any) -> GrowingList:
    """Return a growing list that starts with ``elements``; ``example`` is, or holds, such an element."""
    if isinstance(example, GrowingList):
        specs = [(array.dtype, array.element_shape) for array in example.arrays]
        structure = example.structure
    else:
        leaves, structure = nest.flatten_with_structure(example)
        specs = [(tensor.dtype, tensor.shape) for tensor in map(convert_to_tensor, leaves)]
    arrays = [TensorArray(dtype, 0, True, element_shape=shape) for dtype, shape in specs]
    made = GrowingList(name, arrays, structure)
    made.extend(elements)
    return made


def example_of(*lists: Any) -> Any:
    """Return a growing list, or the element that best tells what the elements are: a tensor before a number."""
    for one in lists:
        if isinstance(one, GrowingList):
            return one
    elements = [element for one in lists for element in reversed(one)]
    tensors = [one for one in elements if any(isinstance(leaf, Tensor | np.ndarray) for leaf in nest.flatten(one))]
    return (tensors or elements)[0]


def has_grown(one: Any, other: Any) -> bool:
    """Whether two values of a variable are lists of different, or of unknown, lengths."""
    kinds = (list, GrowingList)
    if type(one) not in kinds or type(other) not in kinds:
        return False
    if type(one) is list and type(other) is list:
        return len(one) != len(other)
    return type(one) is not type(other)


def _children(value: GrowingList) -> tuple[list[Tensor], Any]:
    static = (value.name, value.structure, tuple(_Template(array) for array in value.arrays))
    return [array.flow for array in value.arrays], static


class _Template:
    """A TensorArray without its value; alike if the elements are."""

    def __init__(self, array: TensorArray) -> None:
        self.dtype, self.element_shape = array.dtype, array.element_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Template) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def array(self, flow: Tensor) -> TensorArray:
        return TensorArray(self.dtype, dynamic_size=True, flow=flow, element_shape=self.element_shape)


def _rebuilt(static: Any, flows: Sequence[Any]) -> Any:
    name, structure, templates = static
    if not all(isinstance(flow, Tensor) for flow in flows):
        return list(flows)
    arrays = [template.array(flow) for template, flow in zip(templates, flows, strict=True)]
    if any(flow.node is not None for flow in flows):
        return GrowingList(name, arrays, structure)
    # A result of a run: the caller gets the list that Python would have made.
    count = int(arrays[0].size())
    return [nest.unflatten(structure, [array.read(index) for array in arrays]) for index in range(count)]


nest.register(GrowingList, _children, _rebuilt, composite=True)
