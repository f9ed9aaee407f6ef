"""Just enough of JAX for a replay script to build its ops, without JAX.

Nothing is computed: arrays have a shape and a type, and each function works out those of its result.
`calls` has the name of each function with its arguments.
"""

__version__ = "stub"
calls = []


class Array:
    def __init__(self, shape, dtype, **about):
        self.shape, self.dtype, self.about = tuple(shape), dtype, about

    def astype(self, dtype):
        return Array(self.shape, dtype, **self.about)

    def max(self):
        return Array((), self.dtype)


ShapeDtypeStruct = Array

from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402


class config:
    @staticmethod
    def update(name, value):
        calls.append(("config", name, value))


class _Device:
    platform, device_kind = "cpu", "cpu"


def devices():
    return [_Device]


def jit(function, donate_argnums=()):
    calls.append(("jit", donate_argnums))
    return function


def block_until_ready(value):
    return value


def vjp(function, *inputs):
    return function(*inputs), lambda gradient: inputs


def linear_transpose(function, wanted):
    def transposed(gradient):
        assert function(wanted).shape == gradient.shape
        return (Array(wanted.shape, wanted.dtype),)
    return transposed


class random:
    PRNGKey = staticmethod(lambda seed: ("key", seed))
    split = staticmethod(lambda key: (key, key))
    normal = staticmethod(lambda key, shape, dtype: Array(shape, dtype, fill="normal"))
    bernoulli = staticmethod(lambda key, shape: Array(shape, jnp.bool_, fill="bernoulli"))
    randint = staticmethod(lambda key, shape, low, high, dtype: Array(shape, dtype, fill="range", high=high))


class nn:
    relu = gelu = staticmethod(lambda value: value)

    @staticmethod
    def dot_product_attention(q, k, v, **keywords):
        calls.append(("attention", keywords))
        return Array(q.shape, q.dtype)


class profiler:
    pass
