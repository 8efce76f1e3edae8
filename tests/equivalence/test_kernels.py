"""Kernels as people write them for NumPy give the same values under the decorator, and leave the same arguments."""

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from harness import apart, outcome
from kernels_in_place import KERNELS as IN_PLACE
from kernels_of_applications import KERNELS as OF_APPLICATIONS

KERNELS = [*IN_PLACE, *OF_APPLICATIONS]


def given(make):
    rng = np.random.default_rng(7)
    return tuple(one(rng) if callable(one) else one for one in make)


def what_differs(kernel, make, executor):
    """Return how a decorated kernel does otherwise than the plain one; empty if it does not."""
    plain = outcome(kernel, given(make))
    assert plain[1] is None and len(plain[0]) == 2
    said = apart(plain, outcome(al.function(kernel, executor=executor), given(make)), executor)
    return said and f"{kernel.__name__} {said}"


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
