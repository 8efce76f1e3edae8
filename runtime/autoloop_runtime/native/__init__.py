"""Machine code: a graph of exact shapes becomes one LLVM function without Python in it."""

from __future__ import annotations

from .native_call import compile_native, make, make_for
from .native_function import shapes_of, write_function
from .toolchain.compile_ir import MissingExtra
from .toolchain.fp_flags import flags
from .typing.floating_errors import Errors, errors_of
from .typing.refusal import NativeRefusal

__all__ = [
    "Errors", "MissingExtra", "NativeRefusal", "compile_native", "errors_of", "flags", "make", "make_for", "shapes_of",
    "write_function",
]  # fmt: skip
