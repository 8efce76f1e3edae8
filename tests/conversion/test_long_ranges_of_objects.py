"""A long ``for`` over a Python range that changes attributes, globals, lists and other objects, through methods too."""

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

total = 0


class Particle:
    def __init__(self, place, speed, mass):
        self.place, self.speed, self.mass = np.array(place), np.array(speed), mass
        self.hits = 0

    def kick(self, force, dt):
        self.speed += force / self.mass * dt

    def drift(self, dt):
        self.place += self.speed * dt


class World:
    """What falls on a floor; numbers, ``None`` and arrays among what the loop sets."""

    def __init__(self):
        self.particles = [Particle([0.0, 0.3], [1.0, -1.0], 2.5)]
        self.time, self.steps, self.last, self.is_low = 0.0, 0, None, False

    def advance(self, dt, steps):
        global total
        for k in range(steps):
            for one in self.particles:
                one.kick(np.array([0.0, -9.81]) * one.mass, dt)
                one.drift(dt)
                if one.place[1] < 0:
                    one.place[1] *= -1
                    one.speed[1] *= -0.9
                    one.hits += 1
            self.time += dt
            self.steps += 1
            self.last = k
            self.is_low = k % 2 == 0
            total += 1
        return sum(float(one.speed @ one.speed) * one.mass for one in self.particles), self.steps * 2, total


def left(world):
    parts = [(one.place, one.speed, one.hits) for one in world.particles]
    return parts, world.time, world.steps, world.last, world.is_low


def same(one, other):
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(np.allclose(one, other, rtol=1e-12))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_simulation_leaves_what_it_leaves_in_plain_python(executor):
    global total
    plain, ours = World(), World()
    decorated = al.function(World.advance, executor=executor)
    for dt, steps in ((0.01, 3), (0.02, 90), (0.02, 90)):
        total = 0
        wanted = plain.advance(dt, steps)
        total = 0
        found = decorated(ours, dt, steps)
        assert same(found, wanted)
        assert same(left(ours), left(plain))


def test_it_is_a_loop_of_the_graph():
    world = World()
    said = str(al.explain(World.advance, world, 0.02, 400))
    assert "a long Python range" in said
