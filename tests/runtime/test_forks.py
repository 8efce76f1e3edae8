"""What a forked child can do while other threads of its parent hold locks or are in the middle of something."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
import threading
from pathlib import Path

import autoloop
import autoloop_runtime
import pytest
from autoloop_runtime import forks

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted([*(ROOT / "autoloop").rglob("*.py"), *(ROOT / "runtime" / "autoloop_runtime").rglob("*.py")])
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
NATIVE = importlib.util.find_spec("llvmlite") is not None

# -- everything goes through the registry -------------------------------------------------------------------

#: what has, or is, a lock or a thread, and so is made in ``forks`` only
OWN = {"Lock", "RLock", "Condition", "Event", "Semaphore", "BoundedSemaphore", "Barrier", "Timer", "Thread", "local"}
MODULES = {"_thread", "queue", "multiprocessing", "concurrent", "asyncio", "sched", "socketserver"}


def made_outside(tree):
    """``(line, name)`` of each lock, thread or hook that a module makes by itself."""
    classes = {n for a in ast.walk(tree) if isinstance(a, ast.AnnAssign) for n in ast.walk(a.annotation)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            made = node.value.id == "threading" and node.attr in OWN and node not in classes
            if made or (node.value.id == "os" and node.attr == "register_at_fork"):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.FunctionDef):
            if any("cached_property" in ast.unparse(d) for d in node.decorator_list):
                yield node.lineno, "functools.cached_property, which has a lock in Python 3.11"
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = {alias.name for alias in node.names}
            if node.module == "threading" and names & OWN:
                yield node.lineno, f"threading: {names & OWN}"
            if (node.module or "").split(".")[0] in MODULES:
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in MODULES:
                    yield node.lineno, alias.name


@pytest.mark.parametrize(
    "text",
    [
        "import threading\nx = threading.Lock()",
        "from threading import Event",
        "import os\nos.register_at_fork(before=print)",
        "import queue",
        "from concurrent.futures import ThreadPoolExecutor",
        "import functools\nclass A:\n    @functools.cached_property\n    def f(self): ...",
    ],
)
def test_the_search_finds(text):
    assert list(made_outside(ast.parse(text)))


def test_every_lock_and_thread_says_what_becomes_of_it():
    found = {}
    for path in SOURCES:
        if path.name != "forks.py":
            for line, name in made_outside(ast.parse(path.read_text())):
                found[f"{path.relative_to(ROOT)}:{line}"] = name
    assert not found


def test_imports_in_functions_are_not_divided_by_a_fork():
    wrong = []
    for path in SOURCES:
        if "autoloop_runtime" not in path.parts:
            continue
        tree = ast.parse(path.read_text())
        kept = {
            statement
            for node in ast.walk(tree)
            if isinstance(node, ast.With) and any("undivided()" in ast.unparse(item) for item in node.items)
            for statement in ast.walk(node)
        }
        for function in ast.walk(tree):
            if isinstance(function, (ast.FunctionDef, ast.Lambda)):
                for node in ast.walk(function):
                    if isinstance(node, (ast.Import, ast.ImportFrom)) and node not in kept:
                        name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                        if name not in ("json", "dataclasses"):  # of the standard library, and quickly done
                            wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert not wrong


def all_kinds():
    for package in (autoloop, autoloop_runtime):
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not info.name.endswith("__main__"):
                importlib.import_module(info.name)
    return forks.KINDS


def test_kinds_have_names_of_their_own_and_say_why():
    kinds = all_kinds()
    names = [kind.name for kind in kinds]
    assert len(set(names)) == len(names) and len(names) > 15
    assert all(len(kind.in_child) > 20 for kind in kinds)


# -- a child does everything, whoever held what ------------------------------------------------------------------

PROGRAM = '''
import faulthandler, os, sys, signal, threading, warnings, dataclasses
warnings.simplefilter("ignore")
import numpy as np
import autoloop as al
import autoloop.compat.v1 as tf
from autoloop_runtime import forks
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


def run(code, folder):
    path = folder / "program.py"
    path.write_text(PROGRAM + code)
    env = {
        **os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TMPDIR": str(folder),
        "AUTOLOOP_CACHE": "1", "AUTOLOOP_CACHE_DIR": str(folder / "cache"),
    }  # fmt: skip
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=110, env=env)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


#: only those have them who are at work themselves; the tests below fork there
TRANSIENT = {"SharedRun.lock", "_Blocks.lock", "deadlines"}


@needs_fork
def test_a_child_works_whatever_lock_another_thread_holds(tmp_path):
    out = run(
        """
