"""Machine code: a graph of exact shapes becomes one LLVM function without Python in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.doors import door
from .native_call import compile_native, make, make_for
from .native_function import shapes_of, write_function
from .toolchain.compile_ir import MissingExtra
from .typing.refusal import NativeRefusal

if TYPE_CHECKING:
    from .toolchain.fp_flags import flags
    from .typing.floating_errors import Errors, errors_of
else:  # of calls that ask for floating-point errors
    __getattr__ = door(
        globals(),
        {
            "flags": f"{__name__}.toolchain.fp_flags",
            **dict.fromkeys(("Errors", "errors_of"), f"{__name__}.typing.floating_errors"),
        },
    )

__all__ = [
    "Errors", "MissingExtra", "NativeRefusal", "compile_native", "errors_of", "flags", "make", "make_for", "shapes_of",
    "write_function",
]  # fmt: skip
