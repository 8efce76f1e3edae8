"""The rest of ``scipy.linalg``: a run calls SciPy's own functions, which are tried on examples while it is traced.

Shapes must be known; dtypes and kinds of the results are those of the trial. Factors and inverses have gradients, and
so have functions that only put elements elsewhere, ``toeplitz``, which are gathered.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base import nest
from ...base.dtypes import DType
from ...base.parsing import signature_of
from ...base.shapes import TensorShape
from ...ir.apply import apply_several
from ...ir.convert import convert_to_tensor
from ...ir.number_operators import CARRIERS, number_type
from ...ir.numpy_arguments import full_name
from ...ir.numpy_protocols import NUMPY_FUNCTIONS
from ...ir.numpy_results import OWN_KINDS
from ...ir.op import Op, numpys_alone
from ...ir.tensor import Tensor
from ...ir.tracers import ArrayTracer, ZeroDimArray, kind_of, marked, number_of
from .. import filled, linalg
from ..array import expand_dims, ravel, reshape
from ..define import primitive
from ..diagonals import tril
from ..elementwise import conjugated
from ..gathering import gather
from ..joining import concat
from ..linalg import matmul, transposed
from ..logic import equal
from ..operands import as_dtype, cast, is_tensor
from ..selection import where
from . import decompositions as factors
from .counterparts import counterpart, refused
from .library_rows import library
from .scipy_matrices import of_permuted, scipy_linalg

#: the extents of whose results depend on values
_OF_ANY_EXTENT = frozenset(("null_space", "orth"))
#: that put the elements of real arrays elsewhere, beside zeros
_COPYING = ("block_diag", "circulant", "convolution_matrix", "diagsvd", "hankel", "toeplitz")
#: that tell of libraries, are made for no arrays, or change their arguments
_LEFT = frozenset((
    "find_best_blas_type", "get_blas_funcs", "get_lapack_funcs", "clarkson_woodruff_transform", "dft", "hadamard",
    "helmert", "hilbert", "invhilbert", "invpascal", "pascal", "qr_delete", "qr_insert", "qr_update",
))  # fmt: skip
#: how far the examples are from a multiple of the identity
_TRIED = (0.1, 0.0, 1.0)


class _Call:
    """A call of a function of SciPy's, of whose arguments a run computes some.

    Parameters
    ----------
    theirs : callable
    args : tuple
    kwargs : dict
    """

    def __init__(self, theirs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.theirs = theirs
        self.arguments = _bound(theirs, args, kwargs)
        self._leaves, self._structure = nest.flatten_with_structure((args, kwargs))
        self.places = [place for place, leaf in enumerate(self._leaves) if is_tensor(leaf)]
        staged = [self._leaves[place] for place in self.places]
        self._numbers = [number_type(one) is not None for one in staged]
        self.inputs = [convert_to_tensor(one).plain for one in staged]
        made, self.form = nest.flatten_with_structure(self._tried())
        self.kinds = [type(one) for one in made]
        self.constants = [None if _is_data(one) else one for one in made]
        self.specs = [self._spec(one) for one in made if _is_data(one)]
        self._leaves = [None if place in self.places else leaf for place, leaf in enumerate(self._leaves)]

    def _tried(self) -> Any:
        """Return what the function gives for arrays like those of a run."""
        first: Exception | None = None
        for far in _TRIED:
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    return self.called([_example(one, far, self.theirs) for one in self.inputs])
            except Exception as error:
                first = first or error
        assert first is not None
        raise first

    def called(self, values: Sequence[Any]) -> Any:
        """Return what the function gives for the values of a run."""
        given = list(self._leaves)
        for place, value, number in zip(self.places, values, self._numbers):
            given[place] = value.item() if number else value
        args, kwargs = nest.unflatten(self._structure, given)
        return self.theirs(*args, **kwargs)

    def _spec(self, value: Any) -> tuple[DType, TensorShape]:
        of_any = self.theirs.__name__ in _OF_ANY_EXTENT
        shape = [None] * np.ndim(value) if of_any else np.shape(value)
        return CARRIERS.get(type(value)) or np.asarray(value).dtype, TensorShape(shape)

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arrays and numbers that the function gives, if they are such as the trial gave."""
        made, form = nest.flatten_with_structure(self.called(values))
        data = [one for one in made if _is_data(one)]
        same = form == self.form and [type(one) for one in made] == self.kinds
        same = same and all(one.dtype == dtype for one, (dtype, _) in zip(map(np.asarray, data), self.specs))
        if not (same and all(shape.matches(np.shape(one)) for one, (_, shape) in zip(data, self.specs))):
            raise TypeError(
                f"{full_name(self.theirs)} gave {_shown(data)}, but {_shown_specs(self.specs)} for other values when "
                f"it was traced: what it gives must not depend on values [AL219]"
            )
        return tuple([one if hasattr(one, "dtype") else np.asarray(one)[()] for one in data])

    def handed_on(self, results: Sequence[Tensor], given: Sequence[Any]) -> Any:
        """Return the results in the form and as the kinds that the function gives."""
        remaining, made = iter(results), []
        for kind, constant in zip(self.kinds, self.constants):
            if constant is not None or kind is type(None):
                made.append(constant)
            else:
                of = number_of(given) if kind in CARRIERS else kind_of(given, ArrayTracer)
                is_array = of is ArrayTracer and kind is np.ndarray  # also without axes: no scalar
                made.append(marked(ZeroDimArray if is_array else of, next(remaining)))
        return nest.unflatten(self.form, made)


