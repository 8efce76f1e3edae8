"""How far a generator of random numbers is, who looks at it finds as plain Python does: the run asks it, no trace."""

import copy
import pickle
import random
import warnings

import autoloop as al
import numpy as np
import pytest
from executors import needs_native


class Holder:
    def __init__(self, generator):
        self.generator = generator


def state(g, x):
    drawn = g.normal()
    return drawn, g.bit_generator.state["state"]["state"], getattr(g, "bit_generator").state["has_uint32"]  # noqa: B009


def put_back(g, x):
    before = g.bit_generator.state
    drawn = g.normal()
    g.bit_generator.state = before
    return drawn, g.normal()


def raw(g, x):
    bits, drawn = g.bit_generator, g.normal()
    return drawn, bits.random_raw(), g.normal()


def shared(g, x):
    drawn = g.normal()
    return drawn, np.random.Generator(g.bit_generator).normal(), g.normal()


def copied(g, x):
    drawn = g.normal()
    return drawn, copy.deepcopy(g).normal(), copy.deepcopy({"g": [g]})["g"][0].normal(), g.normal()


def pickled(g, x):
    drawn = g.normal()
    return drawn, pickle.loads(pickle.dumps(g)).normal(), g.normal()


def held(g, x):
    holder = Holder(g)
    drawn = holder.generator.normal()
    return drawn, copy.deepcopy(holder).generator.normal(), g.normal()


def after_a_loop(g, x):
    for _ in range(int(x[0]) + 3):
        x[0] += g.normal()
    return x[0], g.bit_generator.state["state"]["state"]


def kept(g, x):
    first = g.gauss(0, 1)
    return first, g.gauss_next, copy.copy(g).random(), g.random()


def drawn_by_a_library(g, x):
    random.seed(3)
    return random.random(), random.SystemRandom().random() < 2, x[0] * g.random()


@pytest.mark.parametrize(
    "f", [state, put_back, raw, shared, copied, pickled, held, after_a_loop, kept, drawn_by_a_library]
)
def test_who_looks_at_a_generator_finds_it_as_plain_python_does(f):
    make = random.Random if f is kept else np.random.default_rng
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for executor in ("auto", "dataflow"):
            plain, ours, decorated = make(3), make(3), al.function(f, executor=executor)
            for _ in range(2):
                assert decorated(ours, np.ones(2)) == f(plain, np.ones(2))


@needs_native
def test_a_generator_that_the_function_makes_may_be_looked_at():
    def made(x):
        g = np.random.default_rng(3)
        return x + g.normal(), g.bit_generator.state["state"]["state"]

    plain, ours = made(np.ones(2)), al.function(made, executor="native")(np.ones(2))
    assert (plain[0] == ours[0]).all() and plain[1] == ours[1]
