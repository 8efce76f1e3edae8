"""``load``: what was saved, as a decorated function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime.collections.variables import Variable
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.saving.file_form import FilePath
from autoloop_runtime.saving.graph_replay import replayed
from autoloop_runtime.saving.saved_graph import SavedGraph, loaded

from ..call_form import InputForm
from ..function import Function
from ..known_traces import Trace
from ..parameters import Parameters
from .loaded_calls import Constant, SavedCall, matched, read_call, returned
from .tree_form import mapped


def load(path: FilePath, *, executor: str = "auto") -> LoadedFunction:
    """Return a function that was saved.

    Parameters
    ----------
    path : str, path-like or binary file
    executor : {"auto", "dataflow", "sequential", "native"}
        How its graph is run.

    Returns
    -------
    LoadedFunction
        Called as the function was that was saved, with arguments like those that it was saved for: of the same dtypes,
        of shapes that fit, with the same constants. It gives the same results, to the bit.

    Raises
    ------
    LoadError
        If the file is damaged, or is none that ``save`` has written.

    See Also
    --------
    save : Writes such files.

    Notes
    -----
    A file may come from a stranger: nothing in it is code, and all of it is checked before anything is made of it. What
    a call computes, and how long that takes and how much memory, is the author's to say.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()  # or a path
    >>> al.save(lambda x: x * 2, file, np.ones(2))
    >>> file.seek(0)
    0
    >>> al.load(file)(np.array([1.0, 3.0]))
    array([2., 6.])
    """
    return LoadedFunction(loaded(path), executor)


class LoadedFunction(Function):
    """A decorated function that was saved, and loaded.

    Attributes
    ----------
    variables : list of Variable
        Its own, with the values that they had when it was saved.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> al.save(lambda x: x * 2, file, np.ones(2))
    >>> file.seek(0)
    0
    >>> al.load(file).structured_input_signature
    ((TensorSpec(shape=(2,), dtype=float64, name='x'),), {})
    """

    def __init__(self, saved: SavedGraph, executor: str = "auto") -> None:
        self._saved_call = read_call(saved)
        self.variables: list[Variable] = list(saved.variables)
        super().__init__(_restored(saved.graph, self._saved_call), None, False, executor, self._saved_call.name)
        self.needs_graph = True
        self._saved = saved

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments, with a ``TensorSpec`` for each that is an input."""
        return _arguments(self._saved_call, lambda one: one.spec)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Trace:
        """Return the trace for these arguments, by default those that the function was saved for."""
        if not args and not kwargs:
            args, kwargs = self.structured_input_signature
        return super().get_concrete_function(*args, **kwargs)

    @property
    def kind_of_derived(self) -> type[Function]:
        """The class of functions that are made of this one."""
        return Function

    def __reduce__(self) -> Any:
        return _from_bytes, (self._saved.content, self.executor, [one.numpy() for one in self.variables])

    def __deepcopy__(self, memo: Any) -> LoadedFunction:
        make, given = self.__reduce__()
        made: LoadedFunction = make(*given)
        return made

    def __repr__(self) -> str:
        return f"<autoloop.LoadedFunction {self.name} at {id(self):#x}>"


def _from_bytes(content: bytes, executor: str, held: list[Any]) -> LoadedFunction:
    made = LoadedFunction(loaded(content), executor)
    for variable, value in zip(made.variables, held):
        variable.assign(value)
    return made


def _arguments(call: SavedCall, leaf: Callable[[InputForm], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return positional and named arguments, with what ``leaf`` gives for each input."""

    def made(one: Any) -> Any:
        return one.value if type(one) is Constant else leaf(one)

    every = [(name, mapped(tree, made)) for name, tree in call.arguments]
    count = len(every) - len(call.named)
    positional, named = every[:count], every[count:]
    return tuple([one for _, one in positional]), dict(named)


def _restored(graph: Graph, call: SavedCall) -> Callable[..., Any]:
    """Return a Python function that, called while a graph is built, does what was saved."""

    def restored(*args: Any, **kwargs: Any) -> Any:
        into = current_graph()
        assert into is not None
        inputs = matched(call, parameters.named(parameters.bind(args, kwargs)))
        outputs = replayed(graph, [convert_to_tensor(one) for one in inputs], into)
        return returned(call, outputs, inputs)

    restored.__name__ = restored.__qualname__ = call.name
    restored.__signature__ = call.signature  # type: ignore[attr-defined]
    parameters = Parameters(list(call.signature.parameters.values()))
    return restored
