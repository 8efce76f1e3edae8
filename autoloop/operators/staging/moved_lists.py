"""What is left of a Python list whose elements are in a growing list now."""

from __future__ import annotations

from typing import Any, NoReturn

from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called

from ...left_to_python import leave_unknown
from .standins import StandIn


class Moved(StandIn):
    """The one element left in a list that has become a growing list under another name.

    The user may still hold the list itself; nothing that is done with it must pass unnoticed.
    """

    def __init__(self, name: str, grown: Any, holder: list[Any] | None = None) -> None:
        self.name, self.grown, self.holder = name, grown, holder

    def described(self) -> str:
        """Return what messages call it."""
        return f"a list that grows under the name {self.name!r}, whose length only the run tells"

    def leaving(self) -> NoReturn:
        """Raise the error that tells what to do."""
        self.refuse()

    def __repr__(self) -> str:
        return f"<what the list {self.name!r} held>"

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise the error that tells what to do."""
        message = (
            f"this list has grown in a loop or branch on tensors, where it is called {self.name!r}: its elements are "
            f"to be found under that name only; return the list from the function that appends to it, and do not "
            f"keep it under a second name"
        )
        leave_unknown(message)
        raise UnknownWhileTracing(message)  # at the door nobody is left to leave it to

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __contains__ = __index__ = __float__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __autoloop_tensor__ = refuse


@called("list (of which only the run knows what was added)")
class MaybeChanged(Moved):
    """What stands for the elements of a list or dict that may be another one, which has changed."""

    def __init__(self, name: str) -> None:
        super().__init__(name, None)

    def described(self) -> str:
        """Return what messages call it."""
        return f"an element of a list or dict that may be {self.name}, which has changed"

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise the error that tells what to do."""
        message = (
            f"whether this list or dict is {self.name}, which has changed in place, or another one, depends on a loop "
            f"or branch on tensors, or on an index that is one: change a copy"
        )
        leave_unknown(message)
        raise UnknownWhileTracing(message)  # at the door nobody is left to leave it to

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __contains__ = __index__ = __float__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __autoloop_tensor__ = refuse


def refuse_moved(value: Any) -> None:
    """Raise if a value is a list whose elements are now in a growing list, or a container that may have changed."""
    if type(value) in (list, dict) and len(value):
        first = value[0] if type(value) is list else next(iter(value.values()))
        if isinstance(first, Moved):
            first.refuse()
