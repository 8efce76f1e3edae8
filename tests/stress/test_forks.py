"""Forks at random moments of a program whose threads trace, run, differentiate and compile."""

from __future__ import annotations

import pytest
from forking import needs_fork, run_with
from workers import scaled

THREADS = """
import random, time, collections
shared, ended = Everything(), threading.Event()
shared.use(6)
done = collections.Counter()
failed = []
def busy(name, work):
    def loop():
        k = 0
        try:
            while not ended.is_set():
                work(k); done[name] += 1; k += 1
        except BaseException as error:
            failed.append((name, error)); raise
    thread = threading.Thread(target=loop, name=name); thread.start()
    return thread
def traces(k):
    @al.function(executor=EXECUTORS[k % len(EXECUTORS)])
    def f(x):
        y = x
        while al.sum(y) < 10.0: y = y + 0.5
        return y
    assert float(al.sum(f(np.ones(2 + k % 4)))) >= 10.0
def runs(k):
    f = list(shared.steps.values())[k % len(shared.steps)]
    f(np.linspace(0.0, 1.0, 6), np.int32(5))
def differentiates(k):
    list(shared.grads.values())[k % 2](np.float64(1.01), np.linspace(0.0, 1.0, 6))
def first_gradients(k):
    f = al.function(al.value_and_grad(lambda a: al.sum(al.map_fn(lambda v: al.sin(v) * a, al.constant(np.ones(4))))))
    assert abs(float(f(np.float64(2.0))[1]) - 4 * np.sin(1.0)) < 1e-9
def fetches(k):
    with tf.Session(graph=shared.graph) as session:
        session.run(shared.init)
        assert session.run(shared.out, {shared.p: 1.0}) == 3.0
def heavy(k): shared.heavy(np.full((200, 200), 0.001))
def compiles(k):
    if "native" in EXECUTORS:
        f = al.function(lambda x: al.sum(x * float(k)) + 1.0, executor="native")
        assert float(f(np.ones(3))) == 3.0 * k + 1.0
works = traces, runs, differentiates, first_gradients, fetches, heavy, compiles
threads = [busy(work.__name__, work) for work in works]
numbers = random.Random(SEED)
running, count = {}, 0
mine = Everything()
mine.use(6)
def finish(most):
    while len(running) > most:
        pid, name = next(iter(running.items()))
        del running[pid]
        reap({name: pid})
try:
    while count < COUNT and not failed:
        time.sleep(numbers.random() * 0.02)
        running[child(lambda: (mine.use(6), shared.use(7)))] = f"fork {count}"
        count += 1
        finish(2)
    finish(0)
finally:
    ended.set()
    for thread in threads: thread.join()
assert not failed, failed
print(count, "forks;", ", ".join(f"{n} x {name}" for name, n in sorted(done.items())))
"""


@needs_fork
@pytest.mark.nightly
def test_children_work_whenever_they_are_forked(tmp_path, printed):
    count = scaled(300)
    out = run_with(THREADS.replace("COUNT", str(count)).replace("SEED", "0"), tmp_path, timeout=60 + 20 * count)
    assert out.startswith(f"{count} forks;")
    printed(out.strip())
