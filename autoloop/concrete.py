"""One trace of a function: the graph, what runs it, and how its results are handed back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.dtypes import is_own
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.fp_warnings import asked, is_asked, is_hunted, restore, setting, silence
from autoloop_runtime.ir.array_views import dense_strides
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.followers import is_followed
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.plain_values import plain_array, plain_lying, plain_number, plain_read_only, plain_zero_dim
from autoloop_runtime.ir.run_state import EAGER, MadeVariables, Stored
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    TextTracer,
    ZeroDimArray,
    own_kind,
)
from autoloop_runtime.running.prepare import prepare, run_graph, set_outputs, wrap

from .parameters import CalledAs
from .returned_views import SharedMemory, may_share, set_apart
from .sent_by_name import NeverSent

if TYPE_CHECKING:
    from autoloop_runtime.running.runner import Runner

    from .asked_errors import Heeded
    from .fresh_results import FreshResults
    from .told_results import ToldResults


#: values of Python's of which a call gives the same at each time
_CONSTANTS = (bool, int, float, complex, str, type(None))
#: an output and what makes of it what the caller gets, or None and a constant
Leaves: TypeAlias = "Sequence[tuple[Tensor | None, Any]]"


class CalledPlain(Exception):
    """A call has to be one of the undecorated function; its cause is what the decorated one has raised, if it has.

    Attributes
    ----------
    watched : callable
        Gives a context manager in which that function is called.
    """

    def __init__(self, watched: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        super().__init__()
        self.watched = watched


@contextmanager
def in_place_of_run(told: Callable[[float], None]) -> Iterator[None]:
    """Let the undecorated function be called in the place of a run: floating-point warnings are as quiet as in one, and
    it is told how many seconds it took."""
    before = setting()
    begin = perf_counter()
    try:
        silence()
        yield
    finally:
        restore(before)
        told(perf_counter() - begin)


#: whether who calls a trace has nothing else to call
_ALONE: ContextVar[bool] = ContextVar("autoloop_alone", default=False)


def alone() -> Setting[None]:
    """Return a context manager in which a trace is run although plain Python might: it is called itself."""
    return Setting(None, (_ALONE, True))


def leave_unknown_errors(trace: ConcreteFunction) -> None:
    """Let plain Python run what asks for silence in parts of it, or had errors that are asked for while traced.

    Raises
    ------
    CalledPlain
    """
    if not trace.graph.is_silenced and not is_asked(trace.graph.errors_while_traced):
        return
    if not _ALONE.get():
        raise CalledPlain
    raise CalledPlain from TypeError(
        f"{trace.name}: the floating-point errors that np.errstate or np.seterr ask for are not all the graph's: call "
        f"the function itself, which is plain Python then [AL010]"
    )


def leave_if_asked(trace: Any, values: Sequence[Any]) -> None:
    """Let plain Python run a call that asks for floating-point errors, see ``asked_errors``, where it does the same.

    Raises
    ------
    CalledPlain
    """
    if asked() and trace.is_alike and not is_hunted():
        _heeded(trace if isinstance(trace, ConcreteFunction) else trace.newest).begin(values)


def _heeded(trace: ConcreteFunction) -> Heeded:
    if trace.heeded is None:
        with undivided():
            from .asked_errors import Heeded

        trace.heeded = Heeded(trace, CalledPlain)
    return trace.heeded


def _asked(trace: ConcreteFunction) -> Runner | Heeded:
    """Return what runs a call that asks for floating-point errors, or leaves it to plain Python."""
    is_graphs = (_ALONE.get() or not trace.is_alike) and not is_hunted()
    return trace.checked_runner if is_graphs else _heeded(trace)


class ConcreteFunction(CalledAs, NeverSent):
    """One trace of a function: a graph, and how arguments and results map to it.

    Attributes
    ----------
    graph : Graph
        The structured graph as traced.
    structured_outputs
        The value the Python function gave, symbolic tensors included.
    runner : Runner
        What runs it.
    places : sequence of (str, str)
        What it depends on besides its arguments, or changes, and how.
    of_arrays : collection of int
        The inputs that are the caller's arrays.

    Parameters
    ----------
    written : sequence of (int, Tensor)
        Which inputs are written to, and what a run gives besides the results: what they hold in the end.
    shared : collection of int
        Leaves of the result that are memory of the caller's: no run computes them.
    told : ToldResults, optional
        Those of which each run says which array they are.

    Examples
    --------
    >>> square = al.function(lambda x: x * x).get_concrete_function(al.TensorSpec([], al.float32))
    >>> print(square(al.constant(3.0)))
    Tensor(9.0, shape=(), dtype=float32)
    """

    of_arrays: Collection[int] = ()
    weight = 1  # how much it takes to trace it, for what it may save
    is_alike = False  # the undecorated function does the same, but for what is called once, while tracing
    may_be_plain = False  # calls may be of the undecorated function where that is faster
    heeded: Heeded | None = None  # of calls that ask for floating-point errors, made by the first

    def __init__(
        self, name: str, graph: Graph, value: Any, executor: str, written: Sequence[tuple[int, Tensor]] = (),
        shared: Collection[int] = (), told: ToldResults | None = None,
    ) -> None:  # fmt: skip
        self.name, self.graph = name, graph
        self.places: Sequence[tuple[str, str]] = ()
        self.structured_outputs = value
        leaves, self._structure = nest.flatten_with_structure(value, expand_composites=True)
        tensors: list[Tensor] = []
        kinds: list[Kind] = []
        made: list[Any] = []
        # per leaf of the result: a Python value to hand back as it is, or None and the next output
        self._fixed: list[tuple[bool, Any]] = []
        memory = SharedMemory(leaves if graph.theirs is None else (), shared)
        with graph.as_default():
            for place, leaf in enumerate(leaves):
                if place in shared or place in memory.first:
                    self._fixed.append((True, None))
                elif isinstance(leaf, (Tensor, Stored)):
                    tensor = convert_to_tensor(leaf)
                    tensors.append(tensor if graph.theirs is None else graph.theirs.as_result(leaf, tensor))
                    kinds.append(own_kind(leaf))
                    made.append(leaf)
                    self._fixed.append((False, None))
                else:
                    self._fixed.append((True, leaf))
            whole = {place: k for k, place in enumerate(p for p, (fixed, _) in enumerate(self._fixed) if not fixed)}
            for place, base in memory.bases.items():
                whole[place] = len(tensors)
                tensors.append(convert_to_tensor(base))
                kinds.append(ArrayTracer if base.shape.rank != 0 else ZeroDimArray)
                made.append(None)
        #: leaves that are views of outputs, or the outputs themselves again
        self._views = memory.returned(whole)
        self._shared_places = shared
        self._only_outputs = len(tensors) == len(leaves)
        #: which of the others are made anew at each call
        self.fresh: FreshResults | None = None
        #: what makes of each output what the caller gets, see ``_HANDED``
        self._handed = _all_handed(graph.theirs, kinds, made, tensors, value)
        #: the same of outputs whose elements are in C order
        self._handed_in_order = list(map(_handed_in_order, kinds, made))
        #: the outputs that are arrays of the caller's, or lists, and what of
        self._arrays = [(k, id(t)) for k, (kind, t) in enumerate(zip(kinds, tensors)) if may_share(kind, t)]
        self.has_tensors = DecidedNumber in kinds  # or among inputs: plain Python gives numbers where these decide
        self._told = told
        codes = [] if told is None else told.codes  # outputs that say which arrays results are
        self._codes = slice(len(tensors), len(tensors) + len(codes))
        set_outputs(graph, [*tensors, *codes, *[tensor for _, tensor in written]])
        #: which inputs are written to -> the output that they hold in the end
        self._donated = {position: self._codes.stop + k for k, (position, _) in enumerate(written)}
        single = len(leaves) == 1 and self._structure.is_leaf() and not self._fixed[0][0]
        #: what makes of the only output what the caller gets; None if there is more to do
        self._single = self._handed[0] if single else None
        graph.ended = True  # a tensor kept from the trace is refused later instead of growing a graph nobody runs
        self.runner: Runner = prepare(graph, executor, self._donated)
        self._variables: MadeVariables | None = graph.records.get(MadeVariables)
        self._checked: Runner | None = None  # made when it is needed; races make it twice

    @property
    def checked_runner(self) -> Runner:
        """What computes one operation at a time, with NumPy's own functions: floating-point errors are asked for."""
        leave_unknown_errors(self)
        if self._checked is None:
            self._checked = prepare(self.graph, "dataflow", self._donated)
        return self._checked

    @property
    def counted(self) -> int:
        """How many outputs there are, without what is given for an effect."""
        return self._codes.stop + len(self._donated)

    def leaves_alone(self, are_new: bool) -> tuple[Leaves, type | None] | None:
        """Return what the result is a tuple or list of, or what it is alone (None): outputs, with what makes of each
        what the caller gets, and None with a constant of Python's; None where there is more to it.

        *Are they new*, each in memory of its own and in C order, or could they be parts of one array?
        """
        is_more = self._told is not None or self._views or self.fresh is not None or self._shared_places
        if is_more or not isinstance(self._structure, nest.Flat):
            return None
        if any(is_fixed and type(value) not in _CONSTANTS for is_fixed, value in self._fixed):
            return None
        if not are_new and len({tensor for _, tensor in self._arrays}) > 1:
            return None
        outputs = iter(zip(self.graph.outputs, self._handed_in_order if are_new else self._handed))
        return [(None, value) if is_fixed else next(outputs) for is_fixed, value in self._fixed], self._structure.type

    @property
    def sharing(self) -> Any:
        """Which results are views of outputs, which are made anew, and what tells those that a run tells, or None."""
        return self._views, self.fresh, self._told

    @property
    def alone(self) -> ConcreteFunction:
        """This, which needs nothing of the world."""
        return self

    @property
    def written(self) -> list[int]:
        """Which inputs are written to."""
        return list(self._donated)

    @property
    def inputs(self) -> list[Tensor]:
        """The parameters of the graph."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The result tensors of the graph."""
        return [t for (fixed, _), t in zip((f for f in self._fixed if not f[0]), self.graph.outputs)]

    @property
    def may_be_left(self) -> bool:
        """Whether plain Python may run a call from its beginning that a run has begun: nobody notices that."""
        return not (self._donated or self.has_tensors) and (self.runner.may_repeat or bool(self.runner.noting))

    def results(self, values: list[Any]) -> list[Any]:
        """Return what a run on raw values gives; ``CalledPlain`` if it has shown that plain Python has to do it."""
        has_turns = self.may_be_plain and not _ALONE.get()
        if has_turns and (told := self.runner.plain_turn(values)) is not None and not asked():
            raise CalledPlain(partial(in_place_of_run, told))
        put_back = self.runner.noted()
        try:
            run = (_asked(self) if asked() else self.runner).run
            return run(values, EAGER) if self._variables is None else self._variables.run(run, values)
        except CalledPlain:
            raise
        except Exception as error:
            with undivided():
                from .retold_errors import in_plain_words
            if (plain := in_plain_words(self, error)) is None:
                raise
            put_back()
            raise CalledPlain(plain) from error

    def run(self, values: list[Any], arrays: Sequence[np.ndarray[Any, Any]] = (), call: tuple[Any, ...] = ()) -> Any:
        """Run on raw values; results are copied where they share memory with the caller's ``arrays``."""
        return self.given(self.results(values), values, arrays)

    def given(self, results: Sequence[Any], values: Sequence[Any], arrays: Sequence[np.ndarray[Any, Any]] = ()) -> Any:
        """Return what the caller gets of what a run on ``values`` has given; copies of what lies in the caller's
        ``arrays``."""
        if self._single is not None and self._told is not None:
            found = self._told.input_of(results[self._codes], values)
            if found is not None:
                return found
        if arrays:
            results = [own(r, arrays) for r in results]
        if self._single is not None:
            return self._single(results[0])
        given = [handed(result) for handed, result in zip(self._handed, results)]
        return self._packed(given, values, results[self._codes])

    def run_recorded(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        """Run on tensors and arrays while somebody records; return the result, and what it is as the caller's kinds.

        In the first, what comes of a value that is being differentiated is a tensor: an array would end the derivative
        without a word.
        """
        runner = self.checked_runner if asked() else self.runner
        return self._recorded(run_graph(self.graph, runner, [convert_to_tensor(leaf) for leaf in leaves]), leaves)

    def _recorded(self, results: Sequence[Tensor], values: Sequence[Any]) -> tuple[Any, Any]:
        """Return what is made of tensors, and of the inputs, and what would be if nobody followed the tensors."""
        made, codes = results[: len(self._handed)], [t.value for t in results[self._codes]]
        plain = [t if handed is wrap else handed(t.value) for t, handed in zip(made, self._handed)]
        followed = [t if is_followed(t) else one for t, one in zip(made, plain)]
        result = self._packed(plain, values, codes)
        return (result if all(map(operator.is_, followed, plain)) else self._packed(followed, values, codes)), result

    def _shared(self, values: Sequence[Any]) -> Mapping[int, Any]:
        """Return the leaves that are memory of the caller's."""
        return MappingProxyType({})

    def _packed(self, given: list[Any], values: Sequence[Any], codes: Sequence[Any]) -> Any:
        if len(self._arrays) > 1:
            set_apart(given, self._arrays)
        if self._only_outputs and self._told is None:
            return nest.unflatten(self._structure, given)
        made = iter(given)
        leaves = [v if fixed else next(made) for fixed, v in self._fixed]
        for place, array in self._shared(values).items():
            leaves[place] = array
        for same in self._views:
            array = same[0].of(given[same[0].position])
            for one in same:
                leaves[one.place] = array
        if self._told is not None:
            self._told.put_into(leaves, values, codes)
        if self.fresh is not None:
            self.fresh.put_into(leaves)
        return nest.unflatten(self._structure, leaves)

    def __call__(self, *args: Any) -> Any:
        """Call with one value per graph input."""
        if len(args) != (count := len(self.graph.inputs)):
            raise TypeError(f"{self.name} takes {count} tensors, got {len(args)} [AL013]")
        values = taken(self, args)
        for value, parameter in zip(values, self.graph.inputs):
            if not parameter.shape.matches(value.shape):
                raise ValueError(f"{self.name}: {parameter.name} has shape {parameter.shape}, got {value.shape}")
        try:
            with alone():
                return self.run(values, [v for v in values if isinstance(v, np.ndarray)])
        except CalledPlain as plain:
            raise plain.__cause__ or plain from None

    @property
    def values(self) -> list[Any]:
        """The leaves of the result that no run computes, None for the others."""
        return [value for _, value in self._fixed]

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}({', '.join(f'{t.dtype}{t.shape}' for t in self.graph.inputs)})>"


