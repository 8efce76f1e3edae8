"""Sessions: running parts of a 1.x graph by fetching from it and feeding into it.

Nothing in such a graph is ordered but by data and explicit control dependencies; what is not needed for the
fetches does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..base import nest
from ..base.config import check_memory_limit, shows_progress
from ..base.contexts import Entered, Setting
from ..base.dataclass import not_pickled
from ..base.forks import Kind
from ..base.fp_warnings import asked
from ..base.shapes import ShapeLike, TensorShape
from ..collections.variables import Variable
from ..dataflow.compile_dataflow import compile_dataflow, limit_of
from ..ir.argument_types import DTypeLike
from ..ir.graph import Graph, Node, current_graph
from ..ir.run_state import RunState, SessionState
from ..ir.tensor import Tensor
from ..passes.invariant import hoisted
from .fed_values import cast_feed, check_settled, feed_parts
from .runner import later_kernels
from .shown_runs import shown

_implicit: list[Graph] = []  # the graph of 1.x code that names none; a list of at most one, guarded by _implicit_lock
_implicit_lock = Kind("session", "a list of at most one, changed by one call").lock()
_KIND = Kind("Session._lock", "executables are complete when they are added; nobody waits for what another began")
_sessions: ContextVar[tuple[Session, ...]] = ContextVar("autoloop_default_session", default=())


def get_default_graph() -> Graph:
    """Return the innermost default graph, or the implicit one of code that names none (1.x).

    Returns
    -------
    Graph

    Examples
    --------
    >>> isinstance(al.get_default_graph(), al.Graph)
    True
    """
    graph = current_graph()
    if graph is not None:
        return graph
    with _implicit_lock:
        if not _implicit:
            _implicit.append(Graph())
        return _implicit[0]


def reset_default_graph() -> None:
    """Forget the implicit default graph; the next 1.x code starts a new one."""
    with _implicit_lock:
        _implicit.clear()


def get_default_session() -> Session | None:
    """Return the innermost session of a ``with`` statement in this thread."""
    stack = _sessions.get()
    return stack[-1] if stack else None


def leave_default_session(session: Session) -> None:
    """Take the innermost entry of ``session`` from the default sessions of this thread, wherever it stands."""
    stack = _sessions.get()
    if session in stack:
        at = len(stack) - 1 - stack[::-1].index(session)
        _sessions.set(stack[:at] + stack[at + 1 :])


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """Return a tensor of the default graph that must be fed (1.x).

    Parameters
    ----------
    dtype : dtype-like
    shape : shape, optional
        ``None`` where it is not known.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> with al.Graph():
    ...     x = al.placeholder(al.float32, shape=[])
    ...     y = x * 2
    ...     with al.Session() as session:
    ...         print(session.run(y, {x: 3.0}))
    6.0
    """
    from_dtype = np.dtype(dtype)
    return get_default_graph().parameter(from_dtype, TensorShape(shape), name or "Placeholder")


class Session:
    """Runs a graph and keeps the values of its variables.

    Parameters
    ----------
    target : str
        Accepted for compatibility; there is one machine.
    graph : Graph, optional
        By default the default graph.
    memory_limit : int, optional
        How many bytes of arrays the kernels of its runs may fill, all together; see ``config.set_memory_limit``, which
        is what holds by default.

    Notes
    -----
    ``run`` may be called from several threads at once: executables are immutable, their cache is only added to
    under a lock. As a context manager a session makes itself and its graph the default.

    Examples
    --------
    >>> with al.Graph():
    ...     x = al.placeholder(al.float32, shape=[])
    ...     y = x * 2
    ...     with al.Session() as session:
    ...         print(session.run(y, {x: 3.0}))
    6.0
    """

    __reduce__ = not_pickled("a Session is not pickled; send the values that it gives [AL706]")

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None, *, memory_limit: int | None = None
    ) -> None:
        if isinstance(target, Graph):
            graph = target
        self.graph = (graph or get_default_graph()).root
        self._state = SessionState()
        #: guards the next three; ``_executables`` and ``_closed`` are looked at without it: who comes a moment early
        #: makes another executable, or has begun before the session was closed
        self._lock = _KIND.lock()
        self._executables: dict[Any, tuple[Callable[..., list[Any]], tuple[Tensor, ...]]] = {}
        #: what fetching a variable computes that no graph has made, as an operation of ours; made under the lock
        self._reads: dict[Variable, Tensor] = {}
        self._closed = False
        most = check_memory_limit(memory_limit)
        self._memory = None if most is None else limit_of(most)
        self._entered: Entered[Session] = Entered()

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
        *,
        timeout: float | None = None,
        progress: bool | None = None,
    ) -> Any:
        """Compute ``fetches``.

        Parameters
        ----------
        fetches : structure of Tensor, Variable, operation, name or None
            Operations give ``None``, and so does ``None``, which ``gradients`` gives where no path leads; composites (a
            SparseTensor, a TensorArray) one of concrete tensors.
        feed_dict : mapping, optional
            Values for tensors (any tensor, not only placeholders). A composite (a SparseTensor, IndexedSlices) takes
            one of its kind, or a tuple of its parts. Of a constant that became part of the graph (an axis, the
            dense_shape of a SparseTensor) no other value is taken.
        timeout : float, optional
            Seconds after which ``TimeoutError`` is raised.
        options, run_metadata : RunOptions, RunMetadata, optional
            Of ``compat.v1``: what is to be noted of the run, and where; the options may name a time limit, too.
        progress : bool, optional
            Show how far loops are; by default as ``config.show_progress`` says. It needs the extra ``progress``.

        Returns
        -------
        structure of numpy.ndarray
            NumPy scalars for tensors without dimensions.

        Raises
        ------
        RuntimeError
            If the session is closed.
        TypeError
            If something cannot be fetched or fed.
        ValueError
            If a needed placeholder is not fed, or a fed value's shape does not fit.
        """
        is_shown = shows_progress() if progress is None else progress
        resolved, feeds = self._resolve(self._open(fetches)), self._fed(feed_dict)
        if options is None or run_metadata is None:
            return self._run(resolved, feeds, _limit(timeout, options), is_shown)
        return run_metadata.note(options, lambda: self._run(resolved, feeds, _limit(timeout, options), is_shown))

    def __getattr__(self, name: str) -> Any:
        if name in ("partial_run", "partial_run_setup"):
            hint = "run the first fetches, and feed their values to the next run: any tensor can be fed"
            raise AttributeError(f"a Session has no {name}: {hint} [AL912]")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def looked_up(self, fetches: Any, feed_dict: Any = None) -> tuple[list[Tensor], dict[Tensor, Any], RunState]:
        """Return what ``run`` would compute, of what, and where the values of variables are; it runs nothing."""
        return self._resolve(self._open(fetches)).tensors, self._fed(feed_dict), self._state

    def _open(self, fetches: Any) -> Any:
        if self._closed:
            raise RuntimeError("the session is closed [AL504]")
        return fetches

    def _fed(self, feed_dict: Any) -> dict[Tensor, Any]:
        if not isinstance(feed_dict, Mapping | None):
            raise TypeError(f"feed_dict maps tensors to values, got {feed_dict!r} [AL502]")
        return dict([self._feed(*pair) for item in (feed_dict or {}).items() for pair in feed_parts(*item)])

    def _run(
        self, fetches: _Fetches, feeds: dict[Tensor, Any], timeout: float | None, is_shown: bool = False
    ) -> Any:  # fmt: skip
        return fetches.packed(self._compute(fetches.tensors, feeds, timeout, is_shown))

    def _resolve(self, fetches: Any) -> _Fetches:
        leaves, structure = nest.flatten_with_structure(fetches)
        composed = [nest.flatten_with_structure(leaf, expand_composites=True) for leaf in leaves]
        return _Fetches(structure, [(len(parts), form) for parts, form in composed],
                        [self._fetch(part) for parts, _ in composed for part in parts])  # fmt: skip

    def _compute(
        self, tensors: list[Tensor], feeds: dict[Tensor, Any], timeout: float | None, is_shown: bool
    ) -> list[Any]:  # fmt: skip
        if not tensors:
            return []
        is_asked = asked()
        # what tensors depend on never changes, but for promises about their shapes
        key = (tuple(map(id, tensors)), tuple(map(id, feeds)), self.graph.declarations, is_shown, is_asked)
        known = self._executables.get(key)
        if known is None:
            executable = _compiled(self.graph, tensors, list(feeds), is_asked)
            if is_shown:
                executable = shown(executable, self.graph)
            with self._lock:
                if not self._closed:  # by another thread, meanwhile
                    # the tensors are kept, so that no others can have their ids
                    self._executables[key] = executable, (*tensors, *feeds)
        else:
            executable = known[0]
        results: list[Any] = executable(list(feeds.values()), self._state, timeout=timeout, memory=self._memory)
        return results

    def _fetch(self, leaf: Any) -> tuple[Tensor | None, bool]:
        """Return the tensor to compute for one fetch, and whether its value is to be hidden (operations)."""
        if leaf is None:
            return None, True
        if isinstance(leaf, str):
            leaf = self._by_name(leaf)
        if isinstance(leaf, Variable):
            leaf = self._read(leaf)
        if isinstance(leaf, Node):
            self._check_owner(leaf.graph, leaf.name)
            if not leaf.outputs:
                raise TypeError(
                    f"operation {leaf.name!r} has no outputs and no effect: there is nothing to run [AL503]"
                )
            return leaf.outputs[-1], True
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"cannot fetch {leaf!r} of type {type(leaf).__name__}: fetch tensors, variables, operations or names"
                " [AL503]"
            )
        if leaf.graph is not None:
            self._check_owner(leaf.graph, leaf.name)
        return leaf, False

    def _read(self, variable: Variable) -> Tensor:
        """Return the value of ``variable``: one operation however often it is fetched, and by whichever thread."""
        if variable.fetch is not None:
            return variable.fetch
        with self._lock:
            if variable not in self._reads:
                self._reads[variable] = variable.read_in(self.graph)
            return self._reads[variable]

    def _by_name(self, name: str, what: str = "fetch") -> Any:
        try:
            return self.graph.get_tensor_by_name(name) if ":" in name else self.graph.get_operation_by_name(name)
        except KeyError as error:
            raise ValueError(f"cannot {what} {name!r}: {error.args[0]}") from None

    def _check_owner(self, graph: Graph, name: str) -> None:
        if graph is self.graph:
            return
        if graph.root is self.graph:
            raise ValueError(
                f"{name!r} lives inside {graph.prefix!r} and has one value per iteration or none; fetch what the "
                f"loop or conditional returns [AL503]"
            )
        raise ValueError(f"{name!r} belongs to another graph than this session's [AL501]")

    def _feed(self, key: Any, value: Any) -> tuple[Tensor, Any]:
        tensor = self._by_name(key, "feed") if isinstance(key, str) else key
        if not isinstance(tensor, Tensor) or tensor.graph is None:
            raise TypeError(f"the keys of feed_dict are tensors of the graph or their names, not {key!r} [AL502]")
        self._check_owner(tensor.graph, tensor.name)
        if tensor in self.graph.settled:
            check_settled(tensor, value, self.graph.settled[tensor])
        if isinstance(value, Tensor):
            if value.is_symbolic:
                raise TypeError(
                    f"the value fed for {tensor.name!r} is a symbolic tensor; feed arrays or numbers [AL502]"
                )
            value = value.value
        if isinstance(value, np.generic) and value.dtype == tensor.dtype and tensor.shape.matches(()):
            return tensor, value
        array = np.asarray(value)
        if array.dtype != tensor.dtype:
            array = cast_feed(array, tensor, not isinstance(value, (np.ndarray, np.generic)))
        if not tensor.shape.matches(array.shape):
            raise ValueError(
                f"{tensor.name!r} has shape {tensor.shape}, the fed value has shape {TensorShape(array.shape)} [AL502]"
            )
        return tensor, array[()] if array.ndim == 0 else array

    def make_callable(self, fetches: Any, feed_list: Any = ()) -> Any:
        """Return a function of the values of ``feed_list`` that gives ``run(fetches)``."""
        feeds = list(feed_list)
        resolved = self._resolve(fetches)

        def run(*values: Any) -> Any:
            if len(values) != len(feeds):
                raise TypeError(f"{len(feeds)} values are to be fed, {len(values)} were given [AL502]")
            if self._closed:
                raise RuntimeError("the session is closed [AL504]")
            return self._run(resolved, self._fed(dict(zip(feeds, values))), None)

        return run

    def close(self) -> None:
        """Release the variables' values; later runs raise ``RuntimeError``."""
        with self._lock:
            self._closed = True
            self._executables.clear()
            self._reads.clear()
        self._state = SessionState()

    def as_default(self) -> Setting[Session]:
        """Make this the default session (not its graph the default graph)."""
        return Setting(self, (_sessions, (*_sessions.get(), self)))

    def __enter__(self) -> Session:
        both = (*self.graph.as_default().values, *self.as_default().values)
        return self._entered.enter(Setting(self, *both))

    def __exit__(self, *exc: Any) -> None:
        self._entered.leave(*exc)
        if not self._entered:
            self.close()


