"""Loop variables keep the chunks that they are cut into, from one iteration to the next.

What slices an array and joins the parts again cuts it at more places each time: ``concatenate([u[1:], u[:1]])`` has a
chunk of one element more than ``u``. A loop would have more tasks in each iteration, and no two iterations the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dataflow.execution_plan import FramePlan, Step
from ..dataflow.frames import Iteration
from .known_calls import KnownCalls
from .laters import Form, Later

#: how much smaller than others a chunk is that is a scrap
SCRAP = 4


class KeptCuts:
    """The chunks of the loop variables of a run."""

    def __init__(self, known: KnownCalls) -> None:
        self._known = known
        #: by loop and variable: the form that it entered the loop with last, and the one that it keeps
        self._entered: dict[tuple[FramePlan, int], Form] = {}
        self._kept: dict[tuple[FramePlan, int], Form] = {}

    def enter(self, step: Step, value: Any) -> None:
        """Note what a loop variable enters its loop with."""
        key = step.frame, step.flat.attrs["variable"]
        if type(value) is Later and value.form is not None:
            self._entered[key] = value.form
        else:
            self._entered.pop(key, None)

    def kept(self, it: Iteration, step: Step, later: Later, note: Callable[..., list[Later]]) -> Later:
        """Return what is handed to the next iteration, cut as ever; ``note`` notes that it is cut."""
        form, key = later.form, (step.frame, step.flat.attrs["variable"])
        kept = self._kept.get(key)
        if form is None or form is kept:
            return later
        if not it.index or kept is None:
            entered = self._entered.get(key)
            kept = self._kept[key] = form if entered is None or not _is_in_scraps(form, entered) else entered
        if form is kept or form.dtype != kept.dtype or form.shape != kept.shape:
            return later
        if later.call is None:
            return Later(later.collection.rechunk(kept.chunks), kept)
        kernel, known = self._known.recut(form, kept)
        return note(kernel, (later,), known, it, step)[0]


def _is_in_scraps(form: Form, before: Form) -> bool:
    """Return whether an array is cut at more places than one before, and into chunks of which some are much smaller."""
    if form.shape != before.shape or form.dtype != before.dtype:
        return False
    pairs = zip(form.chunks, before.chunks)
    return any(len(a) > len(b) and SCRAP * min(a[:-1]) < max(a) for a, b in pairs)
