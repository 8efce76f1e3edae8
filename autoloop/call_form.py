"""How a trace was called: what its arguments were, of which it keeps no values but those that are part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec

from .keys import Number, is_input
from .parameters import Parameters


@dataclass(frozen=True, eq=False)
class InputForm:
    """One argument that is an input of a graph.

    Attributes
    ----------
    position : int
        Which input.
    kind : str
        What the function takes it for: ``"tensor"``, ``"array"``, ``"array without axes"``, ``"number"``.
    spec : TensorSpec
        What is known of it.
    """

    position: int
    kind: str
    spec: TensorSpec


def kind_of_argument(leaf: Any) -> str:
    """Return what a function takes an argument for that is an input of its graph."""
    if issubclass(type(leaf), Number):
        return "number"
    if isinstance(leaf, np.ndarray) and not leaf.ndim:
        return "array without axes"
    return "array" if isinstance(leaf, (np.ndarray, np.generic)) else "tensor"


@dataclass(frozen=True, eq=False)
class CallForm:
    """The arguments of a trace.

    Attributes
    ----------
    parameters : Parameters
        Those of the function.
    structure : object
        The structure of a call in canonical form.
    leaves : list
        What stands there: ``InputForm``, or the value that is a constant of the trace.
    """

    parameters: Parameters
    structure: Any
    leaves: list[Any]

    @property
    def call(self) -> tuple[Any, ...]:
        """The call in canonical form."""
        made: tuple[Any, ...] = nest.unflatten(self.structure, self.leaves)
        return made

    @property
    def inputs(self) -> list[InputForm]:
        """The arguments that are inputs, in their order."""
        return [leaf for leaf in self.leaves if type(leaf) is InputForm]

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments, with a ``TensorSpec`` for each that is an input."""
        specs = [leaf.spec if type(leaf) is InputForm else leaf for leaf in self.leaves]
        return self.parameters.split(nest.unflatten(self.structure, specs))


def form_of_call(
    parameters: Parameters, call: tuple[Any, ...], taken: Sequence[Any], inputs: Sequence[Tensor]
) -> CallForm:
    """Return how a trace was called whose graph has these inputs, the arguments first.

    Parameters
    ----------
    parameters : Parameters
    call : tuple
        The arguments in canonical form.
    taken : sequence
        The leaves of it, as the trace takes them.
    inputs : sequence of Tensor
    """
    given, structure = nest.flatten_with_structure(call, expand_composites=True)
    made: list[Any] = []
    position = 0
    for leaf, one, name in zip(given, taken, parameters.leaf_names(call)):
        if is_input(one):
            tensor = inputs[position]
            kind = kind_of_argument(one if type(one) is Number else leaf)
            made.append(InputForm(position, kind, TensorSpec(tensor.shape, tensor.dtype, name)))
            position += 1
        else:
            made.append(one)
    return CallForm(parameters, structure, made)
