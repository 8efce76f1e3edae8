"""Saying no: what machine code is not made for, and where in the user's program that stands."""

from __future__ import annotations

from typing import NoReturn

from ...ir.graph import Node


class NativeRefusal(NotImplementedError):
    """A graph that ``executor="native"`` does not take; the message names the operation and the user's line.

    Attributes
    ----------
    told : str
        The same without advice.
    """

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told or message


def refusal(node: Node, why: str) -> NativeRefusal:
    """Return the refusal of ``node``."""
    where = f" at {node.location[-1]}" if node.location else ""
    told = f"cannot take the operation {node.name!r} ({node.op.name}){where}: {why}"
    return NativeRefusal(f"executor='native' {told}; use executor='auto' or 'sequential' [AL602]", told)


def refuse(node: Node | None, why: str) -> NoReturn:
    """Raise a ``NativeRefusal`` about ``node``."""
    if node is None:
        told = f"cannot run this function: {why}"
        raise NativeRefusal(f"executor='native' {told} [AL602]", told)
    raise refusal(node, why)
