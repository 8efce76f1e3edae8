"""Arrays and tables of other libraries, and stand-ins for these: refused by name, taken over, or plain Python's."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from left_to_python import refused_or_plain
from written_out import program


class Foreign:
    """An array of another library, known by DLPack only."""

    device = (1, 0)

    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class OnAnotherDevice(Foreign):
    device = (2, 0)


class Unreadable(Foreign):
    def __dlpack__(self, **options):
        raise BufferError("bfloat16")


class Nowhere(Foreign):
    """One without memory, as PyTorch's on the device "meta"."""

    def __dlpack_device__(self):
        raise ValueError("Unknown device")


X = np.array([0.5, -1.0, 2.0])
#: what plain Python runs, of a Series ``S``, a DataFrame ``D`` and a DataArray ``A`` that are found
WITH_LABELS = {
    "pandas": (
        "S + x", "x * S", "S.sum() * x", "S.to_numpy() * x", "D['a'].values * x", "np.add(x, S)", "x[S.values > 1]",
        "S.iloc[0] = x[2]\nreturn S", "D['c'] = x\nreturn D", "y = x * 1\ny += S\nreturn y", "pd.Series(x) + S",
        "for k in range(n): S.iloc[k] += k\nreturn S * 1", "s = 0.0\nfor v in S: s += v * x[0]\nreturn s",
    ),
    "xarray": ("A * x", "x + A", "A.sum().item() * x", "xr.DataArray(x, dims='t') + A", "A[0] = x[2]\nreturn A * 1"),
}  # fmt: skip


def made(library):
    """Return what is found, made anew."""
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        series = pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0])
        return {"pd": pd, "S": series, "D": pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]})}
    xr = pytest.importorskip("xarray")
    return {"xr": xr, "A": xr.DataArray([1.0, 2.0, 3.0], dims="t")}


@pytest.mark.parametrize("library", WITH_LABELS)
def test_what_has_labels_aligns_by_them_as_in_plain_python(library):
    for text in WITH_LABELS[library]:
        plain, ours = (program(text, ["x", "n"], **made(library)) for _ in "ab")
        ours = al.function(ours)
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".* runs as plain Python")
                given = ours(X.copy(), np.int64(3))
            wanted = plain(X.copy(), np.int64(3))
            assert type(given) is type(wanted) and repr(given) == repr(wanted), text


@pytest.mark.parametrize("library", WITH_LABELS)
def test_what_has_labels_is_plain_pythons_as_an_argument(library):
    def double(x):
        x = x["a"] if isinstance(x, dict) else x[0] if isinstance(x, list) else x
        i = 0
        while i < 1:
            x = x * 2
            i += 1
        return x

    for name, value in made(library).items():
        if len(name) == 1:
            f, words = al.function(double), f"argument 'x.*' is a {library}.*, whose labels would be lost"
            with pytest.warns(UserWarning, match=f"double runs as plain Python: {words}"):
                assert repr(f(value)) == repr(value * 2)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".* runs as plain Python")
                for given in (value, [value], {"a": value}):
                    assert repr(f(given)) == repr(value * 2)
            assert f(np.ones(2)).tolist() == [2.0, 2.0] and f.tracing_count == 1
            with pytest.raises(TypeError, match=f"is a {library}.*, whose labels would be lost"):
                al.grad(f)(value)
            with pytest.raises(TypeError, match=words):
                al.function(double, input_signature=[al.TensorSpec([None], al.float64)])(value)
            if "native" in EXECUTORS:
                with pytest.raises(TypeError, match=f"executor='native' cannot run double: {words}"):
                    al.function(double, executor="native")(value)


def test_tensors_of_pytorch_come_back_as_such():
    torch = pytest.importorskip("torch")
    f = al.function(lambda x: x.sum() * 2)
    for value in (torch.ones(3), torch.arange(6.0).reshape(3, 2).T, torch.zeros(0), torch.tensor(2.0)):
        assert type(f(value)) is torch.Tensor and f(value) == value.numpy().sum() * 2
    assert al.function(lambda x: x)(t := torch.ones(3)) is t
    plain = (
        (torch.ones(3, requires_grad=True), "a tensor that requires a gradient, which torch itself follows"),
        (torch.ones(3, dtype=torch.bfloat16), "of dtype torch.bfloat16"),
        (torch.eye(3).to_sparse(), "a tensor of the layout torch.sparse_coo"),
    )
    for value, words in plain:
        f = al.function(lambda x: x.sum() * 2)
        with pytest.warns(UserWarning, match=f"runs as plain Python: argument 'x' is .*{words}"):
            assert f(value) == value.sum() * 2
        with pytest.raises(TypeError, match=f"argument 'x' is .*{words}.*executor='dataflow' cannot run it"):
            al.function(lambda x: x.sum() * 2, executor="dataflow")(value)
    assert f(torch.tensor([1j]).conj()) == -2j and f(torch.empty(3, device="meta")).device.type == "meta"


