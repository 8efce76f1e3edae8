"""PyTorch: memory goes both ways through DLPack, and a decorated function with its gradient is an autograd function."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.nightly


def waves(x):
    i = 0
    while i < 3:
        x = np.sin(x) + 1
        i += 1
    return x


value_and_slope = al.value_and_grad(al.function(lambda x: np.sum(waves(x) ** 2)))


class Energy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        value, slope = value_and_slope(x.detach().numpy())
        ctx.save_for_backward(torch.from_numpy(slope))
        return x.new_tensor(value)

    @staticmethod
    def backward(ctx, weight):
        (slope,) = ctx.saved_tensors
        return weight * slope


def test_both_ways_through_dlpack():
    t = al.constant([1.0, 2.0])
    for theirs in (torch.from_dlpack(t), torch.as_tensor(t), torch.tensor(t)):
        assert theirs.dtype == torch.float32 and theirs.tolist() == [1.0, 2.0]
    theirs[0] = 9.0
    assert t.numpy().tolist() == [1.0, 2.0]  # tensors do not change
    for ours in (al.from_dlpack(theirs), al.constant(theirs), al.asarray(theirs), al.convert_to_tensor(theirs)):
        assert type(ours) is al.Tensor and ours.dtype == al.float32 and ours.numpy().tolist() == [9.0, 2.0]
    assert (t + theirs).numpy().tolist() == (theirs + t).numpy().tolist() == [10.0, 4.0]


def test_arguments_are_taken_over_or_refused():
    f, x = al.function(waves), torch.arange(4.0)
    found = f(x)
    assert type(found) is torch.Tensor and np.allclose(found.numpy(), waves(x.numpy()))

    @al.function
    def write(x):
        x[0] = 9.0

    with pytest.warns(UserWarning, match="runs as plain Python.*is written to"):
        write(x)
    assert x[0] == 9.0
    for followed in (torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))):
        with pytest.warns(UserWarning, match="runs as plain Python: argument 'x' .*detach"):
            assert al.function(lambda x: x * 2)(followed).requires_grad
        with pytest.raises(TypeError, match="argument 'x' .*detach.*AL615"):
            al.function(waves, executor="dataflow")(followed)


def test_an_autograd_function():
    x = torch.arange(4.0, dtype=torch.float64, requires_grad=True)
    (Energy.apply(x) * 2).backward()
    other = x.detach().clone().requires_grad_()
    y = other
    for _ in range(3):
        y = torch.sin(y) + 1
    ((y**2).sum() * 2).backward()
    assert torch.allclose(x.grad, other.grad) and torch.autograd.gradcheck(Energy.apply, (x,))
    optimizer = torch.optim.SGD([x], lr=0.1)
    first = Energy.apply(x).item()
    for _ in range(5):
        optimizer.zero_grad()
        loss = Energy.apply(x)
        loss.backward()
        optimizer.step()
    assert loss.item() < first


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return waves_of(i)


@al.function
def waves_of(i):
    return waves(np.arange(3.0) * i)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*_at_fork:pytest.PytestUnraisableExceptionWarning")
def test_data_loaders(workers):
    batches = list(torch.utils.data.DataLoader(Samples(), batch_size=3, num_workers=workers))
    assert np.allclose(torch.cat(batches).numpy(), [waves(np.arange(3.0) * i) for i in range(6)])
