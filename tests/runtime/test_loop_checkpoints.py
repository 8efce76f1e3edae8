"""The state of loops in a folder: it is read as it was written, damage is found, and no crash leaves half of it."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import api
import autoloop as al
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

checkpoints = api.loop_checkpoints
DTYPES = st.sampled_from(["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "U3"])
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
NUMBERS = st.one_of(st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), st.floats(), st.complex_numbers())


@al.function
def two_loops(x, n):
    y = np.zeros(3)
    i = 0
    while i < n and y[0] < 1e9:
        y = y * 0.5 + x
        i += 1
    z, k = y + 1, 0.0
    while z.sum() > 1.0:
        z = z * 0.9
        k += 1.5
    return z, k, i, y.max()


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """How long a disk takes is not asked here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Crash(BaseException):
    """What no handler of the library's is for."""


def at(stage, iteration, **values):
    """A place in a graph."""
    return checkpoints.Place(stage, iteration, [*values.values()], [*values])


def same(a, b):
    return all(np.array_equal(p, q) and type(p) is type(q) for p, q in zip(a, b, strict=True))


def kept(path: Path) -> list[str]:
    """The files there are, from which nothing is made."""
    return sorted(name for _, folders, files in os.walk(path) for name in [*folders, *files])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(ARRAYS, NUMBERS), max_size=4), st.sampled_from([0, 1 << 14]))
def test_what_is_written_is_read_again(tmp_path_factory, values, small):
    path = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch, checkpoints.CheckpointFolder(str(path / "a"), "run") as folder:
        patch.setattr(checkpoints, "SMALL", small)
        folder.save([at(2, 70, **{f"v{k}": value for k, value in enumerate(values)}), at(0, 3, x=1.5)])
        found, inner = folder.newest().places
        assert (found.stage, found.iteration, len(found.values)) == (2, 70, len(values))
        assert (inner.stage, inner.iteration, inner.values) == (0, 3, [1.5])
        for value, again in zip(values, found.values):
            assert type(again) is type(value)
            assert np.asarray(again).dtype == np.asarray(value).dtype
            np.testing.assert_array_equal(again, value)
        folder.clear()
    assert kept(path) == []


def test_two_are_kept_and_the_newest_is_read(tmp_path):
    with checkpoints.CheckpointFolder(str(tmp_path), "run") as folder:
        for k in range(5):
            folder.save([at(0, k, x=np.full(5000, k))])
            assert folder.numbers() == [*range(max(0, k - 1), k + 1)]
        assert folder.newest().places[0].iteration == 4


@pytest.mark.parametrize("damage", ["flip", "cut", "longer", "gone", "empty"])
def test_damage_is_found_and_the_one_before_is_taken(tmp_path, damage):
    chance = random.Random(damage)
    with checkpoints.CheckpointFolder(str(tmp_path), "run") as folder:
        for k in range(2):
            folder.save([at(0, k, x=np.full(5000, k), y=np.float32(k))])
        names = sorted(os.listdir(tmp_path / "00000001"))
        assert names == ["0-0.npy", "manifest"]
        for name in names:
            file = tmp_path / "00000001" / name
            content = file.read_bytes()
            for _ in range(40 if damage in ("flip", "cut") else 1):
                place = chance.randrange(len(content))
                changed = {
                    "flip": content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :],
                    "cut": content[:place], "longer": content + b"\0", "gone": None, "empty": b"",
                }[damage]  # fmt: skip
                file.unlink() if changed is None else file.write_bytes(changed)
                with pytest.warns(RuntimeWarning, match="the checkpoint before the newest"):
                    assert folder.newest().places[0].iteration == 0
                file.write_bytes(content)
        (tmp_path / "00000000" / "manifest").write_bytes(b"")
        (tmp_path / "00000001" / "manifest").write_bytes(b"")
        with pytest.raises(al.LoadError, match="AL710"):
            folder.newest()


def test_nothing_is_unpickled(tmp_path):
    with checkpoints.CheckpointFolder(str(tmp_path), "run") as folder:
        with pytest.raises(al.SaveError):
            folder.save([at(0, 0, x=np.array([{}], object))])
        assert folder.numbers() == []
        folder.save([at(0, 0, x=np.zeros(5000))])
        np.save(tmp_path / "00000000" / "0-0.npy", np.array([{}], object), allow_pickle=True)
        with pytest.raises(al.LoadError):
            folder.newest()
        content = (tmp_path / "00000000" / "0-0.npy").read_bytes()
        with pytest.raises(al.LoadError, match="allow_pickle"):
            checkpoints.read_chunk(
                str(tmp_path / "00000000" / "0-0.npy"), "f8", [1], len(content), hashlib.sha256(content).hexdigest()
            )


