"""Kernels as people write them for NumPy give the same values under the decorator, and leave the same arguments."""

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from harness import alike, outcome
from kernels_in_place import KERNELS as IN_PLACE
from kernels_of_applications import KERNELS as OF_APPLICATIONS

KERNELS = [*IN_PLACE, *OF_APPLICATIONS]


def given(make):
    rng = np.random.default_rng(7)
    return tuple(one(rng) if callable(one) else one for one in make)


def what_differs(kernel, make, executor):
    """Return how a decorated kernel does otherwise than the plain one; empty if it does not."""
    plain, error, wanted = outcome(kernel, given(make))
    assert error is None and len(plain) == 2
    ours, error, held = outcome(al.function(kernel, executor=executor), given(make))
    if error is not None:
        if executor == "native" and type(error).__name__ == "NativeRefusal":
            return ""
        return f"{kernel.__name__} raises {error!r}"
    for (values, places), (results, found) in zip(plain, ours, strict=True):
        if [type(one) for one in values] != [type(one) for one in results] or not alike(values, results):
            return f"{kernel.__name__} gives {results}, not {values}"
        if places != found:
            return f"{kernel.__name__} gives the arguments {found}, not {places}"
    return "" if alike(wanted, held) else f"{kernel.__name__} leaves {held}, not {wanted}"


def wrong(kernels, executor):
    return "\n".join(filter(None, [what_differs(kernel, make, executor) for kernel, make in kernels]))


def test_kernels_as_plain():
    assert len(KERNELS) >= 45 and not wrong(KERNELS, "sequential")


def test_kernels_on_the_scheduler():
    assert not wrong(KERNELS[::3], "dataflow")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_kernels_under_every_executor(executor):
    assert not wrong(KERNELS, executor)
