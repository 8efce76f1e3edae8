"""Checkpoints of loops over arrays of other libraries: they hold what theirs hold, and theirs comes back."""

from __future__ import annotations

import os

import api
import autoloop as al
import numpy as np
import pytest

checkpoints = api.loop_checkpoints


def torch_tensor(values):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").tensor(values)


def strict_array(values):
    return pytest.importorskip("array_api_strict").asarray(values)


every_library = pytest.mark.parametrize("theirs", [torch_tensor, strict_array])


class Crash(BaseException):
    """What no handler of the library's is for."""


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """How long a disk takes is not asked here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@al.function
def halved(x, n):
    kept, k = x + 1.0, 0
    while k < n:
        x = x * 0.5 + kept
        k += 1
    return x, kept, k


def crashed(tmp_path, monkeypatch, x, n, left, f=halved):
    """Run until so many checkpoints are written; return the iterations of these."""
    save, done = checkpoints.CheckpointFolder.save, []

    def fails(self, places, outside):
        if len(done) == left:
            raise Crash
        save(self, places, outside)
        done.append(places[0].iteration)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with pytest.raises(Crash), al.keep_checkpoints(tmp_path, checkpoint_every=5):
            f(x, n)
    return done


@every_library
def test_a_loop_is_kept_and_goes_on(theirs, tmp_path, monkeypatch):
    values, n = [[9.0, 3.0], [0.5, -1.0]], np.int64(23)
    wanted = halved.python_function(theirs(values), n)
    assert crashed(tmp_path, monkeypatch, theirs(values), n, 3) == [5, 10, 15]
    with pytest.raises(al.CheckpointError, match="AL714"), al.keep_checkpoints(tmp_path, resume=True):
        halved(theirs([[9.0, 3.0], [0.5, -2.0]]), n)
    loops = []
    read = checkpoints.CheckpointFolder.newest
    monkeypatch.setattr(checkpoints.CheckpointFolder, "newest", lambda self: loops.append(read(self)) or loops[-1])
    with al.keep_checkpoints(tmp_path, checkpoint_every=5, resume=True):
        found = halved(theirs(values), n)
    assert [one.places[0].iteration for one in loops] == [15]
    assert [type(one) for one in found] == [type(one) for one in wanted]
    assert [str(one.dtype) for one in found[:2]] == [str(one.dtype) for one in wanted[:2]]
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(found, wanted))
    assert os.listdir(tmp_path) == []


@every_library
def test_damage_is_found(theirs, tmp_path, monkeypatch):
    n = np.int64(23)
    assert crashed(tmp_path, monkeypatch, theirs([9.0, 3.0]), n, 2) == [5, 10]
    newest = tmp_path / "call-000" / "00000001"
    name = next(name for name in os.listdir(newest) if name.endswith(".npy"))
    (newest / name).write_bytes(b"")
    with (
        pytest.warns(RuntimeWarning, match="the checkpoint before the newest"),
        al.keep_checkpoints(tmp_path, checkpoint_every=5, resume=True),
    ):
        found, _, k = halved(theirs([9.0, 3.0]), n)
    assert k == 23
    assert np.array_equal(np.asarray(found), np.asarray(halved.python_function(theirs([9.0, 3.0]), n)[0]))


@every_library
def test_a_list_that_grows_is_kept(theirs, tmp_path, monkeypatch):
    @al.function
    def grown(x, n):
        found, k = [], 0
        while k < n:
            x = x * 0.5
            found.append(x)
            k += 1
        return found

    wanted = grown.python_function(theirs([9.0, 3.0]), 17)
    assert crashed(tmp_path, monkeypatch, theirs([9.0, 3.0]), np.int64(17), 2, grown) == [5, 10]
    with al.keep_checkpoints(tmp_path, checkpoint_every=5, resume=True):
        found = grown(theirs([9.0, 3.0]), np.int64(17))
    assert [type(one) for one in found] == [type(one) for one in wanted]
    assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(found, wanted, strict=True))


def test_theirs_comes_back_to_its_device(tmp_path, monkeypatch):
    xs = pytest.importorskip("array_api_strict")
    x, n = xs.asarray([9.0, 3.0], device=xs.Device("device1")), np.int64(23)
    assert crashed(tmp_path, monkeypatch, x, n, 2) == [5, 10]
    with al.keep_checkpoints(tmp_path, checkpoint_every=5, resume=True):
        found = halved(x, n)[0]
    assert found.device == x.device
    assert np.array_equal(list(map(float, found)), list(map(float, halved.python_function(x, n)[0])))


def test_what_does_not_come_to_numpy_is_refused_at_the_line(tmp_path, monkeypatch):
    x = strict_array([9.0, 3.0])

    def fails(*_, **__):
        raise RuntimeError("it lies elsewhere")

    for name in ("__array__", "__buffer__", "__dlpack__", "__len__", "__getitem__"):
        monkeypatch.setattr(type(x), name, fails, raising=False)
    with (
        pytest.raises(al.SaveError, match=r"array_api_strict .*elsewhere.*test_kept_other_arrays.py:\d+.*AL711"),
        al.keep_checkpoints(tmp_path, checkpoint_every=5),
    ):
        halved(x, np.int64(23))
    assert os.listdir(tmp_path) == []