def test_a_manifest_names_no_file_elsewhere(tmp_path):
    for name in ("../0-0.npy", "/etc/passwd", "0-0.npy\n", "manifest", 3):
        with pytest.raises(al.LoadError, match="names a chunk"):
            checkpoints.chunk_row([name, 5, "0" * 64], str(tmp_path))


@pytest.mark.parametrize("executor", ["auto", "dataflow", "sequential", "native"])
def test_a_run_with_checkpoints_gives_what_one_without_gives(tmp_path, executor):
    if executor == "native":
        pytest.importorskip("llvmlite")
    plain = two_loops.python_function(np.arange(3.0), 25)
    for every in (1, 7, 25, 1000):
        with al.config(executor=executor), al.keep_checkpoints(tmp_path, checkpoint_every=every):
            assert same(two_loops(np.arange(3.0), 25), plain)
    assert kept(tmp_path) == []


@pytest.mark.parametrize("step", ["rename", "mkdir", "fsync", "unlink", "rmdir"])
def test_after_a_crash_at_any_step_it_goes_on_to_the_same_numbers(tmp_path, monkeypatch, step):
    plain = two_loops.python_function(np.arange(3.0), 25)
    real, number, died = getattr(os, step), 0, True
    while died:
        number, died, left = number + 1, False, number

        def fails(*args, **kwargs):
            nonlocal left
            if left == 0:
                raise Crash
            left -= 1
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, fails)
            patch.setattr(checkpoints, "SMALL", 0)
            # a process that has been killed removes nothing
            patch.setattr(checkpoints.shutil, "rmtree", lambda *_, **__: None)
            try:
                with al.keep_checkpoints(tmp_path, checkpoint_every=4):
                    two_loops(np.arange(3.0), 25)
            except Crash:
                died = True
        with al.keep_checkpoints(tmp_path, checkpoint_every=5, resume=True):
            assert same(two_loops(np.arange(3.0), 25), plain)
        assert kept(tmp_path) == []
    assert number > 2 or step in ("unlink", "rmdir")


def _died(monkeypatch, path, call, after=2):
    """Let a call die after some checkpoints."""
    save, left = checkpoints.CheckpointFolder.save, after

    def fails(self, *args):
        nonlocal left
        if not left:
            raise Crash
        left -= 1
        save(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFolder, "save", fails)
        with pytest.raises(Crash), al.keep_checkpoints(path, checkpoint_every=3):
            call()


def test_it_goes_on_where_it_was_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(np, "told", [], raising=False)

    @al.function
    def f(x):
        while x.sum() < 20.0:
            print("at", x[0])
            x = x + 1.0
        return x

    _died(monkeypatch, tmp_path, lambda: f(np.zeros(2)))
    told = []
    monkeypatch.setattr("builtins.print", lambda *words: told.append(words))
    with al.keep_checkpoints(tmp_path, resume=True):
        assert np.array_equal(f(np.zeros(2)), [10.0, 10.0])


def test_what_printed_before_the_crash_does_not_print_again(tmp_path, monkeypatch, capsys):
    @al.function
    def f(x):
        while x.sum() < 20.0:
            print("at", x[0])
            x = x + 1.0
        return x

    _died(monkeypatch, tmp_path, lambda: f(np.zeros(2)))
    before = capsys.readouterr().out.split("\n")
    with al.keep_checkpoints(tmp_path, resume=True):
        f(np.zeros(2))
    after = capsys.readouterr().out.split("\n")
    assert before[:6] + after == [f"at {float(k)}" for k in range(10)] + [""]


def test_arrays_of_the_caller_are_written_to_once_more(tmp_path, monkeypatch):
    @al.function
    def f(x):
        while x[0] < 10.0:
            x += 1.0
        return x.sum()

    _died(monkeypatch, tmp_path, lambda: f(np.zeros(2)))
    x = np.zeros(2)
    with al.keep_checkpoints(tmp_path, resume=True):
        assert f(x) == 20.0
    assert np.array_equal(x, [10.0, 10.0])


def test_the_second_call_of_a_block_goes_on_too(tmp_path, monkeypatch):
    calls = lambda: (two_loops(np.ones(3), 4), two_loops(np.arange(3.0), 25))  # noqa: E731
    plain = calls()
    _died(monkeypatch, tmp_path, calls, after=9)
    assert os.listdir(tmp_path) == ["call-001"]
    with al.keep_checkpoints(tmp_path, resume=True):
        again = calls()
    assert same(again[0], plain[0])
    assert same(again[1], plain[1])


def test_another_run_is_refused_and_nothing_is_changed(tmp_path, monkeypatch):
    _died(monkeypatch, tmp_path, lambda: two_loops(np.arange(3.0), 25))
    before = kept(tmp_path)
    other = al.function(lambda x, n: two_loops.python_function(x * 2, n))
    for call in (lambda: two_loops(np.ones(3), 25), lambda: other(np.arange(3.0), 25)):
        with pytest.raises(al.CheckpointError, match="AL714"), al.keep_checkpoints(tmp_path, resume=True):
            call()
    with pytest.raises(al.CheckpointError, match="AL715"), al.keep_checkpoints(tmp_path):
        two_loops(np.arange(3.0), 25)
    assert kept(tmp_path) == before
    elsewhere = tmp_path / "elsewhere"
    with al.keep_checkpoints(elsewhere, resume=tmp_path):
        assert same(two_loops(np.arange(3.0), 25), two_loops.python_function(np.arange(3.0), 25))
    assert kept(elsewhere) == []


