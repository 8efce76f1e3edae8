"""A program that does a bit of everything, for tests that fork it at bad moments."""

from __future__ import annotations

import os

import pytest
from children import run_program
from executors import NATIVE

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PROGRAM = '''
import faulthandler, os, sys, signal, threading, warnings, dataclasses
warnings.simplefilter("ignore")
import numpy as np
import autoloop as al
import autoloop.compat.v1 as tf
from autoloop_runtime.base import forks
EXECUTORS = [e for e in ("auto", "sequential", "dataflow", "native") if e != "native" or NATIVE]
al.config.set_num_threads(2)
al.config.set_swap_budget(0)

def heavy_loop(x):
    y = x
    for _ in al.range(4):
        x = al.tanh(x @ x) * 0.5
        y = al.tanh(y @ y) * 0.25
    return al.sum(x) + al.sum(y)

class Everything:
    """Objects whose locks may be held, and what is done with them."""

    def __init__(self):
        self.v = al.Variable(np.float64(1.0))
        def step(x, n):
            s = al.sum(x)
            for i in al.range(n):
                s = s * 0.5 + al.cast(i, al.float64)
            self.v.assign_add(s)
            return s
        self.steps = {e: al.function(step, executor=e) for e in EXECUTORS}
        self.heavy = al.function(heavy_loop, executor="dataflow")
        def loss(a, x):
            for _ in al.range(30):
                al.set_loop_options(swap_memory=True)
                x = al.sin(x) * a
            return al.sum(x)
        self.grads = {e: al.function(al.value_and_grad(loss), executor=e) for e in ("auto", "sequential")}
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.p = tf.placeholder(np.float64, [])
            self.w = tf.Variable(np.float64(2.0))
            self.out = tf.Print(self.w.assign_add(self.p), [self.p], first_n=0)
            self.init = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.init)
        self.array = al.TensorArray(al.float64, size=3, element_shape=[2]).write(0, np.ones(2))

    def use(self, size):
        @dataclasses.dataclass
        class Pair:
            a: object
            b: object
        assert len(al.nest.flatten(Pair([1, (2,)], {"c": 3}))) == 3
        x = np.linspace(0.0, 1.0, size)
        found = {float(f(x, np.int32(5))) for f in self.steps.values()}
        assert len({round(v, 9) for v in found}) == 1, found
        m = np.full((200, 200), 0.001)
        assert np.isfinite(float(self.heavy(m)))
        for f in self.grads.values():
            value, gradient = f(np.float64(1.01), x)
            h = 1e-6
            slope = (float(f(np.float64(1.01 + h), x)[0]) - float(f(np.float64(1.01 - h), x)[0])) / (2 * h)
            assert abs(slope - float(gradient)) < 1e-4 * max(1, abs(slope)), (slope, float(gradient))
        with al.GradientTape() as tape:
            y = self.v * 3.0
        assert float(tape.gradient(y, self.v)) == 3.0
        before = self.session.run(self.w)
        assert self.session.run([self.out], {self.p: 1.0}) == [before + 1.0]
        assert self.session.run(self.w, timeout=30.0) == before + 1.0
        with tf.Session(graph=tf.Graph()) as s:
            u = tf.Variable(np.float32(1.0))
            s.run(u.initializer)
            assert s.run(u) == 1.0
        tf.reset_default_graph(); tf.get_default_graph()
        rows = self.array.write(1, np.full(2, 2.0)).write(2, np.zeros(2)).stack()
        assert rows.numpy().tolist() == [[1, 1], [2, 2], [0, 0]]
        assert al.random.normal([3]).numpy().shape == (3,)
        got = al.map_fn(lambda r: r * 2.0, al.constant(x))
        assert np.allclose(got.numpy(), 2 * x)

def child(work):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        faulthandler.register(signal.SIGALRM, all_threads=True, chain=True)
        signal.alarm(40)
        work()
        code = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(code)

def reap(children):
    bad = {name: code for name, pid in children.items() if (code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))}
    assert not bad, bad
'''.replace("NATIVE", repr(NATIVE))


def run_with(code, folder, timeout=110):
    """What the program prints with ``code`` behind it."""
    (folder / "program.py").write_text(PROGRAM + code)
    kept = {"TMPDIR": str(folder), "AUTOLOOP_CACHE": "1", "AUTOLOOP_CACHE_DIR": str(folder / "cache")}
    done = run_program(folder / "program.py", folder, {**os.environ, **kept}, timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout
