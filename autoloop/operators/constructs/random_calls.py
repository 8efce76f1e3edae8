"""Random numbers in converted code: the run asks the generator itself for them, each time and in program order.

A trace only asks a copy, for what kind of numbers there will be, so the generator's stream is advanced as plain Python
would advance it; a global name is looked up by each run. Generators that the traced function makes itself, of a seed,
are asked while tracing, or made by each run where a loop asks them: see ``outside_world``.
"""

from __future__ import annotations

import copy
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import attribute_of, module_of, owner_of
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.apply import apply_several
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.number_operators import as_number
from autoloop_runtime.ir.records import CallRecord, record_call
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, ZeroDimArray, kind_of, marked, number_of
from autoloop_runtime.ops.python_functions import DRAW

from ...conversion.callables import is_users_class, makes_generator
from ...left_to_python import is_followed, leave_unknown
from ..mutation.heap_snapshot import is_random, random_state
from ..mutation.outside_world import leave, made_in, want_of_runs
from ..staging.staged_blocks import in_staged_block
from ..staging.staged_values import is_staged
from .asked_generators import Asked, LentGenerators, Slot, asked_for, hidden_generators, is_found

_NUMBERS = (bool, int, float, complex)
#: what changes its argument
_IN_PLACE = {"shuffle": "assign a permutation instead: x = rng.permutation(x), or random.sample(x, len(x))"}
#: the numbers that stand for staged arguments while a copy is asked: increasing, in (0, 1), equal parts of 1
_EXAMPLES: tuple[Callable[[int, int], float], ...] = (
    lambda place, size: 1 + place, lambda place, size: 0.5 + place / 16, lambda place, size: 1 / max(size, 1),
    lambda place, size: place,
)  # fmt: skip
#: functions of NumPy's that are no methods of its hidden generator -> the methods that they stand for
_FUNCTIONS = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}
#: what runs may make a generator of
_SEEDS = (int, float, str, bytes, np.integer, np.ndarray)


def drawing(f: Any) -> Callable[..., Any] | None:
    """Return what takes the place of a random generator's method, or of what makes one, in a trace; else None."""
    graph = current_graph()
    if graph is None or not graph.root.ordered:
        return None
    f = _method_of(f)
    owner = owner_of(f)
    if owner is None or isinstance(owner, type):
        return _making(f, graph.root) if makes_generator(f) else None
    if not is_random(owner) or is_users_class(type(owner)):
        return None
    if made_in(graph).gives_now(owner):
        return _spawning(f) if f.__name__ == "spawn" else _asking_now(f)
    record_call(graph, CallRecord(f"{type(owner).__name__}.{f.__name__}", None, True))
    asked = asked_for(f, graph.root, sys._getframe(2))
    if not is_found(owner, graph.root):  # code that is not converted has made it, as each call does, or has kept it
        what = "code that is not converted gives a generator of random numbers"
        _refuse(what, f"{what}, which this function asks, but is traced once: hand it over as an argument")
    return lambda *args, **kwargs: _drawn(f, asked, args, kwargs)


def leave_generators(values: Iterable[Any], what: str) -> None:
    """Leave to plain Python who looks at a generator that the run asks: while tracing it stands where it stood before.

    Parameters
    ----------
    values : iterable
        What is looked at.
    what : str
        How, if one of them is such a generator.

    Raises
    ------
    LeftToPython
    TypeError
        Where a graph is needed.
    """
    graph = current_graph()
    if graph is None or not graph.root.ordered:
        return
    made = made_in(graph)
    for value in values:
        if is_random(value) and not (is_users_class(type(value)) or made.gives_now(value)):
            _refuse(what, f"{what}, where the run advances it: use its methods, or numbers that are drawn before")


def note_copied(copies: Iterable[Any]) -> None:
    """Note the copies of generators that the traced function has made, and their children, as of its making."""
    graph, found = current_graph(), [one for one in copies if is_random(one)]
    if found and graph is not None and graph.root.ordered:
        made_in(graph).asked_now.extend(found)
        graph.root.record(LentGenerators).are_copied = True


@contextmanager
def unless_drawn() -> Iterator[None]:
    """Leave to plain Python what code that is not converted has drawn from a hidden generator; that is put back.

    Raises
    ------
    LeftToPython
    TypeError
        Where a graph is needed.
    """
    if not is_followed():
        yield
        return
    before = [(one, random_state(one)) for one in hidden_generators()]
    yield
    for one, state in before:
        if random_state(one) != state:
            (one.setstate if isinstance(one, random.Random) else one.set_state)(state)
            what = "a library's own code draws random numbers"
            _refuse(what, f"{what}: give it a generator, or draw them by np.random or random")


def _method_of(f: Any) -> Any:
    """Return the method behind a function of NumPy's that is none itself."""
    if isinstance(f, types.FunctionType) or module_of(f) != "numpy.random":
        return f  # a function of the user's may be named as one of NumPy's: functools.wraps
    name = _FUNCTIONS.get(attribute_of(f, "__name__", ""))
    method: Any = np.random.rand
    return f if name is None or owner_of(f) is not None else getattr(method.__self__, name)


def _making(f: Any, graph: Graph) -> Callable[..., Any]:
    def made(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if all(one is None for one in given):
            _refuse(
                f"{f.__name__}() takes a fresh seed",
                f"{f.__name__}() takes a fresh seed at each call, but this function is traced once: give a seed, or "
                f"make the generator outside and hand it over as an argument",
            )
        if any(map(is_staged, nest.flatten(given))):
            _refuse(
                f"{f.__name__}() is given a seed that only the run knows",
                f"{f.__name__}() takes no seed that only the run knows: make the generators outside of the function, "
                f"one for each seed, or use autoloop.random.key(seed)",
            )
        generator = f(*args, **kwargs)
        if not any(generator is one for one in given):
            record_call(graph, CallRecord(f"{f.__name__}", None, False))
            _note_made(generator, f, args, kwargs, graph)
        return generator

    return made


def _note_made(generator: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], graph: Graph) -> None:
    """Note a generator of the traced function's, as one that runs make where they shall, and its seed says how."""
    made, given = made_in(graph), nest.flatten((args, kwargs))
    # one that a loop or a map by hand makes, in a graph of its own, begins anew in each iteration
    is_once = current_graph() is graph and not in_staged_block()
    if not (made.by_runs.are_made and is_once and all(isinstance(one, _SEEDS) for one in given)):
        made.asked_now.append(generator)
        return
    now = copy.deepcopy((args, kwargs))
    made.note_for_runs(generator, lambda: f(*now[0], **now[1]))
    graph.record(LentGenerators).slots[id(generator)] = Slot()


def _asking_now(method: Any) -> Callable[..., Any]:
    """Return the method of a generator that is asked while tracing, which runs have to make where only they know what
    it is given."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        if _any_staged((args, kwargs)):
            want_of_runs(method.__self__)
        return method(*args, **kwargs)

    return asked


def _spawning(spawn: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return the method of a generator that the traced function has made; the children are of its making, too."""

    def spawned(*args: Any, **kwargs: Any) -> list[Any]:
        children = spawn(*args, **kwargs)
        note_copied(children)
        return children

    return spawned


