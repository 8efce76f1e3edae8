"""Functions as ONNX models, with loops and branches: what ``onnxruntime`` and others run without Python."""

from __future__ import annotations

from autoloop_runtime.base.doors import listing

from .exporting import export_onnx as export_onnx
from .onnx_refusals import OnnxRefusal as OnnxRefusal

__all__ = ["OnnxRefusal", "export_onnx"]
__dir__ = listing(globals())