def _compiled(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor], is_asked: bool
) -> Callable[..., list[Any]]:  # fmt: skip
    """Return what computes ``fetches``; ``is_asked``: floating-point errors are, so each operation may fail, and stays
    where it is."""
    made, ends = (graph, [*fetches, *feeds]) if is_asked else hoisted(graph, fetches, feeds)
    return compile_dataflow(made, ends[: len(fetches)], ends[len(fetches) :], later_kernels)


class _Fetches:
    """What is to be fetched, found in the graph; immutable.

    Attributes
    ----------
    tensors : list of Tensor
        What must be computed, each once.
    """

    __slots__ = ("_composed", "_places", "_structure", "tensors")

    def __init__(
        self, structure: Any, composed: list[tuple[int, Any]], resolved: list[tuple[Tensor | None, bool]]
    ) -> None:
        self._structure = structure
        #: per leaf: the number of its tensors, and how they make it
        self._composed = composed
        self.tensors = list(dict.fromkeys([t for t, _ in resolved if t is not None and t.is_symbolic]))
        numbers = {t: i for i, t in enumerate(self.tensors)}
        #: per tensor: where its value is among those computed, or -1 and the value that is known
        self._places = [(-1, None) if t is None or hidden else (numbers[t], None) if t.is_symbolic else (-1, t.value)
                        for t, hidden in resolved]  # fmt: skip

    def packed(self, values: list[Any]) -> Any:
        """Return the result, of the values of ``tensors``."""
        found = iter([_as_result(known if place < 0 else values[place]) for place, known in self._places])
        # the parts of a composite are tensors, as they are in any other composite
        made = [next(found) if form.is_leaf() else nest.unflatten(form, [Tensor(next(found)) for _ in range(count)])
                for count, form in self._composed]  # fmt: skip
        return nest.unflatten(self._structure, made)


def _as_result(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value[()] if value.ndim == 0 else np.array(value)
    return value


def _limit(timeout: float | None, options: Any) -> float | None:
    """Return the time limit in seconds: the argument, or what the options say (milliseconds, 0: none)."""
    own = getattr(options, "timeout_in_ms", 0)
    return own / 1000 if timeout is None and own else timeout


def _session(session: Any, what: str) -> Session:
    found = session or get_default_session()
    if found is None:
        raise ValueError(f"{what} needs a session: use it inside 'with Session():' or pass session= [AL504]")
    assert isinstance(found, Session)
    return found


def evaluated(value: Tensor | Variable, feed_dict: Any, session: Any) -> Any:
    """Return what ``value.eval(feed_dict, session)`` gives."""
    if isinstance(value, Tensor) and not value.is_symbolic:
        return value.numpy()
    return _session(session, f"{type(value).__name__}.eval()").run(value, feed_dict)


def run_operation(node: Node, feed_dict: Any, session: Any) -> None:
    """Run an operation as ``node.run(feed_dict, session)`` does."""
    _session(session, "Operation.run()").run(node, feed_dict)