def _drawn(method: Any, asked: Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a generator's method will give, as values that the run computes."""
    name, given = method.__name__, [None if is_staged(one) else one for one in nest.flatten((args, kwargs))]
    if name in _IN_PLACE:
        if args and isinstance(args[0], ArrayTracer) and not _any_staged((args[1:], kwargs)):
            return _written(args[0], method, asked, lambda array, ask: ask(array, *args[1:], **kwargs), None, given)
        _refuse(
            f"{name}() changes a list",
            f"{name} changes its argument in place, which a graph cannot follow; {_IN_PLACE[name]}",
        )
    if (out := kwargs.get("out")) is not None:
        others = {key: one for key, one in kwargs.items() if key != "out"}
        if isinstance(out, ArrayTracer) and (permuted := _permutes(name, args, out)) is not None:
            ask_for = lambda array, ask: ask(*permuted(array), out=array, **others)  # noqa: E731
            return _written(out, method, asked, ask_for, out, given)
        _refuse(
            f"{name}() is given the argument 'out'",
            f"{name} does not take the argument 'out' in a traced function; assign the result",
        )
    leaves, structure = nest.flatten_with_structure((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if is_staged(leaf)]
    staged = [leaves[place] for place in places]
    sample = _sample(method, leaves, structure, places)
    inputs = [convert_to_tensor(one) for one in staged]
    numbers, form = nest.flatten_with_structure(sample)
    numbers = [] if sample is None else numbers
    sized = any(one.dtype.kind in "iu" for one in inputs)  # by an argument, perhaps
    kinds = tuple([_Kind.of(one, sized) for one in numbers])
    draw = _draw(method, asked, leaves, structure, places, sample, _check(name, kinds, _is_number(sample)))
    specs = tuple([(kind.dtype, kind.shape) for kind in kinds])
    results = apply_several(DRAW, inputs, {"draw": draw, "specs": specs}, name)
    if sample is None:
        return None
    return nest.unflatten(form, [_kept(result, one, staged) for result, one in zip(results, numbers, strict=True)])


def _any_staged(given: Any) -> bool:
    return any(map(is_staged, nest.flatten(given)))


def _refuse(what: str, message: str, cause: Exception | None = None) -> NoReturn:
    """Leave to plain Python what a run cannot ask for, also in a loop or branch of the graph; refuse it elsewhere."""
    if is_followed() and not in_staged_block():
        leave(what, message)
    leave_unknown(message)
    raise TypeError(coded("AL024", message)) from cause


def _permutes(name: str, args: tuple[Any, ...], out: ArrayTracer) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what makes the arguments of a draw into ``out`` of its memory; None if other staged ones are there."""
    if not _any_staged(args):
        return lambda array: args
    return (lambda array: (array, *args[1:])) if args[0] is out and not _any_staged(args[1:]) else None


def _written(
    array: ArrayTracer, method: Any, asked: Asked, ask: Callable[[Any, Any], Any], result: Any, given: Sequence[Any]
) -> Any:
    """Let the run ask a generator for what an array holds from then on; return ``result``."""
    found = asked.found

    def draw(value: Any) -> tuple[Any, ...]:
        made = np.array(value)
        ask(made, found())
        return (made,)

    asked.name(draw, method, given)
    value = convert_to_tensor(array)
    specs = ((value.dtype, value.shape),)
    (made,) = apply_several(DRAW, [value], {"draw": draw, "specs": specs}, method.__name__)
    array[...] = marked(ArrayTracer, made)
    return result


def _draw(
    method: Any, asked: Asked, leaves: Sequence[Any], structure: Any,
    places: Sequence[int], sample: Any, checked: Callable[[Any], Any],
) -> Callable[..., Any]:  # fmt: skip
    """Return what asks the generator, with the arguments as they are now but for those at ``places``."""
    now = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    args, kwargs = nest.unflatten(structure, now)

    holes = [(place, isinstance(leaves[place], NumberTracer)) for place in places]
    #: whether each argument by place is a leaf, and there are no others
    flat = not kwargs and nest.flatten_with_structure(args)[1] == nest.flatten_with_structure((None,) * len(now))[1]
    found = asked.found

    def with_inputs(*values: Any) -> Any:
        given = list(now)
        for (place, number), value in zip(holes, values):
            given[place] = value.item() if number else value[()]
        if flat:
            return checked(found()(*given))
        positional, named = nest.unflatten(structure, given)
        return checked(found()(*positional, **named))

    def as_written() -> Any:
        return checked(found()(*args, **kwargs))

    if not places and _is_always_new(method.__self__, sample):
        draw = _written_out(f"lambda: ({asked.text}(GIVEN),)", {"asked": asked.word}, args, kwargs)
    elif not places and isinstance(sample, (*_NUMBERS, np.generic)):
        carrier = np.asarray(sample).dtype.type
        words = {"asked": asked.word, "kind": type(sample), "carrier": carrier, "checked": checked}
        text = f"lambda: (carrier(made),) if type(made := {asked.text}(GIVEN)) is kind else checked(made)"
        draw = _written_out(text, words, args, kwargs)
    else:
        draw = with_inputs if places else as_written
    asked.name(draw, method, [None if place in places else one for place, one in enumerate(now)])
    return draw


def _written_out(
    text: str, words: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[[], tuple[Any, ...]]:
    """Return what asks a generator, ``text`` with ``GIVEN`` as the user wrote it: a call by ``*`` and ``**`` takes half
    as long as a short draw."""
    places = [f"given_{k}" for k in range(len(args) + len(kwargs))]
    call = ", ".join(places[: len(args)] + [f"{k}={one}" for k, one in zip(kwargs, places[len(args) :], strict=True)])
    make = eval(f"lambda {', '.join([*words, *places])}: {text.replace('GIVEN', call)}")  # NumPy knows the keywords
    made: Callable[[], tuple[Any, ...]] = make(*words.values(), *args, *kwargs.values())
    return made


def _is_always_new(generator: Any, sample: Any) -> bool:
    """Return whether what is drawn with the same arguments will be a new array like this one: NumPy's generators see to
    that, but for what they pick from an array of arrays; what Python's pick may be the very array they pick from."""
    is_array = type(sample) is np.ndarray and sample.ndim > 0 and sample.base is None
    return is_array and not isinstance(generator, random.Random)


def _sample(method: Any, leaves: Sequence[Any], structure: Any, places: Sequence[int]) -> Any:
    """Return what a copy of the generator gives for arguments like these."""
    first: Exception | None = None
    for example in _EXAMPLES if places else _EXAMPLES[:1]:
        given = list(leaves)
        for order, place in enumerate(places):
            given[place] = _like(leaves[place], example, order)
        args, kwargs = nest.unflatten(structure, given)
        trial = copy.deepcopy(method.__self__)
        try:
            sample = getattr(trial, method.__name__)(*args, **kwargs)
        except Exception as error:
            first = first or error
            continue
        strange = next((one for one in nest.flatten(sample) if not _is_number(one)), None)
        if strange is not None and sample is not None:
            _refuse(
                f"{method.__name__}() gives {type(strange).__name__!r}",
                f"{method.__name__} gives {type(strange).__name__!r}, which a run cannot hand to the rest of a traced "
                f"function; numbers and arrays of numbers can be",
            )
        return sample
    assert first is not None
    if not places:
        raise first
    _refuse(
        f"{method.__name__}() is given what only the run knows",
        f"{method.__name__}: it could not be found out what it gives for staged arguments: {first}",
        first,
    )


def _like(leaf: Any, example: Callable[[int, int], float], order: int) -> Any:
    tensor = convert_to_tensor(leaf)
    known = tensor.constant_value()
    if known is not None:
        return known[()].item() if isinstance(leaf, NumberTracer) else known[()]
    if tensor.shape.rank is None:
        raise TypeError(f"the rank of {tensor.name!r} must be known where random numbers are drawn [AL024]")
    extents = [1 if one is None else one for one in tensor.shape.known]
    number = np.full(extents, example(order, int(np.prod(extents))), tensor.dtype)[()]
    return number.item() if isinstance(leaf, NumberTracer) else number


def _is_number(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biufc"
    return isinstance(value, _NUMBERS)


@dataclass(frozen=True)
class _Kind:
    """What a generator gives: the type, and the dtype and shape as an array."""

    type: type
    dtype: Any
    shape: TensorShape

    @staticmethod
    def of(value: Any, sized: bool) -> _Kind:
        """Return the kind of what was drawn; if ``sized``, its extents may be others the next time."""
        shape = np.shape(value)
        return _Kind(type(value), np.asarray(value).dtype, TensorShape([None] * len(shape) if sized else shape))

    def takes(self, value: Any) -> bool:
        """Return whether a value is of this kind."""
        if type(value) is not self.type:
            return False
        return not isinstance(value, (np.ndarray, np.generic)) or (
            value.dtype == self.dtype and self.shape.matches(value.shape)
        )


def _check(name: str, kinds: Sequence[_Kind], single: bool) -> Callable[[Any], tuple[Any, ...]]:
    """Return what makes a tuple of what was drawn, as arrays of its own, if it is what the trace was made for."""

    def checked(made: Any) -> tuple[Any, ...]:
        if not kinds:
            return ()
        found = [made] if single else nest.flatten(made)
        if len(found) != len(kinds) or not all(map(_Kind.takes, kinds, found)):
            raise TypeError(
                f"{name} gave {_shown([(type(one), np.shape(one)) for one in found])}, but "
                f"{_shown([(kind.type, kind.shape) for kind in kinds])} when traced: let it always give the same kind"
                " [AL024]"
            )
        return tuple([np.array(one, kind.dtype)[()] for one, kind in zip(found, kinds, strict=True)])

    if not single or not issubclass(kinds[0].type, (*_NUMBERS, np.generic)):
        return checked
    kind, carrier = kinds[0].type, kinds[0].dtype.type

    def number_checked(made: Any) -> tuple[Any, ...]:
        return (carrier(made),) if type(made) is kind else checked(made)

    return number_checked


def _shown(kinds: Sequence[tuple[type, Any]]) -> str:
    return ", ".join([f"{kind.__name__} of shape {TensorShape(shape)}" for kind, shape in kinds])


def _kept(result: Tensor, sample: Any, staged: Sequence[Any]) -> Any:
    """Return a result as a value of the kind that the generator gives."""
    if isinstance(sample, _NUMBERS) and not isinstance(sample, np.generic):
        return as_number(result, number_of(staged))
    kind = kind_of(staged, ArrayTracer)
    is_array = kind is ArrayTracer and isinstance(sample, np.ndarray) and not sample.ndim
    return marked(ZeroDimArray if is_array else kind, result)
