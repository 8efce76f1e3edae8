"""Forks in the middle of a run, and of a run whose saved values are in a file."""

from __future__ import annotations

from forking import needs_fork, run_with

pytestmark = needs_fork


SWAP = """
from autoloop_runtime.collections import swap
swap.BLOCK = 40_000
# generated Python, whose file it is: machine code, which `auto` would come to, adds up in another order
x0 = np.linspace(0.5, 1.0, 1000)
def made(hook=lambda v: v, executor="sequential", n=60):
    def loss(x):
        for i in al.range(n):
            al.set_loop_options(swap_memory=True)
            x = al.sin(x) * 1.01
            x = hook(x)
        return al.sum(x)
    return al.function(loss, executor=executor)
def slope(f):
    with al.GradientTape() as tape:
        x = al.constant(x0); tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()
al.config.set_swap_budget(1 << 30)
want = slope(made())
al.config.set_swap_budget(0)
"""


def test_parent_and_children_swap_to_files_of_their_own(tmp_path):
    # the saved values of a tape are in a file of the parent when the children come; all of them use it at once
    out = run_with(
        SWAP
        + """
f = made()
tapes = []
for _ in range(2):
    with al.GradientTape(persistent=True) as tape:
        x = al.constant(x0); tape.watch(x)
        y = f(x)
    tapes.append((tape, y, x))
assert swap._space.file.blocks > 10
def use():
    for _ in range(2):
        for tape, y, x in tapes:
            np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)
            np.testing.assert_array_equal(slope(f), want)
children = {k: child(use) for k in range(2)}
use()
reap(children)
used = swap._space.file._descriptor
tapes.clear()
del tape, y, x
import gc; gc.collect()
print(swap._space.file.blocks, swap._space.resident, used != -1, swap._space.file._descriptor)
""",
        tmp_path,
    )
    assert out.split() == ["0", "0", "True", "-1"]


def test_a_child_gives_back_what_it_inherited(tmp_path):
    run_with(
        SWAP
        + """
import gc
f = made()
with al.GradientTape() as tape:
    x = al.constant(x0); tape.watch(x)
    y = f(x)
theirs = swap._space.file
def use():
    global tape, y
    assert swap._space.file is not theirs and swap._space.file._descriptor == -1
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)
    np.testing.assert_array_equal(slope(f), want)
    del tape, y
    gc.collect()
    assert theirs._descriptor == swap._space.file._descriptor == -1, (theirs.blocks, swap._space.file.blocks)
    assert swap._space.resident == 0
reap({"child": child(use)})
assert theirs is swap._space.file
np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)
""",
        tmp_path,
    )


def test_a_fork_while_another_thread_moves_values_to_the_file(tmp_path):
    # the stacks are the main thread's; the other one, whose own grow, writes them out
    run_with(
        SWAP
        + """
f = made()
al.config.set_swap_budget(1 << 30)
with al.GradientTape() as tape:
    x = al.constant(x0); tape.watch(x)
    y = f(x)
al.config.set_swap_budget(0)
for place in ("before", "between", "after"):
    there, done = threading.Event(), threading.Event()
    def wait():
        if threading.current_thread() is other and not there.is_set():
            there.set(); done.wait()
    write, pwrite = swap._File.write, swap._pwrite
    def watched(self, block):
        if place == "before": wait()
        write(self, block)
        if place == "after": wait()
    def watched_pwrite(descriptor, data, at):
        if place == "between": wait()
        return pwrite(descriptor, data[: len(data) // 2], at) if len(data) > 1 else pwrite(descriptor, data, at)
    swap._File.write, swap._pwrite = watched, watched_pwrite
    def use():
        swap._File.write, swap._pwrite = write, pwrite
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)
        np.testing.assert_array_equal(slope(f), want)
        assert swap._space.resident >= 0
    other = threading.Thread(target=lambda: slope(f))
    other.start(); there.wait()
    reap({place: child(use)})
    done.set(); other.join()
    swap._File.write, swap._pwrite = write, pwrite
    with al.GradientTape() as tape:
        x = al.constant(x0); tape.watch(x)
        y = f(x)
np.testing.assert_array_equal(tape.gradient(y, x).numpy(), want)
""",
        tmp_path,
    )