other, mine = Everything(), Everything()
other.use(5); other.use(6); mine.use(5)
children, held = {}, set()
for kinds in [*([k] for k in forks.KINDS), forks.KINDS]:
    locks = [lock for kind in kinds for lock in kind.living()]
    held |= {kind.name for kind in kinds if kind.living()}
    have, done = threading.Event(), threading.Event()
    def hold():
        for lock in locks: lock.acquire()
        have.set(); done.wait()
        for lock in locks: lock.release()
    thread = threading.Thread(target=hold)
    thread.start(); have.wait()
    children[kinds[0].name if len(kinds) == 1 else "all"] = child(lambda: mine.use(6))
    done.set(); thread.join()
reap(children)
print(*sorted({kind.name for kind in forks.KINDS} - held), sep=",")
""",
        tmp_path,
    )
    assert set(out.strip().split(",")) <= TRANSIENT


@needs_fork
def test_a_child_works_while_another_thread_traces_converts_compiles_and_runs(tmp_path):
    run(
        """
mine = Everything()
mine.use(6)
children = {}

def fork_in_the_middle(name, begin):
    # ``begin(inside)`` calls ``inside`` somewhere in the middle, on another thread
    there, done = threading.Event(), threading.Event()
    def inside(*_):
        there.set(); done.wait(); return np.float64(1.0)
    thread = threading.Thread(target=begin, args=(inside,))
    thread.start(); there.wait()
    children[name] = child(lambda: mine.use(6))
    done.set(); thread.join()

def traces(inside):
    @al.function
    def f(x):
        inside()
        return x + 1
    f(1.0)
def traces_the_same(inside):
    mine.steps["auto"].python_function.__closure__  # the same code object, another key
    def hook(x, n):
        inside(); return x
    f = mine.steps["auto"]; old = f._converted
    f._converted = hook
    f(np.ones(77), np.int32(1)); f._converted = old; f._cache.clear(); f._quick.clear()
def runs(inside):
    al.function(lambda x: al.py_function(inside, [x], al.float64), executor="dataflow")(np.float64(1.0))
def runs_in_session(inside):
    with mine.graph.as_default():
        t = tf.py_function(inside, [mine.p], tf.float64)
    mine.session.run(t, {mine.p: 1.0})
def in_time(inside):
    with tf.Graph().as_default():
        t = tf.py_function(inside, [np.float64(1.0)], tf.float64)
        tf.Session().run(t, timeout=60.0)
def differentiates(inside):
    @al.custom_gradient
    def g(x):
        def back(d):
            inside(); return d
        return x * 1.0, back
    @al.function
    def f(x):
        for _ in al.range(3):
            x = g(x)
        return x
    al.grad(f)(np.float64(1.0))
for f in (traces, runs, runs_in_session, in_time, differentiates):
    fork_in_the_middle(f.__name__, f)
reap(children)
""",
        tmp_path,
    )


@needs_fork
def test_a_fork_waits_for_what_must_not_be_divided(tmp_path):
    out = run(
        """
forking, there, steps = threading.Event(), threading.Event(), []
os.register_at_fork(before=forking.set)  # such functions run in reverse order: this one before ours
def work():
    with forks.undivided():
        there.set(); forking.wait()
        with forks.undivided(): steps.append("inner")
        steps.append("outer")
thread = threading.Thread(target=work); thread.start(); there.wait()
def look():
    assert steps == ["inner", "outer"], steps
    with forks.undivided(): pass
    reap({"grandchild": child(lambda: None)})
reap({"child": child(look)})
thread.join()
# one that does not end, which only a program error could do, delays a fork and no more
forks.LIMIT = 0.05
there.clear(); done = threading.Event()
def endless():
    with forks.undivided():
        there.set(); done.wait()
thread = threading.Thread(target=endless); thread.start(); there.wait()
reap({"child": child(lambda: reap({"grandchild": child(lambda: None)}))})
done.set(); thread.join()
with forks.undivided(): reap({"own": child(lambda: None)})
print("done")
""",
        tmp_path,
    )
    assert out.strip() == "done"


def test_a_lock_of_ours_may_be_taken_again_by_the_same_thread():
    for kind in all_kinds():
        lock = kind.lock()
        with lock, lock:
            assert lock in kind.living()
        count = len(kind.living())
        del lock
        assert len(kind.living()) == count - 1
    assert threading.active_count()
