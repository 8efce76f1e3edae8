"""The table of primitive operations, filled by the modules of ``ops``.

One ``Op`` is all the system knows of a primitive: how shapes and dtypes follow (``infer``), the NumPy kernel,
the reverse-mode rule and the code template. Nothing here knows tensors or graphs: they are built on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.shapes import TensorShape
from .prices import Price
from .traits import NO_GRADIENT, OPAQUE, UNSTATED, Fails, NoRule, Traits

#: dtype and static shape of one output
Spec = tuple[DType, TensorShape]


@dataclass(frozen=True, eq=False, slots=True)  # slots: all that looks at a graph reads them
class Op:
    """A primitive operation.

    Attributes
    ----------
    name : str
        Unique; nodes are named after it.
    infer : callable
        ``infer(*tensors, **attrs)`` gives the ``(dtype, shape)`` of the output, or a list of them if the op is
        ``several``; called through ``specs``. Raises ``TypeError``/``ValueError`` for inputs that do not fit. It may
        look at ``tensor.dtype``, ``tensor.shape`` and ``tensor.constant_value()`` (an array or ``None``).
    kernel : callable
        ``kernel(*arrays, **attrs)`` gives an ndarray or NumPy scalar, or a tuple of them if the op is ``several``;
        ``results`` reads what it gave. It must not change its inputs. Ops with ``stateful=True`` take the run's state
        as a keyword ``state``.
    vjp : callable or NoRule
        ``vjp(g, outputs, inputs, attrs)`` gives one Tensor or ``None`` (no gradient) per input, built with the
        public functions so that it can be differentiated again. ``g`` is the gradient of the output, or if the op
        is ``several`` a list of them (``None`` where there is none); ``outputs`` and ``inputs`` are sequences of
        the node's tensors, without effect tokens. Or why there is none.
    traits : Traits
        What it states of itself besides; of ops outside the table nothing is known.
    code : str or None
        Template of the generated expression, e.g. ``"{0} + {1}"`` or ``"np.tanh({0})"``, for inputs of the
        dtypes that ``infer`` saw, arrays or NumPy scalars. It may name an input twice and does not put
        brackets around them: put in names, or bracketed expressions. ``None``: the generated code calls the kernel.
    code_of : callable or None
        Instead of ``code``, where it depends on the node: ``code_of(node)`` gives the template, or ``None``.
    callee : str or None
        The attribute that is a function: called with the inputs alone, it gives what the kernel gives.
    scalar : mapping or None
        Dtype kinds of the result -> template for NumPy scalars all round, where it is faster than ``code``. Written
        only where no operand can fail, so it may leave one unevaluated.
    into : str or None
        Template that gives the value of ``code``, to the bit, in the array ``{out}``, which may be one of the inputs if
        the op works element by element. ``{by}`` in it is ``into_by``.
    into_by : callable or None
        A function that ``into`` calls, where NumPy has none that takes the array.
    truth : str or None
        Template in Python's own words, for booleans of which only the truth matters.
    neutral : Neutral or None
        The operand that does nothing.
    undoes_itself : bool
        Twice, it does nothing.
    idempotent : bool
        If its last two operands are one value, it gives that.
    positions : slice or None
        Which inputs are positions: a Python number is as good there as an integer of any dtype. Of an op with the
        attribute ``index``, the inputs of that.
    extents : tuple or None
        Of an op whose result's shape follows from extents: the attribute that holds what is known of them while the
        graph is built, and the position of the input that gives them all, which may be left out.
    numbers : bool
        Of two integers of one dtype, one may be a Python number: ``code`` gives the same, unless both are.
    entries : callable or None
        Of what shapes are computed with: ``entries(node, ask)`` gives what is known of the elements of its result, a
        vector or scalar of integers, of what ``ask(tensor)`` tells of its inputs; see ``ops.extents.known_entries``.
    effect : bool
        The op does something besides computing: it is never pruned from an ordered graph or merged, takes
        an effect token as its last input and gives one as its last output (see ``graph.Graph.token``). The
        kernel sees neither: whoever runs the node strips the one and appends ``np.True_`` as the other.
    taking : Taking or None
        Of an op that copies inputs to change them: how it is computed if nobody else sees those.
    ends_run : bool
        Of an op with an effect: that can be nothing but that the run fails.
    only_looks : bool
        Of an op with an effect: it reads what others change, and changes nothing.
    draws : callable or None
        Of an op with an effect that asks a generator of random numbers, and needs nothing but its inputs for that:
        ``draws(node)()`` notes where the generator stands, and gives what puts it back to there.
    stateful : bool
        The kernel wants the run's state (variable storage, output streams).
    several : bool
        The op has a list of outputs: as many as ``infer`` says for these inputs, one or none included. This alone
        decides how what its kernel gives is read and what its rules are given, never the number of outputs or the
        type of a result.
    strict : bool
        Of an op of one output: its kernel refuses whatever ``infer`` refuses, of the dtypes that its public functions
        give it. What is computed at once is inferred only if that fails, for the words.
    graphs : tuple of str
        Which attributes are graphs (structured nodes only).
    appends : Appending or None
        Of an op that gives its first input with one element more, its third, at the end, where the second says; or
        that does so if the first waits for that.
    llvm : mapping or None
        Of an op that works element by element: kinds of dtype -> its machine code, see ``native``'s ``elementwise_ir``.
    libm : str or None
        The function of the C library that is the whole of its machine code for floats.
    culprit : callable or None
        Of an op that stands for several nodes: ``culprit(error)`` gives the node whose kernel raised ``error`` and the
        loops around it within the op, innermost first, with the iterations they were in.
    stands_for : Graph or None
        Of such an op: the graph of them.
    """

    name: str
    infer: Callable[..., Any]
    kernel: Callable[..., Any]
    vjp: Callable[..., Any] | NoRule | None = None
    code: str | None = None
    effect: bool = False
    stateful: bool = False
    graphs: tuple[str, ...] = ()
    doc: str = ""
    scalar: Mapping[str, str] | None = None
    into: str | None = None
    into_by: Callable[..., Any] | None = None
    culprit: Callable[[BaseException], Any] | None = None
    stands_for: Any = None
    several: bool = False
    strict: bool = False
    appends: Appending | None = None
    llvm: Mapping[str, str] | None = None
    libm: str | None = None
    traits: Traits = UNSTATED
    truth: str | None = None
    neutral: Neutral | None = None
    undoes_itself: bool = False
    idempotent: bool = False
    positions: slice | None = None
    numbers: bool = False
    entries: Callable[..., Any] | None = None
    extents: tuple[str, int] | None = None
    code_of: Callable[[Any], str | None] | None = None
    callee: str | None = None
    taking: Taking | None = None
    ends_run: bool = False
    only_looks: bool = False
    draws: Callable[[Any], Callable[[], Callable[[], None]]] | None = None

    def specs(self, *tensors: Any, **attrs: Any) -> list[Spec]:
        """Return the ``(dtype, shape)`` of each output, without the effect token."""
        inferred = self.infer(*tensors, **attrs)
        if isinstance(inferred, list) != self.several:
            raise self.misdeclared(inferred)
        specs: list[Spec] = inferred if self.several else [inferred]
        return specs

    def template(self, node: Any) -> str | None:
        """Return the template of ``node``, which is of this op; ``None`` where the kernel is called."""
        return self.code if self.code_of is None else self.code_of(node)

    def misdeclared(self, inferred: Any) -> AssertionError:
        """Return what is wrong with an op that infers a list for one output, or one spec for several."""
        declared = "several outputs" if self.several else "one output"
        return AssertionError(f"op {self.name!r} is declared with {declared}, but infers {inferred!r}")

    def results(self, result: Any, count: int) -> tuple[Any, ...]:
        """Return the values of the ``count`` outputs that ``result`` of the kernel stands for."""
        if isinstance(result, tuple) != self.several or (self.several and len(result) != count):
            wanted = f"a tuple of {count}" if self.several else "a value"
            raise AssertionError(f"the kernel of op {self.name!r} must give {wanted}, not {type(result).__name__}")
        return result if self.several else (result,)

    def __repr__(self) -> str:
        return f"Op({self.name})"


#: every primitive by name; written while the ``ops`` modules are imported, read-only afterwards
OPS: dict[str, Op] = {}


@dataclass(frozen=True, eq=False)
class Appending:
    """How a loop may hold what an op appends to.

    Attributes
    ----------
    empty, new : Op
        That of the empty value, and one whose kernel gives, for the attributes of the op, a list that is changed in
        place.
    sources : tuple of Op
        Others whose results may be changed in place.
    waits : bool
        The list says in ``due`` where the next element belongs, and takes it by ``add``; others are left out.
    """

    empty: Op
    new: Op
    sources: tuple[Op, ...] = ()
    waits: bool = False


@dataclass(frozen=True, eq=False)
class Taking:
    """A kernel that writes to inputs.

    Attributes
    ----------
    kernel : callable
        Gives what the kernel of the op gives.
    inputs : tuple of int
        Those that it may write to: nobody else sees them.
    is_update : bool
        There is one, and it is the result.
    beside : bool
        Machine code needs memory of the result's size besides, where the kernel needs none.
    part : Part or None
        What it writes to, where that is a part of the array that can be read on its own: the kernel puts there its
        second input.
    """

    kernel: Callable[..., Any]
    inputs: tuple[int, ...]
    is_update: bool = False
    beside: bool = False
    part: Part | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an array that one op reads and another one writes.

    Attributes
    ----------
    read : Op
        Gives the part, for the attributes of the op that writes it and what follows the array, a view in most cases.
    view : callable
        ``view(array, *inputs, **attrs)`` gives that view, of an array of NumPy's.
    """

    read: Op
    view: Callable[..., Any]


