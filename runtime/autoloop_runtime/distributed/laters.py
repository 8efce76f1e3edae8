"""A value that a run has made of collections of Dask: it may be computed yet, or not."""

from __future__ import annotations

from typing import Any


class Later:
    """One value of a run; tokens carry it in place of the collection, which changes when it is sent to be computed.

    Attributes
    ----------
    collection : Collection
        What Dask has of it: lazy until it is sent, then one whose parts are futures, or there.
    is_due : bool
        It is handed to the next iteration of a loop, and is to be sent with the next submission.
    is_sent : bool
        It is being computed, or is computed.
    """

    __slots__ = ("collection", "is_due", "is_sent")

    def __init__(self, collection: Any) -> None:
        self.collection = collection
        self.is_due = self.is_sent = False

    @property
    def dtype(self) -> Any:
        """Return the dtype that the collection says it has."""
        return self.collection.dtype

    @property
    def shape(self) -> Any:
        """Return the shape that the collection says it has."""
        return self.collection.shape


def is_collection(value: Any) -> bool:
    """Return whether a value is one of Dask's collections; what has no graph yet is none."""
    return hasattr(type(value), "__dask_graph__")


def wrapped(value: Any) -> Any:
    """Return what a token carries for a value."""
    return Later(value) if is_collection(value) else value


def unwrapped(value: Any) -> Any:
    """Return the value that a token carries."""
    return value.collection if type(value) is Later else value
