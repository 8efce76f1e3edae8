"""Which kernel it was that has failed on a worker: they are run again, one after the other, in program order."""

from __future__ import annotations

from typing import Any

from ..dataflow.kernels import explained
from .laters import Call, Later
from .remote_cluster import LostCluster
from .submissions import Sender, Submission

#: whose failures are no kernel's
_CLUSTERS = ("distributed", "tornado", "asyncio", "concurrent")


def told(error: BaseException, submission: Submission, sender: Sender) -> BaseException:
    """Return a failure of a submission, told in terms of the user's program.

    What the cluster itself says, that workers die or cannot be reached, is nobody's kernel: nothing is run again.
    """
    is_of_cluster = isinstance(error, LostCluster) or type(error).__module__.split(".")[0] in _CLUSTERS
    if is_of_cluster or not isinstance(error, Exception):
        return error
    made: dict[Call, tuple[Any, ...]] = {}

    def value_of(value: Any) -> Any:
        if type(value) is not Later:
            return value
        call, number = submission.origins.get(value, (value.call, value.number))
        return value.collection if call is None else made[call][number]

    for call in submission.calls:
        again: BaseException | None
        try:
            out = call.kernel(*[value_of(value) for value in call.args])
            made[call] = tuple(sender.persist([out] if call.step.outs is None else list(out)))
            again = sender.failure(list(made[call]))
        except Exception as raised:
            again = raised.with_traceback(None)  # the client may hold it, and so would hold these frames
        if isinstance(again, Exception):
            made.clear()
            return explained(again, call.it, call.step)
    if submission.calls:  # it does not fail when it is run again
        last = submission.calls[-1]
        return explained(error, last.it, last.step)
    return error
