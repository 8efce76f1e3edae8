"""Random numbers: pure functions of a key, or an effect on the process's generator.

A key is a uint64 vector of two, the key of NumPy's counter-based Philox generator. The same key gives the same
numbers, whatever the executor and the number of threads; ``split`` makes independent keys of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.doors import listing
from ..base.forks import Kind, in_child
from ..base.random_streams import Stand
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DimsLike, DTypeLike
from ..ir.convert import convert_to_tensor, is_number
from ..ir.op import numpys_alone
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE, Traits
from .define import primitive
from .extents import Extents, extents
from .operands import as_dtype, assigned
from .shape_queries import dim

_KIND = Kind("random", "the generator is one reference; a child replaces it")
_KEY = TensorShape([2])


class _Process:
    """The process's own generator, made when it is first needed; ``lock`` guards making and seeding it.

    Drawing needs no lock of ours: a generator has its own. ``seeded``: its numbers were asked for by a seed.
    """

    def __init__(self) -> None:
        self.lock = _KIND.lock()
        self.generator: np.random.Generator | None = None
        self.seeded = False

    def seed(self, seed: Any) -> None:
        with self.lock:
            self.generator, self.seeded = np.random.default_rng(seed), True

    def get(self) -> np.random.Generator:
        generator = self.generator
        if generator is None:
            with self.lock:
                if self.generator is None:
                    self.generator = np.random.default_rng()
                generator = self.generator
        return generator

    def noted(self) -> Stand:
        """Return where the generator stands now."""
        return Stand(self.get())


_process = _Process()


@in_child
def _renew() -> None:
    """Another thread may have been drawing, and holds the generator's own lock: go on with the same stream in another.

    Without a seed a child has a stream of its own.
    """
    old = _process.generator
    if old is None:
        return
    if not _process.seeded:
        _process.generator = None
        return
    bits = type(old.bit_generator)()
    bits.state = old.bit_generator.state
    _process.generator = np.random.Generator(bits)


#: where in a key's stream the keys that ``split`` makes lie: far from the numbers drawn with it
_SPLIT_COUNTER = (0, 0, 0, 1)


def _generator(key: Any, counter: Sequence[int] = (0, 0, 0, 0)) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=key, counter=np.array(counter, np.uint64)))


def set_seed(seed: int) -> None:
    """Seed the process's generator, which functions called without a key draw from.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> al.random.set_seed(0)
    >>> first = al.random.uniform((2,))
    >>> al.random.set_seed(0)
    >>> bool(al.all(al.random.uniform((2,)) == first))
    True
    """
    _process.seed(seed)


# -- keys -------------------------------------------------------------------------------------------------

MAKE_KEY = primitive(
    "random_key", lambda seed: (dtypes.uint64, _KEY),
    lambda seed: _generator(np.array([seed, 0], np.int64).astype(np.uint64), _SPLIT_COUNTER).integers(
        0, 2**64, 2, np.uint64
    ), NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip
SPLIT = primitive(
    "random_split", lambda key, n: (dtypes.uint64, TensorShape([n, 2])),
    lambda key, n: _generator(key, _SPLIT_COUNTER).integers(0, 2**64, (n, 2), np.uint64), NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip
FOLD_IN = primitive(
    "random_fold_in", lambda key, data: (dtypes.uint64, _KEY),
    lambda key, data: _generator(key, (int(data) % 2**64, 0, 1, 1)).integers(0, 2**64, 2, np.uint64), NO_GRADIENT,
    traits=OPAQUE,
)  # fmt: skip


def key(seed: ArrayLike, name: str | None = None) -> Tensor:
    """Return a key made of a seed.

    Parameters
    ----------
    seed : integer scalar
    name : str, optional

    Returns
    -------
    Tensor
        uint64, of shape (2,).

    Examples
    --------
    >>> key = al.random.key(0)
    >>> bool(al.all(al.random.normal((3,), key=key) == al.random.normal((3,), key=key)))
    True
    """
    seed = convert_to_tensor(np.int64(seed) if isinstance(seed, int) else seed)
    if seed.dtype.kind not in "iu" or seed.shape.rank not in (0, None):
        raise TypeError(
            f"random.key: the seed must be an integer scalar, got dtype {seed.dtype}, shape {seed.shape} [AL213]"
        )
    return apply(MAKE_KEY, [as_dtype(seed, dtypes.int64)], None, name)


def split(key: ArrayLike, n: int = 2, name: str | None = None) -> Tensor:
    """Return ``n`` independent keys, one per row.

    Parameters
    ----------
    key : key
    n : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> key, subkey = al.random.split(al.random.key(0), 2)
    """
    return apply(SPLIT, [_checked_key(key)], {"n": int(n)}, name)


def fold_in(key: ArrayLike, data: ArrayLike, name: str | None = None) -> Tensor:
    """Return a key made of a key and an integer, such as the number of a step.

    Parameters
    ----------
    key : key
    data : integer scalar
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> key = al.random.fold_in(al.random.key(0), 7)  # the key of the 7th step
    >>> al.random.normal((2,), key=key).shape
    TensorShape([2])
    """
    return apply(FOLD_IN, [_checked_key(key), convert_to_tensor(data)], None, name)


def _checked_key(key: Any) -> Tensor:
    tensor = convert_to_tensor(key)
    if tensor.dtype != dtypes.uint64 or not tensor.shape.is_compatible_with(_KEY):
        raise TypeError(
            f"a random key is a uint64 tensor of shape (2,), made by random.key or random.split; got dtype "
            f"{tensor.dtype}, shape {tensor.shape} [AL213]"
        )
    return tensor


# -- distributions ----------------------------------------------------------------------------------------

_Draw = Callable[..., Any]


def _infer(*inputs: Tensor, known: Any, dtype: Any, keyed: bool, **_: Any) -> Any:
    return dtype, TensorShape(known)


def _kernel(draw: _Draw) -> Callable[..., Any]:
    def kernel(*inputs: Any, known: Any, dtype: Any, keyed: bool, **options: Any) -> Any:
        values = list(inputs)
        generator = _generator(values.pop(0)) if keyed else _process.get()
        shape = tuple(known) if known is not None and None not in known else tuple(values.pop().tolist())
        return np.asarray(draw(generator, shape, dtype, *values, **options)).astype(dtype)[()]

    return kernel


class _Distribution:
    """A pair of primitives: pure with a key, an effect without."""

    def __init__(self, name: str, draw: _Draw, traits: Traits = OPAQUE) -> None:
        kernel = _kernel(draw)
        self.name = name
        self.pure = primitive(f"random_{name}", _infer, kernel, NO_GRADIENT, traits=traits)
        self.effect = primitive(
            f"random_{name}_process", _infer, kernel, NO_GRADIENT, traits=traits, effect=True,
            draws=lambda node: _process.noted,
        )  # fmt: skip

    def __call__(
        self, shape: Any, dtype: Any, key: Any, name: str | None, inputs: Sequence[Tensor] = (), **options: Any
    ) -> Tensor:
        dims = shape if isinstance(shape, Extents) else extents(shape, f"random.{self.name}")
        parts = [*([] if key is None else [_checked_key(key)]), *inputs, *dims.inputs]
        attrs = {"known": dims.known, "dtype": dtypes.as_dtype(dtype), "keyed": key is not None, **options}
        return apply(self.effect if key is None else self.pure, parts, attrs, name or f"random_{self.name}")


def _draw_floats(method: str) -> _Draw:
    def draw(generator: np.random.Generator, shape: Any, dtype: Any) -> Any:
        exact = dtype if dtype in (dtypes.float32, dtypes.float64) else dtypes.float32
        return getattr(generator, method)(shape, exact)

    return draw


_NORMAL = _Distribution("normal", _draw_floats("standard_normal"), OPAQUE.but(price=Price.FUNCTION))
_UNIFORM = _Distribution("uniform", _draw_floats("random"))
_INTEGERS = _Distribution(
    "integers", lambda generator, shape, dtype, low, high: generator.integers(low, high, shape, dtype)
)
_PERMUTATION = _Distribution("permutation", lambda generator, shape, dtype: generator.permutation(shape[0]))
DISTRIBUTIONS = (_NORMAL, _UNIFORM, _INTEGERS, _PERMUTATION)


def _floating(dtype: Any, name: str) -> dtypes.DType:
    wanted = dtypes.as_dtype(dtype)
    if not dtypes.is_floating(wanted):
        raise TypeError(f"random.{name}: dtype must be a floating type, got {wanted} [AL213]")
    return wanted


def _scaled(x: Tensor, scale: Any, offset: Any) -> Tensor:
    """Return ``x * scale + offset``; trivial parts are left out."""
    if not is_number(scale) or scale != 1:
        x = x * assigned("random", scale, x.dtype)
    if not is_number(offset) or offset != 0:
        x = x + assigned("random", offset, x.dtype)
    return x


def normal(
    shape: DimsLike, mean: ArrayLike = 0.0, stddev: ArrayLike = 1.0, dtype: DTypeLike = dtypes.float32,
    key: ArrayLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return normally distributed numbers.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    mean, stddev : tensor-like
    dtype : dtype-like
        A floating type.
    key : key, optional
        With a key the result is a pure function of it; without, drawn from the process's generator.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> al.random.normal((2, 3), key=al.random.key(0)).dtype
    dtype('float32')
    """
    return _scaled(_NORMAL(shape, _floating(dtype, "normal"), key, name), stddev, mean)


