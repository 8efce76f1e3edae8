"""What a forked child can do while other threads of its parent hold locks or are in the middle of something."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import autoloop
import autoloop_runtime
import pytest
from api import forks
from forking import needs_fork, run_with

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted([*(ROOT / "autoloop").rglob("*.py"), *(ROOT / "runtime" / "autoloop_runtime").rglob("*.py")])

# -- everything goes through the registry -------------------------------------------------------------------

#: what has, or is, a lock or a thread, and so is made in ``forks`` only
OWN = {"Lock", "RLock", "Condition", "Event", "Semaphore", "BoundedSemaphore", "Barrier", "Timer", "Thread", "local"}
MODULES = {"_thread", "queue", "multiprocessing", "concurrent", "asyncio", "sched", "socketserver"}
#: a file without any of them need not be looked at
WORDS = re.compile("|".join(["threading", "register_at_fork", "cached_property", *sorted(MODULES)]))


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
            if node.module == "_thread" and names == {"get_ident"}:
                continue  # a number, as ``threading`` gives it, which takes long to load
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
        "from _thread import get_ident, RLock",
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
        text = path.read_text()
        if path.name != "forks.py" and WORDS.search(text):
            for line, name in made_outside(ast.parse(text)):
                found[f"{path.relative_to(ROOT)}:{line}"] = name
    assert not found


def imports_below(node, kept=False):
    """Import statements inside functions that do not stand in ``with undivided():``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            if not kept:
                yield child
        elif not isinstance(child, ast.expr):
            safe = isinstance(child, ast.With) and "undivided()" in ast.unparse(child.items[0])
            yield from imports_below(child, kept or safe)


def test_imports_in_functions_are_not_divided_by_a_fork():
    wrong = []
    for path in SOURCES:
        text = path.read_text()
        if "autoloop_runtime" in path.parts and ("    import " in text or "    from " in text):
            for function in ast.walk(ast.parse(text)):
                if isinstance(function, ast.FunctionDef):
                    for node in imports_below(function):
                        name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                        if name not in ("json", "dataclasses"):  # of the standard library, and quickly done
                            wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert not wrong


def all_kinds():
    for package in (autoloop, autoloop_runtime):
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not info.name.endswith("__main__"):
                try:
                    importlib.import_module(info.name)
                except ModuleNotFoundError as missing:  # of the extra
                    assert missing.name in ("llvmlite", "scipy")
    return forks.KINDS


def test_kinds_have_names_of_their_own_and_say_why():
    kinds = all_kinds()
    names = [kind.name for kind in kinds]
    assert len(set(names)) == len(names) and len(names) > 15
    assert all(len(kind.in_child) > 20 for kind in kinds)


# -- a child does everything, whoever held what ------------------------------------------------------------------

#: only those have them who are at work themselves; the tests below fork there
TRANSIENT = {
    "CoreRun.wake", "Mailbox.lock", "PipelineRun.lock", "SharedRun.lock", "Stop.lock", "_Blocks.lock", "deadlines",
    "loops apart", "recorded_calls",
}  # fmt: skip
if importlib.util.find_spec("llvmlite") is None:
    TRANSIENT |= {"_Compiled._lock", "compiler"}  # nothing is compiled


#: together they are harder on a child than one by one, which tells who it was
TOGETHER = "(forks.KINDS[::2], forks.KINDS[1::2], forks.KINDS)"


@needs_fork
@pytest.mark.parametrize("held", [TOGETHER, pytest.param("zip(forks.KINDS)", marks=pytest.mark.nightly)])
def test_a_child_works_whatever_lock_another_thread_holds(tmp_path, held):
    out = run_with(
        """
other, mine = Everything(), Everything()
other.use(5); other.use(6); mine.use(5)
children, held = {}, set()
forks.LIMIT = 0.05  # that is for kinds that a fork waits for
for kinds in TOGETHER:
    locks = [lock for kind in kinds for lock in kind.living()]
    held |= {kind.name for kind in kinds if kind.living()}
    have, done = threading.Event(), threading.Event()
    def hold():
        for lock in locks: lock.acquire()
        have.set(); done.wait()
        for lock in locks: lock.release()
    thread = threading.Thread(target=hold)
    thread.start(); have.wait()
    children[", ".join(kind.name for kind in kinds)] = child(lambda: mine.use(6))
    done.set(); thread.join()
reap(children)
print(*sorted({kind.name for kind in forks.KINDS} - held), sep=",")
""".replace("TOGETHER", held),
        tmp_path,
    )
    assert set(out.strip().split(",")) <= TRANSIENT