def _is_data(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, *CARRIERS))


def _shown(data: Sequence[Any]) -> str:
    return ", ".join([f"{np.asarray(one).dtype}{list(np.shape(one))}" for one in data])


def _shown_specs(specs: Sequence[tuple[DType, TensorShape]]) -> str:
    return ", ".join([f"{dtype}{list(shape.known)}" for dtype, shape in specs])


def _bound(theirs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name; what would let SciPy write into them is refused."""
    arguments: dict[str, Any] = signature_of(theirs).bind(*args, **kwargs).arguments
    for name, value in arguments.items():
        if name.startswith("overwrite") and (is_tensor(value) or value):
            refused(theirs, name)
    return arguments


def _example(tensor: Tensor, far: float, theirs: Any) -> Any:
    """Return an array like one of a run: square, positive and well away from singular, if it can be."""
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise TypeError(
            f"{full_name(theirs)} must know the shapes of its arguments while it is traced, not {shape} [AL219]"
        )
    extents = shape.as_tuple()
    made = np.full(extents, far) + 1.0 / (1 + np.arange(int(np.prod(extents)))).reshape(extents) * far
    if len(extents) > 1:
        made = made + 2.0 * np.eye(extents[-2], extents[-1])
    return (made + (len(extents) < 2)).astype(tensor.dtype)[()]


def _infer(*tensors: Tensor, call: _Call) -> Any:
    return list(call.specs)


def _vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    call = attrs["call"]
    rule = _GRADIENTS.get(call.theirs.__name__)
    made = rule(call.arguments, g, outputs, inputs) if rule is not None and len(inputs) == 1 else None
    if made is None:
        raise TypeError(
            f"{full_name(call.theirs)} has no derivative with these arguments; numpy.linalg may have one [AL405]"
        )
    return list(made)


CALL: Op = primitive(
    "scipy_call", _infer, lambda *values, call: call.run(values), _vjp, several=True, traits=factors.FACTORED
)


# -- gradients --------------------------------------------------------------------------------------------


def _inv_vjp(_: Any, g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    flipped = transposed(outputs[0])
    return [-matmul(matmul(flipped, g[0]), flipped)]


def _det_vjp(_: Any, g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    size = g[0] * conjugated(outputs[0])
    made = expand_dims(expand_dims(size, -1), -1) * transposed(linalg.inv(inputs[0]))
    return [cast(made, inputs[0].dtype)]


def _row(row: Any, single: bool = False) -> Callable[..., Any]:
    """Return the rule of a row of NumPy's, if nothing but the matrix was given."""

    def rule(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
        if set(arguments) - {"a", "check_finite", "full_matrices", "compute_uv", "mode", "eigvals_only"}:
            return None
        return row.op.vjp(g[0] if single else g, outputs, inputs, {"UPLO": "L"})

    return rule


def _svd_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    if not arguments.get("compute_uv", True):
        return _row(factors.svdvals, True)(arguments, g, outputs, inputs)
    full = arguments.get("full_matrices", True) and not factors.is_square(inputs[0])
    return _row(factors.svd_full if full else factors.svd_thin)(arguments, g, outputs, inputs)


def _qr_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    mode = arguments.get("mode", "full")
    row = {"full": factors.qr_complete, "economic": factors.qr_reduced}.get(mode)
    return None if row is None else _row(row)(arguments, g, outputs, inputs)


def _eigh_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    only = arguments.get("eigvals_only", False)
    return _row(factors.eigvalsh if only else factors.eigh, only)(arguments, g, outputs, inputs)


_of_eig: Any = factors.eig.op.vjp


def _complex_eig(x: Any) -> Any:
    values, vectors = scipy_linalg.eig(x)
    return values, vectors.astype(values.dtype)


#: the eigenvectors in the order of SciPy's eigenvalues, complex whatever the matrix is
_eig = library(
    "scipy_eig", _complex_eig, [lambda x, **_: x.shape.known[:-1], lambda x, **_: x.shape], _of_eig,
    traits=factors.FACTORED,
)  # fmt: skip


def _eigvals_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    w, v = _eig(inputs[0])
    return _row(factors.eig)(arguments, [g[0], None], [w, v], inputs)


def _norm_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    (x,), size = inputs, outputs[0]
    of_all = set(arguments) <= {"a", "check_finite", "ord"} and x.dtype.kind == "f"
    if not of_all or arguments.get("ord") not in (None, "fro", *([2] if x.shape.rank == 1 else [])):
        return None
    tip = equal(size, 0)
    return [cast(where(tip, 0, g[0] / where(tip, 1, size)), x.dtype) * x]


def _lu_vjp(arguments: dict[str, Any], g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Any:
    if set(arguments) - {"a", "check_finite"} or len(inputs[0].shape) != 2 or not factors.is_square(inputs[0]):
        return None
    permuted, lower, upper = outputs
    of_lower, of_upper = [filled.zeros_like(x) if one is None else one for one, x in zip(g[1:], (lower, upper))]
    made = of_permuted(of_lower, of_upper, tril(lower, -1) + upper)
    return [matmul(cast(permuted, made.dtype), made)]


_GRADIENTS: dict[str, Callable[..., Any]] = {
    "inv": _inv_vjp, "det": _det_vjp, "svd": _svd_vjp, "svdvals": _row(factors.svdvals, True), "qr": _qr_vjp,
    "eigh": _eigh_vjp, "eigvalsh": _row(factors.eigvalsh, True), "eig": _row(factors.eig),
    "eigvals": _eigvals_vjp, "norm": _norm_vjp, "lu": _lu_vjp,
}  # fmt: skip


# -- the functions ----------------------------------------------------------------------------------------


def _calling(theirs: Any) -> Callable[..., Any]:
    """Return a function as one that the run calls."""

    @functools.wraps(theirs)
    def of_run(*args: Any, **kwargs: Any) -> Any:
        call = _Call(theirs, args, kwargs)
        results = apply_several(CALL, call.inputs, {"call": call})
        given = nest.flatten((args, kwargs))
        return call.handed_on(results, given)

    return of_run


def _copying(theirs: Any) -> Callable[..., Any]:
    """Return a function that puts elements elsewhere: of counted ones it tells where each comes from."""
    calling = _calling(theirs)

    @functools.wraps(theirs)
    def gathered(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        tensors = [convert_to_tensor(one).plain for one in given if _is_array(one)]
        if any(isinstance(one, (list, tuple)) for one in given) or not all(map(_is_counted, tensors)):
            return calling(*args, **kwargs)
        first = 1

        def counted(one: Any) -> Any:
            nonlocal first
            if not _is_array(one):
                return one
            extents = convert_to_tensor(one).shape.as_tuple()
            first += int(np.prod(extents))
            return np.arange(first - int(np.prod(extents)), first).reshape(extents)

        places = [counted(one) for one in args]
        sources = theirs(*places, **{name: counted(value) for name, value in kwargs.items()})
        common = np.result_type(*[tensor.dtype for tensor in tensors])
        zero = convert_to_tensor(np.zeros(1, common))
        flat = concat([zero, *[as_dtype(ravel(tensor), common) for tensor in tensors]], 0)
        made = reshape(gather(flat, sources.reshape(-1).astype(np.int64)), list(sources.shape))
        return marked(kind_of(given, ArrayTracer), made)

    return gathered


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def _is_counted(tensor: Tensor) -> bool:
    return tensor.shape.is_fully_defined() and bool(tensor.shape.rank) and tensor.dtype.kind in "iuf"


for _name in scipy_linalg.__all__:
    _theirs = getattr(scipy_linalg, _name)
    if _name not in _LEFT and callable(_theirs) and not isinstance(_theirs, type) and _theirs not in NUMPY_FUNCTIONS:
        counterpart(_theirs)((_copying if _name in _COPYING else _calling)(_theirs))
        OWN_KINDS.add(_theirs)


numpys_alone("it is a function of SciPy's", CALL)