@each(["x + T.numpy()", "torch.sin(T).numpy() * x", "T[0] = x[2]\nreturn T.numpy() * x"])
def test_tensors_of_pytorch_that_are_found_are_plain_pythons(text):
    torch = pytest.importorskip("torch")
    plain, ours = (program(text, ["x"], torch=torch, T=torch.ones(3, dtype=torch.float64)) for _ in "ab")
    with pytest.warns(UserWarning, match="runs as plain Python"):
        given = al.function(ours)(X.copy())
    np.testing.assert_array_equal(given, plain(X.copy()))


def test_pytorch_takes_tensors():
    torch = pytest.importorskip("torch")
    t = al.constant([1.0, 2.0])
    theirs = torch.from_dlpack(t)
    theirs[0] = 9.0
    assert t.numpy().tolist() == [1.0, 2.0] and al.from_dlpack(theirs).numpy().tolist() == [9.0, 2.0]


def test_arrays_of_other_libraries_are_taken_over_through_dlpack():
    f = al.function(lambda x, rest: (x * 2, rest["a"] + 1))
    for start in (0.0, 5.0):
        values = np.arange(start, start + 3)
        doubled, more = f(Foreign(values), {"a": Foreign(values)})
        assert type(doubled) is np.ndarray and doubled.tolist() == (values * 2).tolist()
        assert more.tolist() == (values + 1).tolist()
    assert f.tracing_count == 1
    given = Foreign(np.ones(3))
    assert al.function(lambda x: x)(given) is given


@pytest.mark.parametrize(
    ("given", "words"),
    [(OnAnotherDevice([1.0]), "on another device; move it to the CPU"),
     (Unreadable([1.0]), r"that NumPy cannot take over \(bfloat16\)"),
     (Nowhere([1.0]), r"that NumPy cannot take over \(Unknown device\)")],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_refused(given, words):
    with pytest.raises(TypeError, match=f"argument 'x' is a test_arrays_of_other_libraries.*{words}"):
        al.function(lambda x: x * 2)(given)


def test_tensors_are_handed_on_through_dlpack():
    t = al.constant(np.arange(6.0).reshape(2, 3))
    found = np.from_dlpack(t)
    assert np.array_equal(found, t.numpy())
    found[0, 0] = 7.0  # as libraries do that do not ask whether they may
    assert t.numpy()[0, 0] == 0.0
    shared = np.from_dlpack(t, copy=False)
    assert np.shares_memory(shared, t.numpy()) and not shared.flags.writeable
    with pytest.raises(BufferError, match="device"):
        t.__dlpack__(dl_device=(2, 0))
    assert t.__dlpack_device__() == (1, 0) == np.ones(2).__dlpack_device__()
    assert np.from_dlpack(al.constant(2.5)).shape == ()


def test_an_object_that_knows_no_copies_is_made_a_tensor_without_a_warning():
    class Older:
        held = np.ones(2)

        def __array__(self, dtype=None):
            return self.held

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, as for tensors of PyTorch's
        made = al.constant(Older()), al.convert_to_tensor(Older()), al.sin(Older()), al.zeros(2) + Older()
    Older.held[0] = 5.0
    assert made[0].numpy().tolist() == [1.0, 1.0] and made[3].numpy().tolist() == [1.0, 1.0]


def test_who_cannot_be_told_that_tensors_are_not_written_to_gets_a_copy():
    t = al.constant(np.arange(3.0))

    class Older(Foreign):
        def __dlpack__(self, **options):
            return t.__dlpack__()

    theirs = np.from_dlpack(Older(0.0))
    assert theirs.tolist() == [0.0, 1.0, 2.0]
    assert not np.shares_memory(theirs, t.numpy())
    with pytest.raises(BufferError, match="a tensor cannot be written to"):
        t.__dlpack__(copy=False)


def test_a_symbolic_tensor_has_no_memory_to_hand_on():
    words = r"x.__dlpack__\(\) asks for an array of another library of"
    refused_or_plain(lambda x: np.from_dlpack(x), words, np.ones(2))