def test_a_fork_in_the_body_of_a_loop_that_swaps(tmp_path):
    # one child does something else and ends there, the other goes on with the run as its parent does
    out = run_with(
        SWAP
        + """
children = {}
@al.custom_gradient
def passes(v):
    return al.ensure_shape(al.py_function(look, [v], al.float64), v.shape), lambda g: g
count = 0
def look(v):
    global count
    count += 1
    if count == 30:
        children["other"] = child(lambda: (slope(made(n=10)), np.testing.assert_array_equal(slope(made()), want)))
        children["same"] = os.fork()
    return v
for executor in ("sequential", "dataflow"):
    count = 0
    found = slope(made(passes, executor))
    np.testing.assert_array_equal(found, want)
    if children["same"] == 0:
        os._exit(0)
    reap(children)
    print(count)
""",
        tmp_path,
    )
    assert out.split() == ["60", "60"]


def test_a_descriptor_that_became_somebody_elses_is_not_read_written_or_closed(tmp_path):
    out = run_with(
        SWAP
        + """
f = made()
with al.GradientTape() as tape:
    x = al.constant(x0); tape.watch(x)
    y = f(x)
# what a daemon does: close all, and open files of its own
import tempfile
number = swap._space.file._descriptor
os.close(number)
mine = os.path.join(tempfile.gettempdir(), f"autoloop-test-{os.getpid()}")  # the next file there may have its number
with open(mine, "wb") as file:
    file.write(b"mine" * 100_000)
os.dup2(os.open(mine, os.O_RDWR), number)
import atexit; atexit.register(os.remove, mine)
for again in range(2):
    try:
        tape.gradient(y, x) if again else slope(f)
        print("no error")
    except OSError as error:
        print("OSError", str(error).split(" (")[0])
del tape, y
import gc; gc.collect()
assert os.pread(number, 8, 0) == b"minemine" and os.fstat(number).st_size == 400_000
np.testing.assert_array_equal(slope(f), want)
""",
        tmp_path,
    )
    assert out.count("OSError") == 2 and "swap_memory: Bad file descriptor while saving" in out


def test_a_file_that_ends_too_early_is_an_error(tmp_path):
    out = run_with(
        SWAP
        + """
f = made()
with al.GradientTape() as tape:
    x = al.constant(x0); tape.watch(x)
    y = f(x)
os.ftruncate(swap._space.file._descriptor, 50_000)
try:
    tape.gradient(y, x)
except OSError as error:
    print(error)
""",
        tmp_path,
    )
    assert "swap_memory: the file ends at byte" in out and "while reading saved values" in out


SHARED = """
al.config.set_num_threads(2)
from autoloop_runtime.dataflow import workers
def heavy(f):
    return lambda v: al.py_function(f, [v], al.float64)
main = threading.main_thread()
parent, both = os.getpid(), threading.Barrier(2, timeout=30)
busy, over = threading.Event(), threading.Event()
child_of = {}
"""


def test_a_function_that_a_graph_calls_forks_while_another_thread_computes_a_part_of_it(tmp_path):
    # the child can do anything but end this run, which says so
    out = run_with(
        SHARED
        + """
def forks_here(v):
    both.wait()
    if os.getpid() == parent and threading.current_thread() is main:
        child_of["caller"] = os.fork()
        if os.getpid() != parent:
            signal.alarm(40)
            assert float(al.sum(np.ones(3))) == 3.0
            Everything().use(5)
        else:
            over.set()
    else:
        over.wait()
    return v
with tf.Graph().as_default():
    a, b = [tf.py_function(forks_here, [np.float64(k)], tf.float64) for k in range(2)]
    c, session = tf.constant(2.0), tf.Session()
try:
    print(*map(float, session.run([a, b])), flush=True)
except RuntimeError as error:
    assert os.getpid() != parent
    assert "forked by a function that a graph called" in str(error), error
    assert session.run(c) == 2.0
    Everything().use(5)
    os._exit(7)
assert os.getpid() == parent
print(os.waitstatus_to_exitcode(os.waitpid(child_of["caller"], 0)[1]))
""",
        tmp_path,
    )
    assert out.split() == ["0.0", "1.0", "7"]


