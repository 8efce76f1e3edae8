"""What moves the tokens of loops without the interpreter, in machine code, and their steps."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.forks import undivided
from ..dataflow import core_workers
from ..dataflow.core_tables import Enter
from ..dataflow.step_forms import StepForm
from .machine_steps import MachineSteps


class MachineCores(MachineSteps):
    """See ``dataflow.faster_kernels.Cores``."""

    def __init__(self) -> None:
        super().__init__()
        self.enter: Enter | None = None

    def _make(self, kinds: Sequence[Sequence[StepForm]]) -> None:
        try:
            with undivided():
                from ..native.core_code import entered

            self.enter = entered(core_workers.core)
        except Exception:  # as with steps
            self._made = {}
            return
        super()._make(kinds)