@dataclass(frozen=True)
class Neutral:
    """The operand with which an op of two gives the other one, to the bit.

    Attributes
    ----------
    value : int
        What all its elements are.
    kinds : str
        The dtype kinds for which that holds.
    swaps : bool
        It may be the first operand as well as the second.
    negative_zero : bool or None
        The sign that a zero of a float must have.
    """

    value: int
    kinds: str = "biuf"
    swaps: bool = False
    negative_zero: bool | None = None


#: the public function of a name, for callers below the ``ops`` floor (tensor operators); written while modules are
#: imported
FUNCTIONS: dict[str, Callable[..., Any]] = {}


#: what a row must state -> whether it does
_STATED: dict[str, Callable[[Op], bool]] = {
    "its traits": lambda op: op.traits is not UNSTATED,
    "a gradient rule, NO_GRADIENT or NO_RULE": lambda op: op.vjp is not None,
    "its machine code: llvm, libm or NO_TEMPLATE": lambda op: (
        not op.traits.elementwise or (op.llvm is None) != (op.libm is None)
    ),
}


def register(op: Op) -> Op:
    """Add ``op`` to the table; a name may be used once, and every trait must be stated."""
    if op.name in OPS:
        raise ValueError(f"an op named {op.name!r} exists already")
    missing = next((what for what, states in _STATED.items() if not states(op)), None)
    if missing is not None:
        raise TypeError(f"the row of the op {op.name!r} must state {missing}")
    OPS[op.name] = op
    return op


