"""The processor's flags of floating-point errors, of this thread, by way of the C library.

They are set by what has an error, and stay so until they are cleared. By which bits the library calls them is found out
by making such errors, and which of its functions set them wherever NumPy's tell of one by looking at both: nothing need
be known of the machine, nor of how NumPy was built for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, reduce
from itertools import product
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from ...base.fp_warnings import kinds_heard, noting
from .shared_libraries import libm

#: the library is asked for all the flags there are
_EVERY = 0x7FFFFFFF
#: what code that heeds errors is said to return if there were some
HAD_ERRORS = -3


class Flags(NamedTuple):
    """How the flags are cleared and looked at.

    Attributes
    ----------
    clear : callable
        ``clear(every)``
    test : callable
        ``test(every)`` gives the bits of those that are set.
    every : int
        All of them.
    bits : mapping
        A kind of error, by its bit in what NumPy hands to who is called -> that of the flag.
    """

    clear: Callable[[int], int]
    test: Callable[[int], int]
    every: int
    bits: Mapping[int, int]

    def of(self, kinds: int) -> int:
        """Return the bits of the flags of several kinds."""
        return sum(bit for kind, bit in self.bits.items() if kind & kinds)


@lru_cache(maxsize=1)
def flags() -> Flags | None:
    """Return what looks at the flags; None where that is not possible, or does not tell what it should."""
    try:
        library = libm(ctypes.PyDLL)
        clear, test, log = library.feclearexcept, library.fetestexcept, _function("log", np.dtype(np.float64), 1)
    except (AttributeError, OSError, TypeError):
        return None
    large, small, three = 1e300, 1e-300, 3.0
    made: Mapping[int, Callable[[], float]] = {
        0: lambda: 1 / three,
        1: lambda: log(0.0),
        2: lambda: large * large,
        4: lambda: small * small,
        8: lambda: log(-1.0),
    }
    found = {}
    for kind, make in made.items():
        clear(_EVERY)
        make()
        found[kind] = test(_EVERY)
    inexact = found.pop(0)
    clear(_EVERY)
    bits = {kind: bit & ~inexact for kind, bit in found.items()}
    is_known = test(_EVERY) == 0 and all(bits.values()) and sum(bits.values()) == reduce(or_, bits.values())
    return Flags(clear, test, _EVERY, bits) if is_known else None


def heeding(call: Callable[[Any, int], int]) -> Callable[[Any, int], int]:
    """Return what calls machine code, and tells if it had floating-point errors of the kinds that are asked for."""
    found = flags()
    assert found is not None  # who asks for such code has looked
    clear, test, every, _ = found

    def called(packed: Any, address: int) -> int:
        clear(every)
        code = call(packed, address)
        return HAD_ERRORS if not code and test(every) & found.of(kinds_heard()) else code

    return called


def _function(name: str, dtype: np.dtype[Any], count: int) -> Any:
    """Return a function of the library of so many floats."""
    c_type, suffix = (ctypes.c_double, "") if dtype == np.float64 else (ctypes.c_float, "f")
    found = getattr(libm(ctypes.PyDLL), name + suffix)
    found.argtypes, found.restype = [c_type] * count, c_type
    return found


@lru_cache(maxsize=256)
def tells_errors(name: str, dtype: np.dtype[Any], theirs: Callable[..., Any], count: int) -> bool:
    """Return whether the library's function sets the flags wherever NumPy's, of so many arguments, tells of an error:
    NumPy may compute it in another way, and have errors on the way."""
    found = flags()
    if found is None:
        return False
    ours = _function(name, dtype, count)
    noted = 0

    def note(bits: int) -> None:
        nonlocal noted
        noted |= bits

    for values in _samples(dtype, count):
        noted = 0
        with noting(note):
            theirs(*values)
            theirs(*[np.full(_MANY, value) for value in values])
        if noted:
            found.clear(_EVERY)
            ours(*values)
            if found.of(noted) & ~found.test(_EVERY):
                return False
    return True


#: so many elements NumPy does several at a time
_MANY = 16


def _samples(dtype: np.dtype[Any], count: int) -> Iterator[tuple[Any, ...]]:
    """Yield arguments at which functions have errors, and others: some of all sizes."""
    info, steps = np.finfo(dtype), 41 if count == 1 else 9
    sizes = np.geomspace(float(info.tiny), float(info.max), steps)
    near = _NEAR if count == 1 else _NEAR[:4]
    numbers = [dtype.type(one) for one in (0.0, np.inf, np.nan, info.smallest_subnormal, *near, *sizes)]
    yield from product([*numbers, *[-one for one in numbers]], repeat=count)


#: where exponentials, to base e, end
_NEAR = (0.5, 1.0, 2.0, 3.0, 88.0, 89.0, 103.0, 104.0, 709.0, 710.0, 745.0, 746.0)
