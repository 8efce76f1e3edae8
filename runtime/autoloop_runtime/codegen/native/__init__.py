"""Machine code: a graph of exact shapes becomes one LLVM function without Python in it."""

from __future__ import annotations

from .call import compile_native, make
from .compile import MissingExtra
from .function import write_function
from .refusal import NativeRefusal

__all__ = ["MissingExtra", "NativeRefusal", "compile_native", "make", "write_function"]
