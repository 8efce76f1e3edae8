"""Checkpoints of lists: what the one before holds is not written again, and is there as long as it is needed."""

from __future__ import annotations

import os

import api
import autoloop as al
import numpy as np
import pytest

checkpoints = api.loop_checkpoints
X = np.arange(300.0)


@al.function
def grown(x, n):
    out = [x]
    i = 0
    while i < n:
        x = np.sin(x) + 1
        out.append(x)
        i += 1
    return out


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """How long a disk takes is not asked here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Crash(BaseException):
    """What no handler of the library's is for."""


def counted(monkeypatch):
    """Return to what the bytes of each file that is written are added."""
    sizes, write, whole = [], checkpoints.write_chunk, checkpoints.written

    def chunk(path, array):
        said = write(path, array)
        sizes.append(said[0])
        return said

    monkeypatch.setattr(checkpoints, "write_chunk", chunk)
    monkeypatch.setattr(
        checkpoints, "written", lambda path, content: (sizes.append(len(content)), whole(path, content))
    )
    return sizes


def test_what_was_appended_is_written(tmp_path, monkeypatch):
    sizes, totals = counted(monkeypatch), []
    for n in (50, 200):
        with al.keep_checkpoints(tmp_path, checkpoint_every=10):
            got = grown(X, np.int64(n))
        np.testing.assert_array_equal(got, grown.python_function(X, n))
        totals.append(sum(sizes))
        sizes.clear()
        assert os.listdir(tmp_path) == []
    # all of the list each time would be 16 times as much; it was 20 times the list
    assert totals[1] < 7 * totals[0]
    assert totals[1] < 4 * 200 * X.nbytes


@pytest.mark.nightly
@pytest.mark.parametrize("step", ["link", "rename", "unlink"])
def test_after_a_crash_at_any_step_it_goes_on_to_the_same_numbers(tmp_path, monkeypatch, step):
    plain = grown.python_function(X, 40)
    for number in (0, 2, 7):
        left, real = number, getattr(os, step)

        def fails(*args, **kwargs):
            nonlocal left
            if left == 0:
                raise Crash
            left -= 1
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, fails)
            patch.setattr(checkpoints, "SMALL", 1000)
            # a process that has been killed removes nothing
            patch.setattr(checkpoints.shutil, "rmtree", lambda *_, **__: None)
            try:
                with al.keep_checkpoints(tmp_path, checkpoint_every=3):
                    grown(X, np.int64(40))
            except Crash:
                pass
        with al.keep_checkpoints(tmp_path, checkpoint_every=2, resume=True):
            np.testing.assert_array_equal(grown(X, np.int64(40)), plain)
        assert os.listdir(tmp_path) == []


def test_without_links_all_is_written(tmp_path, monkeypatch):
    def none(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", none)
    with al.keep_checkpoints(tmp_path, checkpoint_every=5):
        np.testing.assert_array_equal(grown(X, np.int64(30)), grown.python_function(X, 30))


def test_each_checkpoint_is_whole_by_itself(tmp_path):
    spec = api.ArraySpec(np.dtype(float), al.TensorShape(X.shape), True, False, True)
    values = api.ArrayValue.empty(spec, 0)
    with checkpoints.CheckpointFolder(str(tmp_path), "run") as folder:
        for k in range(20):
            for j in range(10):
                values = values.write(10 * k + j, X + 10 * k + j)
            folder.save([checkpoints.Place(0, k, [values], ["out"])])
            kept = folder.newest()
            found = kept.places[0].values[0]
            assert found.size == 10 * k + 10
            np.testing.assert_array_equal(found.forked().rows[: found.size, 0], np.arange(10.0 * k + 10))
            assert len(os.listdir(tmp_path / f"{k:08}")) <= 1 + 2 * 8
        assert folder.numbers() == [18, 19]
        os.unlink(tmp_path / "00000018" / "0-0-0.npy")  # that of the newest is another name of the same
        assert folder.newest().places[0].iteration == 19


def test_it_goes_on_where_a_list_was_still_empty(tmp_path, monkeypatch):
    @al.function
    def late(x, n):
        out = []
        i = 0
        while i < n:
            x = np.sin(x) + 1
            if i >= 6:
                out.append(x.sum())
            i += 1
        return out

    save = checkpoints.CheckpointFolder.save

    def fails(folder, *args):
        save(folder, *args)
        raise Crash

    with monkeypatch.context() as patch, pytest.raises(Crash), al.keep_checkpoints(tmp_path, checkpoint_every=2):
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        late(X, np.int64(9))
    with al.keep_checkpoints(tmp_path, checkpoint_every=2, resume=True):
        np.testing.assert_array_equal(late(X, np.int64(9)), late.python_function(X, 9))


def test_what_has_changed_is_written_anew(tmp_path):
    spec = api.ArraySpec(np.dtype(float), al.TensorShape(X.shape), True, False, True)
    with checkpoints.CheckpointFolder(str(tmp_path), "run") as folder:
        for k, firsts in enumerate((range(9), range(12), [*range(8), 5, 9], range(3), [7, 7, *range(9)])):
            values = api.ArrayValue.empty(spec, 0).write_all(range(len(firsts)), [X + one for one in firsts])
            folder.save([checkpoints.Place(0, k, [values], ["out"])])
            found = folder.newest().places[0].values[0]
            assert found.forked().rows[: found.size, 0].tolist() == [*firsts]
