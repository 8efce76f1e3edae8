"""How each op is computed over arrays of another library: one entry an op, made by ``@computed``, or why there is none.

Element-wise ops whose kernel is a function of NumPy's, or a sign of Python's, need no entry: they are the function of
the array API standard that is the same, or the library's own of NumPy's name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.collector import NoCollection
from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.forks import undivided
from ..ir.op import NUMPYS_ALONE, Op
from ..ops.elementwise import ufunc_of
from .array_namespace import Namespace
from .refused_calls import needs_value, no_function

#: the files with the entries, and those for libraries whose functions compute later
FILES = (
    "eager_elements", "eager_shapes", "eager_reductions", "eager_indices", "eager_products", "eager_scatters",
    "eager_makers", "eager_orders", "checked_values", "foreign_collections", "foreign_numbers",
)  # fmt: skip
LAZY_FILES = (
    "chunk_kernels", "lazy_elements", "lazy_reductions", "lazy_indices", "lazy_products", "lazy_scatters",
    "lazy_makers", "lazy_counts",
)  # fmt: skip
#: of what its inputs are, of those of an op that is computed by NumPy's kernel wherever they come from
_ALL = slice(None)
_NONE = slice(0, 0)


@dataclass(frozen=True)
class Call:
    """A node that is computed over arrays of a library.

    Attributes
    ----------
    namespace : Namespace
    op : Op
    dtypes : tuple of DType
        Of what it gives.
    shapes : tuple of TensorShape
        Of that, as far as they are known.
    """

    namespace: Namespace
    op: Op
    dtypes: tuple[DType, ...]
    shapes: tuple[Any, ...]

    @property
    def xp(self) -> Any:
        """The functions of the library."""
        return self.namespace.xp

    @property
    def dtype(self) -> Any:
        """What the library calls the dtype of the result."""
        return self.namespace.dtype(self.dtypes[0])

    def needed(self, name: str) -> Any:
        """Return the library's function of a name, which the op cannot do without."""
        found = self.namespace.function(name)
        if found is None:
            raise no_function(self.op.name, self.namespace.name, f"it has no {name}")
        return found

    def numpys(self, value: Any) -> Any:
        """Return the elements of an array, which are few, as NumPy's: they say a shape or a place, or are a number of
        Python's."""
        if not self.namespace.holds(value):
            return value
        if self.namespace.is_lazy:
            raise needs_value(self.op.name, self.namespace.name)
        dtype, shape = self.namespace.spec(value)
        return np.array(_listed(value, len(shape), _READ[dtype.kind]), dtype).reshape(_known(shape))[()]

    def made(self, value: Any, dtype: DType | None = None) -> Any:
        """Return a number as an array without axes, of the dtype of the result by default."""
        return self.namespace.asarray(np.asarray(value, self.dtypes[0] if dtype is None else dtype))

    def kind(self, value: Any) -> str:
        """Return the kind of the dtype of an array of the library."""
        return self.namespace.spec(value)[0].kind

    def zeros(self, shape: tuple[int, ...], dtype: DType | None = None) -> Any:
        """Return zeros of a shape, of the dtype of the result by default."""
        namespace = self.namespace
        wanted = namespace.dtype(self.dtypes[0] if dtype is None else dtype)
        return namespace.xp.zeros(shape, dtype=wanted, **namespace.where)

    def refused(self, why: str) -> Exception:
        """Return the refusal of this call."""
        return no_function(self.op.name, self.namespace.name, why)


