"""Saying no: what ONNX has no words for, and where in the user's program that stands."""

from __future__ import annotations

from typing import NoReturn

from autoloop_runtime.ir.graph import Node


class OnnxRefusal(NotImplementedError):
    """A function that ``export_onnx`` does not take; the message names the operation and the user's line."""


def refuse(node: Node | None, why: str) -> NoReturn:
    """Raise the refusal of ``node``, or of the function as a whole."""
    if node is None:
        raise OnnxRefusal(f"export_onnx cannot take this function: {why} [AL753]")
    where = f" at {node.location[-1]}" if node.location else ""
    raise OnnxRefusal(f"export_onnx cannot take the operation {node.name!r} ({node.op.name}){where}: {why} [AL753]")
