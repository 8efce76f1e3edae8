"""What kernels give, of what form: known from the first time that one was called with such inputs."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..collections.accumulators import ACCUMULATE, ACCUMULATE_AT
from ..dataflow.execution_plan import Step
from ..namespaces.chunk_kernels import dask_array
from .laters import Form, Later

#: how many are kept: of a program whose numbers differ from iteration to iteration each is another
MOST = 4096
#: what is given to kernels and stays as it is
_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, str, type(None))
#: what adds to a sum in place, if that is NumPy's: of collections it makes another one
_SUMS = (ACCUMULATE, ACCUMULATE_AT)
#: what no array has, in the place of a shape
_NAN = float("nan")


class Known:
    """What a kernel gives for inputs of such forms.

    Attributes
    ----------
    forms : tuple of Form
        By output.
    parameters : tuple of int
        Inputs that are NumPy's scalars of which the form does not depend: tasks are given them.
    handed_on : tuple of int or None
        By output, the input that it is, as of a check or a cut that is there already: no task makes it.
    """

    __slots__ = ("forms", "handed_on", "kept", "parameters")

    def __init__(
        self, forms: tuple[Form, ...], parameters: tuple[int, ...], kept: tuple[Any, ...],
        handed_on: tuple[int | None, ...] | None = None,
    ) -> None:  # fmt: skip
        self.forms, self.parameters = forms, parameters
        self.handed_on = (None,) * len(forms) if handed_on is None else handed_on
        self.kept = kept  # what is known by its identity must not go


class KnownCalls:
    """All that is known of the kernels of one plan; runs at the same time may find the same twice."""

    def __init__(self) -> None:
        self._forms: dict[tuple[Any, ...], Form] = {}
        self._known: dict[tuple[Any, ...], Known | None] = {}
        self._recut: dict[tuple[Form, Form], tuple[Callable[..., Any], Known]] = {}
        da = dask_array()
        self._array = da.Array
        #: arrays made of expressions have no task graph yet
        self.usable = not getattr(da, "ARRAY_EXPR_ENABLED", False)

    def kept(self) -> list[Known | None]:
        """Return all that is known of calls."""
        return list(self._known.values())

    def form_of(self, collection: Any) -> Form | None:
        """Return the form of an array whose chunks are known."""
        if type(collection) is not self._array or not self.usable:
            return None
        chunks, meta = collection.chunks, getattr(collection, "_meta", None)
        if type(meta) is not np.ndarray or any(size != size for sizes in chunks for size in sizes):
            return None
        key = (collection.dtype, chunks)
        found = self._forms.get(key)
        if found is None:
            found = self._forms.setdefault(key, Form(collection.dtype, chunks, meta))
        return found

    def later(self, value: Any) -> Any:
        """Return what a token carries for a value."""
        return Later(value, self.form_of(value)) if hasattr(type(value), "__dask_graph__") else value

    def recut(self, form: Form, kept: Form) -> tuple[Callable[..., Any], Known]:
        """Return what cuts an array of one form so that it has another, and what that gives."""
        found = self._recut.get((form, kept))
        if found is None:
            kernel = functools.partial(_rechunked, chunks=kept.chunks)
            found = self._recut[form, kept] = kernel, Known((kept,), (), ())
        return found

    def known(self, step: Step, kernel: Callable[..., Any], args: Sequence[Any]) -> Known | None:
        """Return what a kernel gives for such arguments; None if it must be called for that."""
        op = step.flat.op
        if op is None or op.effect or (step.stateful and op not in _SUMS) or not self.usable:
            return None
        varies = op.traits.elementwise
        kept: list[Any] = []
        key: list[Any] = [step]
        for value in args:
            if type(value) is Later:
                if value.form is None:
                    return None
                key.append(value.form)
            elif varies and isinstance(value, np.generic):
                key.append(value.dtype)
            elif not isinstance(value, _PLAIN):  # what holds values changes, and may keep what it is tried with
                return None
            else:
                key.append(_literal(value, kept))
        fixed = tuple(key)
        if fixed not in self._known:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[fixed] = self._tried(step, kernel, args, varies, tuple(kept))
        return self._known[fixed]

    def _tried(
        self, step: Step, kernel: Callable[..., Any], args: Sequence[Any], varies: bool, kept: tuple[Any, ...]
    ) -> Known | None:
        """Call a kernel with arrays of the same forms that nobody computes."""
        parameters = tuple([k for k, v in enumerate(args) if varies and isinstance(v, np.generic)])
        given = [placeholder(v.form, f"given-{k}") if type(v) is Later else v for k, v in enumerate(args)]
        made = self._made(step, kernel, given)
        if made is None or not parameters:
            return None if made is None else Known(made[0], (), kept, made[1])
        for k in parameters:
            given[k] = placeholder(parameter_form(args[k]), f"given-{k}")
        # where the form depends on what it is a parameter, or on its being a number, it is none
        return Known(made[0], parameters, kept, made[1]) if self._made(step, kernel, given) == made else None

    def _made(
        self, step: Step, kernel: Callable[..., Any], given: Sequence[Any]
    ) -> tuple[tuple[Form, ...], tuple[int | None, ...]] | None:
        """Return the forms of what a kernel gives, and by output the input that it is."""
        try:
            made = kernel(*given)
        except Exception:  # it is called with what is there, and says so
            return None
        outs = (made,) if step.outs is None else tuple(made)
        forms = [self.form_of(value) for value in outs]
        if None in forms:
            return None
        places = {(v.name, self.form_of(v)): k for k, v in enumerate(given) if type(v) is self._array}
        return tuple(forms), tuple([places.get((one.name, form)) for one, form in zip(outs, forms)])  # type: ignore[arg-type]


def _rechunked(x: Any, chunks: Any) -> Any:
    return x.rechunk(chunks)


def parameter_form(value: np.generic) -> Form:
    """Return the form of a scalar that tasks are given."""
    return Form(value.dtype, (), np.empty((), value.dtype))


def placeholder(form: Form | None, name: str) -> Any:
    """Return an array the chunks of which are what others hold: as one whose parts are futures."""
    assert form is not None
    da = dask_array()
    spec: Any = importlib.import_module("dask._task_spec")
    keys = chunk_keys(name, form)
    return da.Array({key: spec.TaskRef(key) for key in keys}, name, form.chunks, dtype=form.dtype, meta=form.meta)


def chunk_keys(name: str, form: Form) -> list[Any]:
    """Return the keys of the chunks of an array, in order."""
    return [(name, *place) for place in np.ndindex(*[len(sizes) for sizes in form.chunks])]


def _literal(value: Any, kept: list[Any]) -> Any:
    """Return what tells a value that a task graph holds from others."""
    if isinstance(value, np.generic):
        return value.dtype, value.tobytes()
    if type(value) in (bool, int, str, type(None)):
        return type(value), value
    if type(value) in (float, complex):
        return type(value), repr(value)
    kept.append(value)
    return id(value)
