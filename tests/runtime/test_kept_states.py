"""What loops that are kept in a folder may hold and be in: lists, generators, variables; branches and other loops."""

from __future__ import annotations

import errno
import os
import random
import shutil
import warnings

import api
import autoloop as al
import numpy as np
import pytest

checkpoints = api.loop_checkpoints
EXECUTORS = ["auto", "dataflow", "sequential"]
generator, variable = np.random.default_rng(0), None


class Crash(BaseException):
    """What no handler of the library's is for."""


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """How long a disk takes is not asked here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def crashed(monkeypatch, path, call, after=2, every=3):
    """Let a call die after some checkpoints; return where these are."""
    save, done = checkpoints.CheckpointFolder.save, []

    def fails(self, places, outside):
        if len(done) == after:
            raise Crash
        save(self, places, outside)
        done.append([place.iteration for place in places])

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with pytest.raises(Crash), al.keep_checkpoints(path, checkpoint_every=every):
            call()
    return done


def goes_on(monkeypatch, path, f, *args, before=lambda: None, after=2, every=3, small=1 << 14):
    """The checkpoints of a call that dies, which is then made again and gives what the plain function does."""
    before()
    wanted = f(*args)
    made = al.function(f)
    monkeypatch.setattr(checkpoints, "SMALL", small)
    before()
    done = crashed(monkeypatch, path, lambda: made(*args), after, every)
    before()
    with al.keep_checkpoints(path, checkpoint_every=every, resume=True):
        found = al.function(f)(*args)
    assert os.listdir(path) == []
    assert repr(found) == repr(wanted)
    return done


@pytest.mark.parametrize("small", [0, 1 << 14])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_list_that_grows_is_kept(tmp_path, monkeypatch, executor, small):
    def grows(x):
        sums, rows = [], []
        while x.sum() > 1:
            sums.append(x.sum())
            rows.append(x * 2)
            x = x * 0.75
            if len(sums) > 4:
                sums[2] = sums[-1]
        return sums, rows

    with al.config(executor=executor):
        assert goes_on(monkeypatch, tmp_path, grows, np.ones(3) * 9, small=small) == [[3], [6]]


def test_a_tensor_array_is_kept(tmp_path, monkeypatch):
    def writes(x):
        rows = al.TensorArray(al.float64, size=0, dynamic_size=True, element_shape=[2])
        i = al.constant(0)
        while i < 12:
            rows = rows.write(2 * i, x * al.cast(i, al.float64))
            i += 1
        return rows.stack()

    assert goes_on(monkeypatch, tmp_path, writes, np.ones(2)) == [[3], [6]]


def draws_given(x, rng):
    x = x + rng.normal(size=3)
    while x.sum() < 30:
        x = x + rng.integers(0, 5, size=3) * rng.random()
    return x, rng.normal()


def draws_global(x):
    while x.sum() < 30:
        x = x + generator.random(3)
    return x, generator.random()


def draws_hidden(x):
    while x.sum() < 30:
        x = x + np.random.rand(3) + random.random()
    return x, np.random.normal()


def draws_process(x):
    x = al.convert_to_tensor(x)
    while al.sum(x) < 30:
        x = x + al.random.uniform((3,), dtype=al.float64)
    return x


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_where_a_generator_stands_is_kept(tmp_path, monkeypatch, kind):
    x, made = np.zeros(3), []
    wanted = draws_given(x, np.random.Generator(kind(7)))
    crashed(monkeypatch, tmp_path, lambda: al.function(draws_given)(x, np.random.Generator(kind(7))))
    with al.keep_checkpoints(tmp_path, resume=True):
        made = al.function(draws_given)(x, np.random.Generator(kind(7)))
    assert repr(made) == repr(wanted)


def test_where_generators_of_the_program_stand_is_kept(tmp_path, monkeypatch):
    def seeds():
        global generator
        generator = np.random.default_rng(3)
        np.random.seed(5)
        random.seed(6)
        al.random.set_seed(4)

    for f in (draws_global, draws_hidden, draws_process):
        assert goes_on(monkeypatch, tmp_path, f, np.zeros(3), before=seeds, every=2) == [[2], [4]]


def test_a_generator_that_stands_elsewhere_is_another_run(tmp_path, monkeypatch):
    crashed(monkeypatch, tmp_path, lambda: al.function(draws_given)(np.zeros(3), np.random.default_rng(1)))
    with pytest.raises(al.CheckpointError, match="AL714"), al.keep_checkpoints(tmp_path, resume=True):
        al.function(draws_given)(np.zeros(3), np.random.default_rng(2))


def test_what_is_drawn_belongs_to_the_function(tmp_path, monkeypatch):
    def wider(x, rng):
        x = x + rng.normal(size=3)
        while x.sum() < 30:
            x = x + rng.integers(0, 6, size=3) * rng.random()
        return x, rng.normal()

    crashed(monkeypatch, tmp_path, lambda: al.function(draws_given)(np.zeros(3), np.random.default_rng(1)))
    with pytest.raises(al.CheckpointError, match="AL714"), al.keep_checkpoints(tmp_path, resume=True):
        al.function(wider)(np.zeros(3), np.random.default_rng(1))


def test_variables_are_kept(tmp_path, monkeypatch):
    total = al.Variable(np.zeros(3))

    def adds(x):
        total.assign_add(x)
        i = al.constant(0)
        while i < 11:
            total.assign_add(x * total)
            i += 1
        return total.read_value(), i

    assert goes_on(monkeypatch, tmp_path, adds, np.ones(3), before=lambda: total.assign(np.zeros(3))) == [[3], [6]]


def test_a_loop_in_a_branch_is_kept(tmp_path, monkeypatch):
    def branches(x):
        if x.sum() > 3:
            y = x * 2
            while x.max() < 50:
                x = x + y
        else:
            y = x
        while y.max() < 40:
            y = y + x
        return x, y

    assert goes_on(monkeypatch, tmp_path, branches, np.arange(3.0) + 1, every=2) == [[0, 2], [0, 4]]
    assert goes_on(monkeypatch, tmp_path, branches, np.array([0.5, 1.0, 1.5]), after=5) == [
        [k] for k in (3, 6, 9, 12, 15)
    ]


def test_a_loop_that_follows_an_early_return_is_kept(tmp_path, monkeypatch):
    def returns(x):
        if x.sum() > 100:
            return x
        while x.max() < 50:
            x = x + 3.0
        return x * 2

    assert goes_on(monkeypatch, tmp_path, returns, np.arange(3.0)) == [[1, 3], [1, 6]]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_long_loops_inside_others_are_kept(tmp_path, monkeypatch, executor):
    def nested(x):
        k = 0
        while x.sum() < 4000:
            y = x * 0 + k
            while y.max() < 100:
                y = y + 1.5
                if y.min() > 70:
                    y = y + 1.0
            x = x + y
            k += 1
        return x, k

    with al.config(executor=executor):
        assert goes_on(monkeypatch, tmp_path / "a", nested, np.arange(3.0)) == [[3], [6]]
        segmented = api.segmented_run
        monkeypatch.setattr(segmented, "PATIENCE", 0.0)
        monkeypatch.setattr(segmented, "LONG", 0.0)
        for after in (1, 2, 3, 4, 7):
            done = goes_on(monkeypatch, tmp_path / "b", nested, np.arange(3.0), after=after)
            assert len(done) == after and max(map(len, done)) == 2


def test_an_error_inside_says_both_iterations(tmp_path, monkeypatch):
    monkeypatch.setattr(api.segmented_run, "LONG", 0.0)
    monkeypatch.setattr(api.segmented_run, "_FIRST", 2)

    @al.function
    def nested(x):
        while x.sum() < 4000:
            y = x
            while y.max() < 100:
                y = y + 1.5
                assert y.sum() < 180
            x = x + y
        return x

    with pytest.raises(AssertionError) as plain:
        nested(np.arange(3.0))
    with pytest.raises(AssertionError) as caught, al.keep_checkpoints(tmp_path, checkpoint_every=3):
        nested(np.arange(3.0))
    assert caught.value.__notes__ == plain.value.__notes__


def test_a_while_loop_whose_end_is_known_is_kept(tmp_path, monkeypatch):
    def counts(x):
        i = 0
        while i < 12:
            x = x * 0.5 + 1
            i += 1
        return x, i

    assert goes_on(monkeypatch, tmp_path, counts, np.ones(3)) == [[3], [6]]


def test_of_a_loop_that_is_written_out_the_user_is_told(tmp_path):
    @al.function
    def squares(x):
        i = 2
        while i * i < 500:
            x = x * 0.5 + i
            i += 1
        return x

    for _ in range(2):
        with (
            pytest.warns(RuntimeWarning, match=r"`while` loop of 21 iterations .*test_kept_states.py:\d+.*AL716"),
            al.keep_checkpoints(tmp_path, checkpoint_every=20),
        ):
            squares(np.ones(3))
    with warnings.catch_warnings(), al.keep_checkpoints(tmp_path, checkpoint_every=30):
        warnings.simplefilter("error")
        squares(np.ones(3))


@al.function
def steps(x):
    k = 0
    while x.sum() < 1e4:
        x = x * 1.25 + k
        k += 1
    return x, k


@pytest.mark.parametrize("fault", ["full disk", "folder is gone", "read-only", "ctrl-c while writing"])
def test_a_folder_that_fails_is_told_and_keeps_what_it_has(tmp_path, monkeypatch, fault):
    """The error is the system's; what was whole stays, nothing else does, and the program goes on from it."""
    monkeypatch.setattr(checkpoints, "SMALL", 0)
    save, left, folder = checkpoints.CheckpointFolder.save, [2], tmp_path / "kept"

    def fails(self, *args):
        left[0] -= 1
        if left[0] >= 0:
            return save(self, *args)
        with pytest.MonkeyPatch.context() as patch:
            if fault == "folder is gone":
                shutil.rmtree(folder)
            else:
                number = errno.ENOSPC if fault == "full disk" else errno.EROFS
                where = (os, "mkdir") if fault == "read-only" else (os, "fsync")

                def refuses(*_, **__):
                    raise KeyboardInterrupt if "ctrl-c" in fault else OSError(number, os.strerror(number))

                patch.setattr(*where, refuses)
            save(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with (
            pytest.raises((OSError, KeyboardInterrupt), match="No space|No such file|Read-only|^$"),
            al.keep_checkpoints(folder, checkpoint_every=3),
        ):
            steps(np.ones(3))
    whole = ["00000000", "00000001", "lock"]
    assert not folder.exists() if fault == "folder is gone" else sorted(os.listdir(folder / "call-000")) == whole
    with al.keep_checkpoints(folder, checkpoint_every=3, resume=True):
        found = steps(np.ones(3))
    assert repr(found) == repr(steps.python_function(np.ones(3)))
    assert os.listdir(folder) == []