def uniform(
    shape: DimsLike, low: ArrayLike = 0, high: ArrayLike | None = None, dtype: DTypeLike = dtypes.float32,
    key: ArrayLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers equally likely anywhere in ``[low, high)``.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    low, high : scalar tensor-like
        By default 0 and 1; integers need ``high``.
    dtype : dtype-like
        A floating type or an integer type.
    key : key, optional
        With a key the result is a pure function of it; without, drawn from the process's generator.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> bool(al.all(al.random.uniform((100,), key=al.random.key(0)) < 1))
    True
    """
    dtype = dtypes.as_dtype(dtype)
    if dtypes.is_integer(dtype):
        if high is None:
            raise ValueError("random.uniform: integers need high [AL213]")
        bounds = [as_dtype(convert_to_tensor(b), dtype) for b in (low, high)]
        return _INTEGERS(shape, dtype, key, name, bounds)
    first: Any = low
    width = (1 if high is None else high) - first
    return _scaled(_UNIFORM(shape, _floating(dtype, "uniform"), key, name), width, low)


def randint(
    shape: DimsLike,
    low: ArrayLike,
    high: ArrayLike,
    dtype: DTypeLike = dtypes.int32,
    key: ArrayLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return integers equally likely anywhere in ``[low, high)``.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    low, high : integer scalars
    dtype : dtype-like
    key : key, optional
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> bool(al.all(al.random.randint((100,), 0, 6, key=al.random.key(0)) < 6))
    True
    """
    return uniform(shape, low, high, dtype, key, name)


def bernoulli(shape: DimsLike, p: ArrayLike = 0.5, key: ArrayLike | None = None, name: str | None = None) -> Tensor:
    """Return booleans that are true with probability ``p``.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    p : tensor-like
    key : key, optional
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> al.random.bernoulli((2, 3), 0.5, key=al.random.key(0)).shape
    TensorShape([2, 3])
    """
    return uniform(shape, key=key, name=name) < p


def permutation(n: ArrayLike, key: ArrayLike | None = None, name: str | None = None) -> Tensor:
    """Return the integers below ``n`` in random order, int32.

    Parameters
    ----------
    n : integer scalar
    key : key, optional
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sort(al.random.permutation(4, key=al.random.key(0))))
    Tensor([0 1 2 3], shape=(4,), dtype=int32)
    """
    return _PERMUTATION([n], dtypes.int32, key, name)


def shuffle(x: ArrayLike, key: ArrayLike | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its rows in random order.

    Parameters
    ----------
    x : tensor-like
    key : key, optional
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sort(al.random.shuffle([1, 2, 3], key=al.random.key(0))))
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(x)
    return x[permutation(dim(x, 0), key, name)]


numpys_alone(
    "NumPy's generators draw arrays of NumPy's", MAKE_KEY, SPLIT, FOLD_IN,
    *[op for one in (_NORMAL, _UNIFORM, _INTEGERS, _PERMUTATION) for op in (one.pure, one.effect)],
)  # fmt: skip

__all__ = [
    "bernoulli", "fold_in", "key", "normal", "permutation", "randint", "set_seed", "shuffle", "split", "uniform",
]  # fmt: skip
__dir__ = listing(globals())