#: op -> the file of ``native/rules`` with its machine code where that is longer than a template, and with that of its
#: uses on collections that grow; written while modules are imported, read by ``native/writer/registry``
RULE_FILES: dict[Op, str] = {}
GROWING_RULE_FILES: dict[Op, str] = {}


def ruled_in(file: str, *ops: Op, growing: bool = False) -> None:
    """State that the machine code of ``ops`` is written by rules, and which file of ``native/rules`` has them."""
    (GROWING_RULE_FILES if growing else RULE_FILES).update(dict.fromkeys(ops, file))


#: op -> why no other library computes it over arrays of its own; written while modules are imported, read by
#: ``namespaces/foreign_rows``
NUMPYS_ALONE: dict[Op, str] = {}


def numpys_alone(why: str, *ops: Op) -> None:
    """State that ``ops`` are computed over NumPy's arrays alone, and why."""
    NUMPYS_ALONE.update(dict.fromkeys(ops, why))


#: a value, and what stands for one: the ops that every graph is made of
CONST = register(
    Op(
        "Const",
        lambda value: (value.dtype, TensorShape(value.shape)),
        lambda value: value,
        NO_GRADIENT,
        traits=OPAQUE.but(fails=Fails.NEVER, price=Price.NOTHING),
    )
)
PARAMETER = register(
    Op(
        "Placeholder",
        lambda dtype, shape, **_: (dtype, shape),
        lambda **_: None,
        NO_GRADIENT,
        traits=OPAQUE.but(fails=Fails.NEVER, price=Price.NOTHING),
    )
)


def function(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Let the floors below call the public function ``f`` by ``name``."""
    FUNCTIONS[name] = f
    return f


def call(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call the public function registered as ``name``."""
    return FUNCTIONS[name](*args, **kwargs)


class ShownInNotebooks:
    """Notebooks show its objects as the front end has it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(call("html_of", self))


#: kernels may copy what they are given
_MOST_ELEMENTS = 1 << 20


def inferred(op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any], of_arrays: bool) -> list[Any]:
    """Return the ``(dtype, shape)`` of each output; of NumPy's arrays the error is told as NumPy tells it."""
    try:
        return list(op.specs(*inputs, **attrs))
    except ValueError as error:
        if of_arrays:
            _say_as_numpy(op, inputs, attrs, error)
        raise


def _say_as_numpy(op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any], error: ValueError) -> None:
    """Let ``error``, which tells that ``inputs`` do not fit, say what NumPy says of them, if it fails likewise.

    It stays the same object: who handles it looks at where it was raised.

    Parameters
    ----------
    op : Op
    inputs : sequence of Tensor
    attrs : mapping
    error : ValueError
        What the rule of ``op`` has raised.
    """
    if type(error) is not ValueError or op.effect or op.stateful or op.graphs:
        return
    given = []
    for tensor in inputs:
        if not tensor.shape.is_fully_defined() or tensor.dtype.kind not in "biufc":
            return
        value = tensor.constant_value()
        shape = tensor.shape.as_tuple()
        if value is None and np.prod(shape, dtype=float) > _MOST_ELEMENTS:
            return
        given.append(np.broadcast_to(tensor.dtype.type(0), shape) if value is None else value)
    try:
        op.kernel(*given, **attrs)
    except ValueError as theirs:
        if type(theirs) is ValueError:
            error.args = (str(theirs),)
    except Exception:  # of a kernel that asks for more than shapes
        return