@needs_fork
def test_a_child_works_while_another_thread_traces_converts_compiles_and_runs(tmp_path):
    run_with(
        """
mine = Everything()
mine.use(6)
children = {}

parent = os.getpid()
class Middle:  # called somewhere in the middle of something: waits there until the fork is over
    def __init__(self):
        self.there, self.done = threading.Event(), threading.Event()
    def __call__(self, value=None):
        if os.getpid() == parent:
            self.there.set(); self.done.wait()
        return value

def fork_in_the_middle(begin):
    middle = Middle()
    again = begin(middle)
    thread = threading.Thread(target=again)
    thread.start(); middle.there.wait()
    def use():
        again(); mine.use(6)
    children[begin.__name__] = child(use)
    middle.done.set(); thread.join()

# each gives what both the thread and the child do: the same function, graph, session
def traces(middle):
    @al.function
    def f(x):
        middle()
        return x + 1
    return lambda: f(1.0)
def converts(middle):
    from autoloop.conversion import converting
    convert_code = converting.convert_code
    converting.convert_code = lambda f: (middle(), convert_code(f))[1]
    @al.function
    def f(x):
        while x < 5: x += 1
        return x
    return lambda: f(al.constant(1))
def runs(middle):
    f = al.function(lambda x: al.py_function(middle, [x], al.float64), executor="dataflow")
    return lambda: f(np.float64(1.0))
def runs_in_session(middle):
    with mine.graph.as_default():
        t = tf.py_function(middle, [mine.p], tf.float64)
    return lambda: mine.session.run(t, {mine.p: 1.0})
def in_time(middle):
    with tf.Graph().as_default():
        t = tf.py_function(middle, [np.float64(1.0)], tf.float64)
        session = tf.Session()
    return lambda: session.run(t, timeout=60.0)
def differentiates(middle):
    @al.custom_gradient
    def g(x):
        def back(d):
            middle(); return d * 1.0
        return x * 1.0, back
    @al.function
    def f(x):
        for _ in al.range(3):
            x = al.sin(g(x)) * 2.0
        return x
    def slope():
        with al.GradientTape() as tape:
            x = al.constant(0.3); tape.watch(x)
            y = f(x)
        return float(tape.gradient(y, x))
    def check(v=0.3, d=1.0):
        for _ in range(3): d, v = d * 2 * np.cos(v), np.sin(v) * 2
        return d
    def again():
        assert abs(slope() - check()) < 1e-5
    return again
def compiles(middle):
    if "native" not in EXECUTORS: return middle
    from autoloop_runtime.native import native_call as call
    compile_ir = call.compile_ir
    def slow(*args):
        middle()
        return compile_ir(*args)
    call.compile_ir = slow
    return lambda: mine.steps["native"](np.linspace(0.0, 1.0, 9), np.int32(3))
def updates(middle):
    from autoloop_runtime.collections import variables
    op = variables.ASSIGN_ADD.kernel
    def update(delta, *, variable, state):
        with state.storage(variable).lock:
            middle()
        return op(delta, variable=variable, state=state)
    object.__setattr__(variables.ASSIGN_ADD, "kernel", update)
    return lambda: mine.v.assign_add(np.float64(1.0))
for begin in (traces, converts, runs, runs_in_session, in_time, differentiates, compiles, updates):
    fork_in_the_middle(begin)
reap(children)
""",
        tmp_path,
    )


@needs_fork
def test_a_fork_waits_for_what_must_not_be_divided(tmp_path):
    out = run_with(
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


def taken_twice(kind):
    """The number of a lock that is gone, and those there were while it was held."""
    lock = kind.lock()
    with lock, lock:
        return id(lock), [id(one) for one in kind.living()]


def test_locks_may_be_taken_again_by_the_same_thread_and_go_with_what_they_guard():
    for kind in all_kinds():
        mine, known = taken_twice(kind)
        left = [id(one) for one in kind.living()]
        assert mine in known and mine not in left
