"""The loops that are measured on Dask: plain ones, decorated ones and those written for Dask give the same."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from distributed_programs import PROGRAMS, cut

#: as sums of chunks are in another order
CLOSE = {"rtol": 1e-6, "atol": 1e-9}


def same(found, wanted):
    assert isinstance(wanted, tuple) == isinstance(found, tuple)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), **CLOSE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_decorated_on_numpy(name):
    program = PROGRAMS[name]
    wanted = program.function(*program.arguments())
    assert 5 < program.rounds(wanted) < 200
    same(al.function(program.function)(*program.arguments()), wanted)


@pytest.mark.nightly
@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_by_hand_for_dask(name, chunks):
    dask = pytest.importorskip("dask")
    array = pytest.importorskip("dask.array")
    import loops_by_hand

    program = PROGRAMS[name]
    given = cut(program, program.arguments(), chunks, array.from_array)
    with dask.config.set(scheduler="sync"):
        same(dask.compute(loops_by_hand.BY_HAND[name](*given))[0], program.function(*program.arguments()))