def test_a_child_forked_on_a_worker_ends_with_a_message_if_it_goes_on(tmp_path):
    out = run_with(
        SHARED
        + """
def forks_there(v):
    both.wait()
    if os.getpid() == parent and threading.current_thread() is not main:
        child_of["ends"] = child(lambda: Everything().use(5))
        reader, writer = os.pipe()
        child_of["goes on"] = os.fork()
        if os.getpid() != parent:
            os.dup2(writer, 2); signal.alarm(40)
        else:
            os.close(writer)
            with open(reader) as file: print(file.read().strip())
        over.set()
    else:
        over.wait()
    return v
with tf.Graph().as_default():
    a, b = [tf.py_function(forks_there, [np.float64(k)], tf.float64) for k in range(2)]
    found = tf.Session().run([a, b])
print(*map(float, found), *[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in child_of.values()])
""",
        tmp_path,
    )
    said, found = out.splitlines()
    assert said.startswith("autoloop: this process was forked by a function that a graph called on another thread")
    assert found == "0.0 1.0 0 1"


def test_a_child_goes_on_with_a_run_that_nobody_else_was_working_on(tmp_path):
    out = run_with(
        SHARED
        + """
def forks_here(v):
    if not child_of: child_of["same"] = os.fork()
    return v
m = np.full((300, 300), 1e-3)
@al.function(executor="dataflow")
def f(m):
    x = al.cast(al.py_function(forks_here, [m[0, 0]], al.float64), al.float64) + m
    y = x
    for _ in al.range(3):
        x, y = al.tanh(x @ x), al.tanh(y @ y)
    return al.sum(x) + al.sum(y)
found = float(f(m))
assert found == float(f(m))
os.write(1, f"{found}\\n".encode())  # in one piece: both say it at once
if child_of["same"] == 0:
    os._exit(0)
reap(child_of)
""",
        tmp_path,
    )
    here, there = out.split()
    assert here == there


def test_a_fork_in_blocks_of_arrays_that_threads_share(tmp_path):
    out = run_with(
        SHARED
        + """
from autoloop_runtime.python_code import block_loop as blocks
begun = set()
def add_one(x, out):
    me = threading.current_thread()
    if me not in begun:
        begun.add(me); both.wait()
        if me is main:
            child_of["same"] = os.fork()
            if os.getpid() != parent: signal.alarm(40)
            over.set()
        else:
            over.wait()
    np.add(x, 1, out=out)
x = np.arange(1e6)
try:
    made = blocks.in_blocks(add_one, [x], [], [np.empty_like(x)], blocks.Between())
    assert os.getpid() == parent and np.array_equal(made, x + 1)
except RuntimeError as error:
    assert os.getpid() != parent and "were computing blocks of an array" in str(error)
    Everything().use(5)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child_of["same"], 0)[1]))
""",
        tmp_path,
    )
    assert out.strip() == "7"


def test_a_child_has_the_threads_of_blas_that_another_threads_run_had_taken(tmp_path):
    run_with(
        SHARED
        + """
from threadpoolctl import threadpool_info, threadpool_limits
threadpool_limits(2, user_api="blas")
def threads(): return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]
before = threads()
assert set(before) == {2}
class Run: caller, most = 0, 3
workers._blas.limit(Run())
reap({"child": child(lambda: (_ for _ in ()).throw(AssertionError(threads())) if threads() != before else None)})
mine = Run(); mine.caller = threading.get_ident()
workers._blas.limit(mine)
def look():
    assert workers._blas.users == {mine}
    workers._blas.release(mine)
    assert threads() == before
reap({"child": child(look)})
""",
        tmp_path,
    )


def test_random_numbers_of_a_child(tmp_path):
    # its own without a seed, its parent's with one, and never a wait for a generator that is being drawn from
    out = run_with(
        """
def draw(): return al.random.uniform([2]).numpy().tolist()
draw()
children = {}
for name in ("a", "b"):
    children[name] = child(lambda: print(name, draw(), flush=True))
    reap(children); children.clear()
al.random.set_seed(3)
draw()
from autoloop_runtime.ops import random
with random._process.generator.bit_generator.lock:
    children["c"] = child(lambda: print("c", draw(), flush=True))
reap(children)
print("d", draw())
""",
        tmp_path,
    )
    drawn = dict(line.split(" ", 1) for line in out.splitlines())
    assert drawn["a"] != drawn["b"] and drawn["c"] == drawn["d"]
