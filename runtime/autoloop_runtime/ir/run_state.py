"""What a run carries beside its tensors: where variables keep their values, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..base.forks import Kind

_STORAGE = Kind("Storage.lock", "the value is replaced as a whole")
_STATE = Kind("SessionState.lock", "entries are complete when they are added")


class Storage:
    """The place of one variable's value.

    ``lock`` guards every change; a plain read of ``value`` is one reference load and takes no lock. ``changes`` counts
    them: a signal handler, which is on the same thread and so is not kept out, may change it between a read and the
    write that rests on it.
    """

    __slots__ = ("changes", "lock", "value")

    def __init__(self, value: Any = None) -> None:
        self.lock = _STORAGE.lock()
        self.value = value
        self.changes = 0

    def put(self, value: Any) -> None:
        """Change the value."""
        with self.lock:
            self.changes += 1
            self.value = value

    def exchange(self, changes: int, value: Any) -> bool:
        """Change the value if there were only so many changes; the caller holds the lock.

        CPython runs signal handlers at calls and jumps back: never between these lines.
        """
        if self.changes == changes:
            self.changes, self.value = changes + 1, value
            return True
        return False


class Stored:
    """What has its value in a storage: a variable. Whoever asks for one needs not load what variables do."""

    own_storage: Storage

    def __autoloop_tensor__(self) -> Any:
        """Return the value as a tensor."""
        raise NotImplementedError


class RunState:
    """The surroundings of a run: eager code and functions use the variables' own storage."""

    __slots__ = ()

    def storage(self, variable: Any) -> Storage:
        """Return the storage of ``variable`` in this run."""
        own: Storage = variable.own_storage
        return own


class HeldState(RunState):
    """Variables as they were: the values that a run found, for another one that is to see the same.

    Attributes
    ----------
    held : mapping
        The tensor that was read of each variable; only what changes none of them may run in it.
    """

    __slots__ = ("_storages", "held")

    def __init__(self, held: Mapping[Any, Any]) -> None:
        self.held = held
        self._storages = {variable: Storage(tensor.value) for variable, tensor in held.items()}

    def storage(self, variable: Any) -> Storage:
        return self._storages[variable]


class SessionState(RunState):
    """Variable values that belong to a session (1.x); ``storages`` is only added to under ``lock``."""

    __slots__ = ("lock", "storages")

    def __init__(self) -> None:
        self.lock = _STATE.lock()
        self.storages: dict[int, tuple[Any, Storage]] = {}

    def storage(self, variable: Any) -> Storage:
        found = self.storages.get(id(variable))
        if found is None:
            with self.lock:
                found = self.storages.setdefault(id(variable), (variable, Storage()))
        return found[1]


class ApartState(RunState):
    """Variables with the values that they have in another state when first asked for: what changes them here changes
    nothing there."""

    __slots__ = ("_other", "_storages")

    def __init__(self, other: RunState) -> None:
        self._other = other
        self._storages: dict[int, tuple[Any, Storage]] = {}

    def storage(self, variable: Any) -> Storage:
        found = self._storages.get(id(variable))
        if found is None:
            value = self._other.storage(variable).value
            found = self._storages.setdefault(id(variable), (variable, Storage(value)))
        return found[1]


class OwnState(RunState):
    """Some variables have their values in this run alone, which makes them; all others where code outside has them."""

    __slots__ = ("_storages",)

    def __init__(self, made: Iterable[Any]) -> None:
        self._storages = {id(variable): Storage() for variable in made}

    def storage(self, variable: Any) -> Storage:
        own = self._storages.get(id(variable))
        return super().storage(variable) if own is None else own


#: state of code that runs outside any session
EAGER = RunState()


class MadeVariables(list[Any]):
    """The variables that a function makes which is traced, each run anew: a record of its graph."""

    def __init__(self, made: Iterable[Any] = ()) -> None:
        super().__init__(made)
        #: what one run has that keeps them where they are for all; empty while it has
        self._turn = [None]

    def copy(self) -> MadeVariables:
        """Return the same variables, for another trace to add to."""
        return MadeVariables(self)

    def run(self, run: Callable[..., list[Any]], values: Sequence[Any]) -> list[Any]:
        """Run what makes them: of several runs at one time each has its own."""
        try:
            turn = self._turn.pop()  # one step: no other thread comes between
        except IndexError:
            return run(values, OwnState(self))
        try:
            return run(values, EAGER)  # what Python is asked for meanwhile sees them, too
        finally:
            self._turn.append(turn)