def test_two_runs_do_not_share_a_folder(tmp_path):
    with checkpoints.CheckpointFolder(str(tmp_path / "call-000"), "run"):
        with pytest.raises(al.CheckpointError, match="AL715"), al.keep_checkpoints(tmp_path):
            two_loops(np.arange(3.0), 25)


def test_an_error_says_the_iteration_from_the_beginning_of_the_loop(tmp_path):
    @al.function
    def f(x):
        i = 0
        while x.sum() > 0:
            i += 1
            if i == 9:
                raise ValueError("oh")
            x = x + i
        return x

    for executor in ("auto", "dataflow", "sequential"):
        with pytest.raises(ValueError, match="oh") as caught, al.config(executor=executor):
            with al.keep_checkpoints(tmp_path / executor, checkpoint_every=3):
                f(np.ones(2))
        assert "iteration 8 of the loop" in caught.value.__notes__[-1]


def test_what_no_checkpoint_holds_is_refused_at_the_line(tmp_path):
    def asks(x):
        while al.sum(x) > 1:
            factor = al.py_function(lambda: 0.5, [], al.float64)
            factor.set_shape(())
            x = x * factor
        return x

    with pytest.raises(al.SaveError, match=r"test_loop_checkpoints.py:\d+\) \[AL711\]"):
        with al.keep_checkpoints(tmp_path):
            al.function(asks)(al.ones(3, al.float64))
    assert kept(tmp_path) == []


def loss(w, x):
    for _ in range(np.int64(4)):
        w = np.tanh(x @ w)
    return (w * w).sum()


slope = al.grad(al.function(loss))


@al.function
def trained(w, x, n):
    i = 0
    while i < n:
        w = w - 0.1 * slope(w, x)
        i += 1
    return w, i


@pytest.mark.parametrize("patience", [60.0, 0.0])
@pytest.mark.parametrize("executor", ["dataflow", "sequential"])
def test_a_loop_whose_iterations_take_gradients(tmp_path, monkeypatch, executor, patience):
    """What these save is in no checkpoint between them; of one inside an iteration there is none, however long."""
    monkeypatch.setattr(api.segmented_run, "LONG", patience and 5.0)
    monkeypatch.setattr(api.segmented_run, "PATIENCE", patience)
    w, x = np.linspace(-1.0, 1.0, 5), np.linspace(-0.3, 0.3, 25).reshape(5, 5)
    expected = trained(w, x, np.int64(11))
    save, left = checkpoints.CheckpointFolder.save, [3]

    def fails(self, *args):
        save(self, *args)
        left[0] -= 1
        if not left[0]:
            raise Crash

    with al.config(executor=executor):
        with monkeypatch.context() as patch:
            patch.setattr(checkpoints.CheckpointFolder, "save", fails)
            with pytest.raises(Crash), al.keep_checkpoints(tmp_path, checkpoint_every=2):
                trained(w, x, np.int64(11))
        with al.keep_checkpoints(tmp_path, checkpoint_every=2, resume=True):
            found = trained(w, x, np.int64(11))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == expected[1]
    assert left == [0]


class Diverged(Exception):
    """An error of the user's."""


def stacked(w, x, n):
    found, k = [], 0
    while k < n:
        w = w - 0.1 * al.grad(loss)(w, x)
        if w[0] > 1e6:
            raise Diverged(k)
        found.append(w)
        k += 1
    return np.stack(found)


def test_a_list_beside_gradients_that_becomes_an_array(tmp_path, monkeypatch):
    w, x = np.array([0.3, 0.5]), np.array([[0.5, 0.1], [0.2, 0.3]])
    f = al.function(stacked)
    expected = f(w, x, np.int64(11))
    _died(monkeypatch, tmp_path, lambda: f(w, x, np.int64(11)))
    with al.keep_checkpoints(tmp_path, checkpoint_every=2, resume=True):
        assert np.array_equal(f(w, x, np.int64(11)), expected)


def test_what_plain_python_would_run_has_no_checkpoints(tmp_path):
    """It was told of a gradient that nobody had asked for."""
    with pytest.raises(TypeError, match=r"draws has no checkpoints: .*AL711"), al.keep_checkpoints(tmp_path):
        draws(np.float64(3.0))


@al.function
def draws(x):
    while x > 1.0:
        x = x / 2.0
        yield_from = open(os.devnull)
        yield_from.close()
    return x
