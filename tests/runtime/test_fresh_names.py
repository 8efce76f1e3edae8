"""What is sent to a cluster has names that were never used for anything else: its scheduler warns where they were."""

from __future__ import annotations

import logging

import autoloop as al
import numpy as np
import pytest
from api import dask_engine, loop_recovery
from distributed_programs import PROGRAMS, cut

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with distributed.Client(processes=False, **options) as made:
        yield made


#: with templates and without; the slower ones by night
BOTH = [(name, True) for name in PROGRAMS] + [
    pytest.param(name, False, marks=[] if name in ("PageRank", "Jacobi") else pytest.mark.nightly) for name in PROGRAMS
]


@pytest.mark.parametrize(("name", "is_written"), BOTH)
def test_no_name_is_used_twice(name, is_written, cluster, monkeypatch, caplog):
    monkeypatch.setattr(loop_recovery, "FIRST", 6)  # anchors in between
    monkeypatch.setattr(loop_recovery, "SHARE", 0)
    if not is_written:
        monkeypatch.setattr(dask_engine.Templates, "of", lambda self, targets, threads: None)
    program = PROGRAMS[name]
    arguments = program.arguments(program.size if name == "k-means" else program.size // 10)
    given = cut(program, arguments, 3, da.from_array)
    loop = al.function(program.function)
    with caplog.at_level(logging.WARNING, logger="distributed"):
        found = dask.compute(loop(*given))[0]
    for one, other in zip(found, program.function(*arguments)):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    assert not [record for record in caplog.records if "run_spec" in record.getMessage()]
