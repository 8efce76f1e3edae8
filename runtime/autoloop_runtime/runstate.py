"""What a run carries beside its tensors: where variables keep their values, and how long it may take."""

from __future__ import annotations

from typing import Any

from .forks import Kind

_STORAGE = Kind("Storage.lock", "the value is replaced as a whole")
_STATE = Kind("SessionState.lock", "entries are complete when they are added")


class Storage:
    """The place of one variable's value.

    ``lock`` guards read-modify-write (``assign_add``); a plain read or assignment of ``value`` is one
    reference load or store and takes no lock.
    """

    __slots__ = ("lock", "value")

    def __init__(self, value: Any = None) -> None:
        self.lock = _STORAGE.lock()
        self.value = value


class RunState:
    """The surroundings of a run: eager code and functions use the variables' own storage."""

    __slots__ = ()

    def storage(self, variable: Any) -> Storage:
        """The storage of ``variable`` in this run."""
        own: Storage = variable.own_storage
        return own


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


#: state of code that runs outside any session
EAGER = RunState()
