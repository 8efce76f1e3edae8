"""JAX: arrays both ways, and decorated functions behind ``pure_callback`` with a gradient of their own."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytestmark = pytest.mark.nightly


def waves(x):
    i = 0
    while i < 3:
        x = np.sin(x) + 1
        i += 1
    return x


#: by default np.sin of an array of JAX gives NumPy's, with a warning
f = al.function(waves, executor="dataflow")
value_and_slope = al.value_and_grad(al.function(lambda x: np.sum(waves(x) ** 2)))


def test_arrays_both_ways():
    t, x = al.constant([1.0, 2.0]), jnp.arange(4.0)
    for theirs in (jnp.asarray(t), jnp.array(t), jax.dlpack.from_dlpack(t)):
        assert isinstance(theirs, jax.Array) and theirs.tolist() == [1.0, 2.0]
    for ours in (al.from_dlpack(x), al.constant(x), al.asarray(x)):
        assert type(ours) is al.Tensor and ours.numpy().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert isinstance(f(x), jax.Array) and np.allclose(f(x), waves(np.asarray(x)))

    @al.function
    def write(x):
        x[0] = 9.0

    with pytest.warns(UserWarning, match="is written to"), pytest.raises(TypeError, match="immutable"):
        write(x)


def test_callbacks():
    x = jnp.arange(4.0)
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    found = jax.jit(lambda x: jax.pure_callback(f, shape, x))(x)
    assert np.allclose(found, waves(np.asarray(x)), rtol=1e-6)
    each = jax.vmap(lambda x: jax.pure_callback(f, shape, x, vmap_method="sequential"))(jnp.stack([x, x + 1]))
    assert np.allclose(each[1], waves(np.asarray(x + 1)), rtol=1e-6)


def test_a_gradient_of_its_own():
    def both(x):
        value, slope = value_and_slope(np.asarray(x))
        return np.asarray(value), slope

    @jax.custom_vjp
    def energy(x):
        return forward(x)[0]

    def forward(x):
        return jax.pure_callback(both, (jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)), x)

    energy.defvjp(forward, lambda slope, weight: (weight * slope,))

    def plain(x):
        for _ in range(3):
            x = jnp.sin(x) + 1
        return jnp.sum(x**2)

    x = jnp.arange(4.0)
    assert np.allclose(jax.jit(jax.grad(energy))(x), jax.grad(plain)(x), rtol=1e-5)