def taken(concrete: ConcreteFunction, given: Sequence[Any]) -> list[Any]:
    """Return the values of inputs: the caller's arrays themselves, which results may be and a run may write to."""
    return [
        value
        if k in concrete.of_arrays and _is_array_of(value, one, concrete.graph.theirs)
        else convert_to_tensor(value, one.dtype).value
        for k, (value, one) in enumerate(zip(given, concrete.graph.inputs))
    ]


def _is_array_of(value: Any, parameter: Tensor, theirs: Any) -> bool:
    """Return whether a value is an array that can be given for an input as it is."""
    if theirs is not None and theirs.namespace.holds(value):
        return bool(theirs.namespace.spec(value)[0] == parameter.dtype)
    return type(value) is np.ndarray and value.ndim > 0 and value.dtype == parameter.dtype and is_own(value.dtype)


#: kind of a result -> what the caller gets of what a run gives
_HANDED: dict[Kind, Callable[[Any], Any]] = {
    Tensor: wrap, DecidedNumber: wrap, ArrayTracer: plain_array, NumberTracer: plain_number,
    ZeroDimArray: plain_zero_dim, TextTracer: plain_array,
}  # fmt: skip


def _handed(kind: Kind, leaf: Any) -> Callable[[Any], Any]:
    """Return what makes of an output what the caller gets as a leaf of the result."""
    plain = _handed_anyhow(kind, leaf)
    lies = None if leaf is None or kind not in (ArrayTracer, ZeroDimArray) else dense_strides(leaf)
    return plain if lies is None else plain_lying(lies, plain)