_READ: Mapping[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _known(shape: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple([n or 0 for n in shape])


def _listed(value: Any, rank: int, read: Callable[[Any], Any]) -> Any:
    if not rank:
        return read(value)
    return [_listed(value[(k, ...)], rank - 1, read) for k in range(value.shape[0])]


Compute = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """How an op is computed.

    Attributes
    ----------
    compute : callable
        ``compute(call, *values, **attrs)`` gives what the kernel gives.
    hosts : slice
        The inputs that are NumPy's, wherever they come from: shapes and places. Others become the library's.
    always : bool
        It is asked even if no input is an array of the library: inputs may hold some.
    raw : bool
        Its inputs are given as they are, NumPy's or the library's.
    gives_numpys : bool
        The result is NumPy's.
    makes : bool
        The result is the library's, whatever it is given.
    needs : str
        The library's function that it cannot do without, where not all have it.
    direct : callable or None
        ``direct(call, kind)``: what computes it where all inputs are the library's arrays, the first of which has that
        kind of dtype, and takes nothing else; None if it depends on more.
    """

    compute: Compute
    hosts: slice = _NONE
    always: bool = False
    raw: bool = False
    gives_numpys: bool = False
    makes: bool = False
    needs: str = ""
    direct: Callable[[Call, str], Compute | None] | None = None


#: filled while the files are loaded; what ``entry_of`` adds is the same from each thread
_EAGER: dict[Op, Entry] = {}
_LAZY: dict[Op, Entry] = {}
_TABLES: Mapping[str, Sequence[dict[Op, Entry]]] = {"now": (_EAGER,), "later": (_LAZY,), "both": (_EAGER, _LAZY)}
#: filled while the files are loaded
_ABSENT_LATER: dict[Op, str] = {}
#: written under the lock of imports
_loaded: set[str] = set()
#: what computes element-wise ops chunk by chunk; filled while the files are loaded
_BY_CHUNKS: list[Compute] = []


def computed(*ops: Op, when: str = "now", **options: Any) -> Callable[[Compute], Compute]:
    """Register how ``ops`` are computed over arrays that are there (``now``), that are computed ``later``, or ``both``;
    ``options`` are fields of the entry."""

    def add(f: Compute) -> Compute:
        for table in _TABLES[when]:
            for op in ops:
                if op in table:
                    raise ValueError(f"op {op.name!r} has a rule already")
                table[op] = Entry(f, **options)
        return f

    return add


def by_chunks(f: Compute) -> Compute:
    """Register how element-wise ops are computed over arrays that are computed later."""
    _BY_CHUNKS[:] = [f]
    return f


def absent_later(why: str, *ops: Op) -> None:
    """State that ``ops`` are not computed over arrays that are computed later, and why."""
    _ABSENT_LATER.update(dict.fromkeys(ops, why))


def load(files: Sequence[str] = FILES) -> None:
    """Have the files with entries loaded."""
    for file in files:
        if file not in _loaded:
            with undivided(), NoCollection():
                importlib.import_module(f".{file}", __package__)
            _loaded.add(file)


def entry_of(op: Op, namespace: Namespace) -> Entry | None:
    """Return how ``op`` is computed over arrays of a library; None if it is not."""
    load([*FILES, *LAZY_FILES] if namespace.is_lazy else FILES)
    table = _LAZY if namespace.is_lazy else _EAGER
    found = table.get(op)
    ufunc = ufunc_of(op.kernel) if found is None and op.traits.elementwise else None
    if ufunc is not None:
        found = table[op] = Entry(_BY_CHUNKS[0]) if namespace.is_lazy else _of_ufunc(ufunc)
    return found if found is None or not found.needs or namespace.function(found.needs) is not None else None


def why_absent(op: Op, namespace: Namespace) -> str:
    """Return why an op has no entry, empty if that is not stated."""
    table = _LAZY if namespace.is_lazy else _EAGER
    if op in table:
        return f"it has no {table[op].needs}"
    own = _ABSENT_LATER.get(op, "") if namespace.is_lazy else ""
    return own or NUMPYS_ALONE.get(op, "")


def states_itself(op: Op) -> bool:
    """Return whether an op has an entry, or a reason why not."""
    load([*FILES, *LAZY_FILES])
    by_default = op.traits.elementwise and ufunc_of(op.kernel) is not None
    now = op in _EAGER or op in NUMPYS_ALONE or by_default
    return now and (op in _LAZY or op in NUMPYS_ALONE or op in _ABSENT_LATER or by_default)


#: what the standard calls those functions of NumPy's that it calls otherwise
_STANDARDS: Mapping[Any, str] = {
    np.absolute: "abs", np.arccos: "acos", np.arccosh: "acosh", np.arcsin: "asin", np.arcsinh: "asinh",
    np.arctan: "atan", np.arctan2: "atan2", np.arctanh: "atanh", np.conjugate: "conj", np.invert: "bitwise_invert",
    np.left_shift: "bitwise_left_shift", np.right_shift: "bitwise_right_shift", np.power: "pow", np.rint: "round",
    np.radians: "deg2rad", np.degrees: "rad2deg",
}  # fmt: skip
#: of booleans: the standard's words for bits and for arithmetic are of numbers
_LOGICAL: Mapping[Any, str] = {
    np.bitwise_and: "logical_and", np.bitwise_or: "logical_or", np.bitwise_xor: "logical_xor",
    np.invert: "logical_not", np.add: "logical_or", np.multiply: "logical_and", np.maximum: "logical_or",
    np.minimum: "logical_and",
}  # fmt: skip
#: those that order elements, which booleans are not in the standard
_ORDERING = (np.less, np.less_equal, np.greater, np.greater_equal)
#: what each answers of every integer
_OF_INTEGERS: Mapping[Any, bool] = {np.isnan: False, np.isinf: False, np.isfinite: True}


def standard_name(ufunc: Any) -> str:
    """Return what the array API standard calls a function of NumPy's; one of SciPy's is another module's."""
    name: str = ufunc.__name__
    return _STANDARDS.get(ufunc, name) if getattr(np, name, None) is ufunc else f"special.{name}"


def _of_ufunc(ufunc: Any) -> Entry:
    name = standard_name(ufunc)

    def compute(call: Call, *values: Any) -> Any:
        kind = call.kind(values[0])
        if ufunc in _OF_INTEGERS and kind in "biu":
            return call.xp.full(values[0].shape, _OF_INTEGERS[ufunc], dtype=call.xp.bool, **call.namespace.where)
        if kind == "b" and ufunc in _LOGICAL:
            return call.needed(_LOGICAL[ufunc])(*values)
        if kind == "b" and ufunc in _ORDERING:
            values = tuple([call.xp.astype(value, call.xp.uint8) for value in values])
        if kind == "b" and ufunc in (np.absolute, np.positive):
            return values[0]
        return call.needed(name)(*values)

    def direct(call: Call, kind: str) -> Compute | None:
        if kind == "b" or ufunc in _OF_INTEGERS:
            return None
        # of one dtype an operator is what the function is, without asking which that is
        return call.op.kernel if not isinstance(call.op.kernel, np.ufunc) else call.needed(name)

    return Entry(compute, needs=name, direct=direct)
