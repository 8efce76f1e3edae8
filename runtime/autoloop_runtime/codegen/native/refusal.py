"""Saying no: what machine code is not made for, and where in the user's program that stands."""

from __future__ import annotations

from typing import NoReturn

from ...graph import Node


class NativeRefusal(NotImplementedError):
    """A graph that ``executor="native"`` does not take; the message names the operation and the user's line."""


def refusal(node: Node, why: str) -> NativeRefusal:
    """The refusal of ``node``."""
    where = f" at {node.location[-1]}" if node.location else ""
    return NativeRefusal(
        f"executor='native' cannot take the operation {node.name!r} ({node.op.name}){where}: {why}; "
        f"use executor='auto' or 'sequential'"
    )


def refuse(node: Node | None, why: str) -> NoReturn:
    """Raise a ``NativeRefusal`` about ``node``."""
    if node is None:
        raise NativeRefusal(f"executor='native' cannot run this function: {why}")
    raise refusal(node, why)