def _all_handed(theirs: Any, kinds: Sequence[Kind], leaves: Sequence[Any], *given: Any) -> list[Callable[[Any], Any]]:
    """Return what makes of outputs what the caller gets; of a graph that runs over arrays of another library, too."""
    if theirs is None:
        return list(map(_handed, kinds, leaves))
    with undivided():
        from .foreign_results import all_handed
    return all_handed(theirs, kinds, [_HANDED[kind] for kind in kinds], leaves, *given)


def _handed_anyhow(kind: Kind, leaf: Any) -> Callable[[Any], Any]:
    """Return the same but for the order of its elements."""
    if leaf is None or kind not in (ArrayTracer, ZeroDimArray) or leaf.is_writeable:
        return _HANDED[kind]
    return plain_read_only


def _handed_in_order(kind: Kind, leaf: Any) -> Callable[[Any], Any]:
    """Return the same of an output whose elements are in C order."""
    is_so = not isinstance(leaf, ArrayTracer) or leaf.layout is None or leaf.layout.flags.c_contiguous
    return (_handed_anyhow if is_so else _handed)(kind, leaf)


def own(value: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    """Return ``value``, or a copy if it could change with one of the caller's arrays."""
    if not isinstance(value, np.ndarray):
        return value
    own = value.base is None  # then only the very same array shares its memory
    is_shared = any(value is array or (not own and np.may_share_memory(value, array)) for array in arrays)
    return value.copy() if is_shared else value
