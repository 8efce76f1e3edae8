"""What a function writes to its arguments is written to their own memory: no copy is made where NumPy makes none.

One file: all of it is about which memory a call leaves its values in.
"""

import linecache
import tracemalloc

import autoloop as al
import numpy as np
import pytest
from api import background
from executors import EXECUTORS, INTERPRETED, needs_native

SIZE = 1 << 17  # elements of 8 bytes: 1 MB
#: bytes that a call may need for what is no array
SMALL = 1 << 15


def one_element(a, i, v):
    a[i] = v


def elements(a, n, v):
    i = 0
    while i < n:
        a[i] = v + a[i + 1]
        i += 1


def in_a_branch(a, i, v):
    if v > 0:
        a[i] = v
    else:
        a[i + 1] = v


def row_by_row(m, n, v):
    for i in range(n):
        for j in range(3):
            m[i, j] += v
        if v > 1:
            m[i, 2:9] *= 2


def two_arrays(a, b, n):
    i = 0
    while i < n:
        a[i], b[i] = b[i + 1], a[i + 1]
        i += 1


def of_itself(m, n):
    m[0] = m[1]
    row = m[2]
    row *= 2.0
    m[2] = row
    m[3, 1:] = m[3, :-1]
    i = 4
    while i < n:
        m[i] = m[i + 1]
        i += 1


def part_in_a_loop(a, n):
    part = a[10:]
    for i in range(n):
        part[i] = i
    rows = part[5:]
    for i in range(n):
        rows[i] += part[i + 1]
    rows[0] = 3.0


def product_and_a_loop(m, p, q, n):
    np.matmul(p, q, out=m)
    for i in range(n):
        m[i] += 1


def root_and_a_loop(a, b, n):
    np.sqrt(a, out=b)
    for i in range(n):
        b[i] += b[i + 1]


def put_before_what_may_fail(a, b, n):
    np.multiply(a, 2, out=b)
    b[5] = b[n]


def put_after_what_may_fail(a, b, n):
    x = np.sqrt(a)
    v = a[n]
    np.sqrt(a, out=b)
    for i in range(n):
        b[i] += v
    return x.sum()


def parts_of_the_run(a, n, v):
    part = a[n:]
    part[0] = v
    for i in range(n):
        a[i] += part[i]
        row = a[i:]
        row[1] = v
    part = a[n:]
    for i in range(n):
        part[i] = part[i + 1] + v


def parts_of_parts(a, n, v):
    part = a[10:]
    part[n] = v
    part[n + 1] += part[3]
    for i in range(n):
        a[4:][i] = a[i] + v
        back = a[::-1]
        back[i] += 1
        back[2:][i] = v
    every = a[::2]
    every[1:3] += v
    every[n] = every[0] + a[7]


def whole(a, b):
    a += b


def rows_exchanged(m, i, n):
    m[0], m[1] = m[1].copy(), m[0].copy()
    first = m[i] * 1.0
    while i < n:
        row = m[i].copy()
        m[i] = m[i + 1]
        m[i + 1] = row
        i += 1
    m[:, 0] = m[:, 1]
    m[2] = first


def columns_exchanged(m, i, v):
    column = m.T[i].copy()
    if v > 0:
        m[:, i] = m[:, i + 1]
    m += v
    m[:, i + 1] = column


def parts_added(a, b, n):
    for _ in range(n):
        a[1:] += b[:-1]
        b[1:] = a[:-1] - b[1:]


def kept(a, b):
    before = a.copy()
    a += b
    b[:] = before


def masked(a, b):
    a[b > 1] *= 2.0


def in_order(a, b):
    a.sort()
    np.cumsum(b, out=b)


def parts_updated(a, b, m, chosen, i, n):
    a[1:] += b[:-1]
    a[1:] += a[:-1]
    a[:-1] += a[1:]
    a[::-1] += b
    a[::2] *= a[::2]
    a[...] = a + a[::-1]
    b[1:] -= b[0]
    b[2:] = b[1:-1] * b[2:] - a[2:]
    m[1:] += m[:-1]
    m[0] += m[:, 0]
    m[...] = m.T + m
    w = a[2:] / 8
    a[2:] = w
    b[2:] += w
    before = b[2:].copy()
    b[2:] += 1
    late = a[1:] + b[1:]
    b[3] = 77.0
    a[1:] = late
    for _ in range(n):
        a[i : i + 4] += a[i + 1 : i + 5]
        b[i : i + 4] = np.maximum(b[i : i + 4], a[1:5]) + before[0]
        m[:, 1] += m[:, 2]
        m[1] += m[chosen[0]]
        a[chosen] = a[chosen] * 2 + 1
        a[chosen] = a[chosen[::-1]]
        m[:, chosen] = m[:, chosen][:, ::-1]
        b[chosen] = m[0, :4]


def parts_of_complex(z, i, v):
    z.real[:] = v
    z.imag += z.real
    z.imag[i:] *= 2
    z.real[1:] = z.imag[:-1]
    if v > 1:
        z.real -= z.imag.mean()
    for k in range(i):
        z.imag[k] = z[k + 1].real
    z[2:].imag.fill(v)
    z.real, real = 1.5, z.real
    real[i] = z.imag[i] = v


def number_where_the_array_ends(a, i, v):
    a[i : i + 4] = v
    a[-i : 4 - i] = v


def array():
    return np.arange(float(SIZE))


def matrix():
    return np.arange(float(SIZE)).reshape(8, -1)


def rows():
    return np.arange(float(SIZE)).reshape(256, -1)


def parts_given_back(a, i):
    a[i] += 1.0
    first = a[i : i + 3].copy()
    first[0] += 2.0
    return first, a[4:9].copy(), a[i:9]


def numbered(a, i, v):
    a.flat[i] += v
    a[1:, 1:].flat[i] = a.flat[i] + a.flat[-2]


def parts_of_elements(z, i, v):
    z.real[i] = v
    z.imag[i + 1] += z.real[i]
    z.real[2] = 3
    z[4:].imag[-1] -= z.imag[3]


I, V = np.int64(3), np.float64(2.5)
#: (function, what its arguments are), of which NumPy needs no memory to speak of
WITHOUT_MEMORY = [
    (one_element, lambda: (array(), I, V)),
    (elements, lambda: (array(), I, V)),
    (in_a_branch, lambda: (array(), I, V)),
    (row_by_row, lambda: (matrix(), I, V)),
    (two_arrays, lambda: (array(), array(), I)),
    (of_itself, lambda: (rows(), np.int64(9))),
    (part_in_a_loop, lambda: (array(), I)),
    (parts_of_parts, lambda: (array(), I, V)),
    (whole, lambda: (np.arange(1e6), np.ones(1_000_000))),
    (rows_exchanged, lambda: (rows(), I, np.int64(9))),
    (columns_exchanged, lambda: (rows(), I, V)),
    (parts_added, lambda: (array(), array(), I)),
    (in_order, lambda: (array()[::-1].copy(), array())),
    (product_and_a_loop, lambda: (matrix(), np.ones((len(matrix()), 2)), np.ones((2, matrix().shape[1])), np.int64(3))),
    (root_and_a_loop, lambda: (array(), array(), np.int64(3))),
    (parts_of_elements, lambda: (np.arange(SIZE) * (2 - 1j), I, V)),
    (number_where_the_array_ends, lambda: (array(), np.int64(SIZE - 1), V)),
]
#: the same, of which machine code must not need any either, though it gives up where a slice is cut short
CUT_SHORT = [
    ("a[i : i + 4] = a[i + 1 : i + 5]", lambda: (array(), I, V)),
    ("a[i : i + 4] += v", lambda: (array(), I, V)),
    ("a[i : i + 2] *= v", lambda: (matrix(), I, V)),
]
#: the same, of which machine code needs memory, or does not take it
NOT_IN_MACHINE_CODE = [
    (parts_of_the_run, lambda: (array(), I, V)),
    (parts_of_complex, lambda: (np.arange(SIZE) * (2 - 1j), I, V)),
    (put_before_what_may_fail, lambda: (array(), array(), I)),
    (parts_given_back, lambda: (array(), I)),
    (numbered, lambda: (np.asfortranarray(rows()), I, V)),
]
#: (function, what its arguments are), of which NumPy needs memory for some arrays
WITH_MEMORY = [
    (kept, lambda: (array(), np.ones(SIZE))),
    (masked, lambda: (array(), array())),
]


def peak(function, given):
    """Return the bytes that a call of a function needs at most, beside its arguments."""
    tracemalloc.start()
    try:
        function(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def needs(function, make, executor):
    """Return what a decorated function, which does the same as the plain one, needs at every call after two.

    Machine code may be made meanwhile, which needs memory, too.
    """
    decorated, plain, ours = al.function(function, executor=executor), make(), make()
    for _ in range(2):
        function(*plain)
        decorated(*ours)
    assert all(map(np.array_equal, plain, ours)), f"{function.__name__} under {executor}"
    found = []
    for _ in range(3):
        background.wait()
        found.append(peak(decorated, make()))
    return min(found)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_write_to_an_argument_copies_nothing(executor):
    programs = WITHOUT_MEMORY + (NOT_IN_MACHINE_CODE if executor != "native" else [])
    most = {f.__name__: used for f, make in programs if (used := needs(f, make, executor)) > SMALL}
    assert not most


def test_the_real_part_of_an_element_is_changed_without_those_of_others():
    graph = al.function(parts_of_elements).trace_for(np.arange(SIZE) * (2 - 1j), I, V).graph
    changed = [node.outputs[0].shape.rank for node in graph.nodes if node.op.name in ("set_real", "set_imag")]
    assert changed == [0] * 4


def numbered_anywhere(a, i):
    a.flat[i] += 2
    a[1:].flat[i] = a.T.flat[i - 1]
    b = a[:, ::-1].flat
    b[3] = b[-1] * 2
    for k in range(i):
        a.flat[k * 2] += k
    return a.flat[i], a.flat[-1]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_elements_have_their_numbers_however_they_lie(executor):
    ordered = np.arange(60.0).reshape(3, 4, 5)
    for lie in (np.copy, np.asfortranarray, lambda x: x.transpose(1, 2, 0), lambda x: x[:, ::2], lambda x: x[0]):
        decorated = al.function(numbered_anywhere, executor=executor)
        for i in (np.int64(7), np.int8(3), np.uint64(4)):
            plain, ours = lie(ordered.copy()), lie(ordered.copy())
            assert decorated(ours, i) == numbered_anywhere(plain, i)
            assert np.array_equal(plain, ours)
        for i in (np.int64(60), np.int64(-61)):
            kept = lie(ordered.copy())
            with pytest.raises(IndexError, match="out of bounds"):
                decorated(kept, i)
            assert np.array_equal(kept, lie(ordered.copy()))


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize("function", [put_before_what_may_fail, put_after_what_may_fail])
def test_what_is_put_into_an_argument_before_an_exception_is_there(function, executor):
    decorated = al.function(function, executor=executor)
    for n in (3, SIZE):
        plain, ours = (array(), array(), np.int64(n)), (array(), array(), np.int64(n))
        for called, given in ((function, plain), (decorated, ours)):
            try:
                called(*given)
            except IndexError:
                assert n == SIZE
            else:
                assert n == 3
        assert all(map(np.array_equal, plain, ours)), n


def changed_and_computed(a, n, v):
    part = a[2:9]
    part[n] = v
    part[1:3] = part[2:4]
    part[::-1][1] = v
    other = a[3:5]
    other[0] = 2
    part[n - 1] += a[3]
    part *= 2
    part[n] = part[0]
    part.sort()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_parts_of_parts_hold_what_numpy_leaves(executor):
    for function in (parts_of_parts, changed_and_computed, parts_of_the_run):
        plain, ours = array()[:99], array()[:99]
        function(plain, 3, V)
        al.function(function, executor=executor)(ours, I, V)
        assert np.array_equal(plain, ours), function.__name__


@needs_native
def test_a_stable_sort_in_machine_code_takes_half_of_a_line():
    def in_stable_order(a):
        a.sort(kind="stable")

    assert needs(in_stable_order, lambda: (array() % 1000 - 500,), "native") <= 4 * SIZE + SMALL


@needs_native
def test_machine_code_that_gives_up_before_it_writes_copies_nothing():
    for number, (source, make) in enumerate(CUT_SHORT):
        name = f"<cut short {number}>"
        lines = linecache.cache[name] = (1, None, ["def f(a, i, v):\n", f"    {source}\n"], name)
        exec(compile("".join(lines[2]), name, "exec"), namespace := {})
        assert needs(namespace["f"], make, "native") <= SMALL, source
        given = make()[0]
        with pytest.raises(NotImplementedError, match="cut short"):
            al.function(namespace["f"], executor="native")(given, np.int64(len(given) - 1), V)
        assert np.array_equal(given, make()[0]), source


@pytest.mark.parametrize("executor", EXECUTORS)
def test_parts_that_are_given_back_are_apart_from_what_was_written(executor):
    decorated, plain, ours = al.function(parts_given_back, executor=executor), array(), array()
    for _ in range(3):
        wanted, found = parts_given_back(plain, I), decorated(ours, I)
        assert all(map(np.array_equal, wanted, found)) and np.array_equal(plain, ours)
        assert not any(np.may_share_memory(one, ours) for one in found[:2])


@pytest.mark.parametrize("executor", INTERPRETED)
def test_what_a_truth_value_picks_is_written_back(executor):
    def f(x, rows, n):
        x[np.array(True)] *= 2
        x[x.sum() > 0] += 1
        x[True, 1:] += 2
        x[x.sum() < 0] += 100
        for k in range(n):
            rows[k][np.True_] -= k
            rows[rows.sum() > 0] += 1
        return x, rows

    def given():
        return np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2)

    ours, plain = given(), given()
    made = al.function(f, executor=executor)(*ours, np.int64(3))
    for one, other, same in zip(ours, f(*plain, 3), made, strict=True):
        assert one.tolist() == other.tolist() == same.tolist()


@pytest.mark.parametrize("executor", INTERPRETED)
def test_what_is_copied_is_copied_once(executor):
    for function, make in WITH_MEMORY:
        most = peak(function, make()) + SMALL
        assert needs(function, make, executor) <= most, function.__name__


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_a_part_is_computed_from_is_read_before_it_is_written(executor):
    def given():
        x = np.linspace(1, 2, 6)
        return x, x[::-1] * 1.5, np.outer(x, x - 3), np.array([3, 1, 1, 5]), np.int64(1), np.int64(3)

    decorated, ours, plain = al.function(parts_updated, executor=executor), given(), given()
    parts_updated(*plain)
    decorated(*ours)
    for mine, wanted in zip(ours, plain):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)


def fails_after_a_write(a, b, i):
    a[0] = 3.0
    b[i] = 1.0
    a[1] = 4.0


def fails_before_a_write(a, b, i):
    read = b[i]
    a[0] = 3.0
    return read


def fails_in_a_loop(a, b, i):
    n = 0
    while n < 2:
        read = b[i + n]
        a[n] = 3.0
        b[n] = read
        n += 1


def parts_moved(a, m, t, n):
    a[:-1] = a[1:]
    a[3:] = a[:-3]
    a[2::2] = a[:-2:2]
    a[:-2:2] = a[1:-1:2]
    a[::-1][:-1] = a[::-1][1:]
    a[:-1] = a[:0:-1]
    a[1:3] = a[:1]
    m[:, :-1] = m[:, 1:]
    m[:-1, 1:] = m[1:, :-1]
    m[1:, :-1] = m[:-1, 1:]
    m[1:, 2:8:2] = m[:-1, 1:7:2]
    m.T[1:, 1:] = m.T[:-1, :-1]
    m[1:5, 1:5] = m[:4, :4].T
    m[2:] = m[:1]
    t[1:, :, 1:] = t[:-1, :, :-1]
    t[:-1, 1:, 2:] = t[1:, :-1, :-2]
    t[:, :, 0] = t[:, :, 1]
    for i in range(n):
        a[i : i + 4] = a[i + 1 : i + 5]
        m[1:] = m[:-1]
    kept = a[1:].copy()
    a[:-1] = a[1:]
    return kept


#: what is written before and after a line of which only the run knows that it raises
RAISING = [
    ("a += 1; b *= a", "np.linalg.inv(z)", "a[0] = 5"),
    ("a[0] = 1; z *= 2", "a[1:4] += np.linalg.solve(z, z)[0]", "a *= 2"),
    ("np.exp(-a, out=b); a.sort()", "assert i < 0", "b -= 1"),
    ("b[:] = np.sqrt(a) + 2; a[i:] -= 3", "b[1] = [1.0, 2.0][i]", "a += b"),
    ("a[:] = a[::-1]; b[:] = a + b", "b *= 5 // int(i - 3)", "b += 1"),
    ("c = a + b; c *= 2; a[:] = c", "a[:i] += b[:i - 1]", "a += 1"),
    ("for q in range(i): a[q] += b[q + 1]", "b[i + 99] = 1", "b[0] = 7"),
    ("if i > 2: a *= 2", "b += a[i + 99]", "a *= 3"),
]


@pytest.mark.parametrize("executor", ["auto", "sequential"])
def test_what_was_written_to_small_arrays_before_an_exception_stays(executor):
    for number, (before, line, after) in enumerate(RAISING):
        name, lines = f"<raising {number}>", [f"    {one}\n" for one in (before, line, after)]
        linecache.cache[name] = (1, None, ["def f(a, b, z, i):\n", *lines], name)
        exec(compile("def f(a, b, z, i):\n" + "".join(lines), name, "exec"), namespace := {"np": np})
        decorated = al.function(namespace["f"], executor=executor)
        for _ in range(3):
            plain, ours = ((np.arange(1.0, 12), np.ones(11), np.ones((3, 3)), I) for _ in range(2))
            with pytest.raises(Exception) as wanted:  # of whatever type
                namespace["f"](*plain)
            with pytest.raises(wanted.type):
                decorated(*ours)
            assert all(map(np.array_equal, plain, ours)), (before, line)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_parts_move_within_an_array(executor):
    for dtype in (np.float64, np.int8, np.bool_):
        given = [(np.arange(3 * k) * k % 251).astype(dtype) for k in (11, 30, 40)]
        plain, ours = ([a.copy(), m.reshape(9, 10).copy(), t.reshape(4, 5, 6).copy()] for a, m, t in (given, given))
        kept = parts_moved(*plain, 3)
        assert np.array_equal(kept, al.function(parts_moved, executor=executor)(*ours, 3))
        assert all(map(np.array_equal, plain, ours))


@pytest.mark.parametrize("executor", [name for name in EXECUTORS if name != "dataflow"])
def test_what_was_written_before_an_exception_stays(executor):
    cases = [(fails_after_a_write, 9), (fails_before_a_write, 9), (fails_in_a_loop, 3)]
    for function, place in cases:
        plain, ours = [(np.zeros(4), np.ones(4), np.int64(place)) for _ in range(2)]
        for called, given in ((function, plain), (al.function(function, executor=executor), ours)):
            with pytest.raises(IndexError, match="out of bounds"):
                called(*given)
        assert all(map(np.array_equal, plain, ours)), function.__name__


def with_windows(a, n):
    i = 0
    while i < n:
        a[i] = a[i : i + 2].sum()
        i += 1


@needs_native
def test_machine_code_that_gives_up_leaves_the_arguments_as_they_were():
    plain, ours = np.ones(8), np.ones(8)
    decorated = al.function(with_windows, executor="native")
    with pytest.raises(NotImplementedError, match="cut short"):
        decorated(ours, np.int64(8))
    assert np.array_equal(plain, ours)
    with_windows(plain, 7)
    decorated(ours, np.int64(7))
    assert np.array_equal(plain, ours)


def test_arrays_that_lie_otherwise_in_memory_are_written_to():
    base = np.arange(48.0)
    for executor in EXECUTORS:
        for part in (slice(None, None, 2), slice(None, None, -1), slice(3, 40)):
            plain, ours = base.copy(), base.copy()
            elements(plain[part], I, V)
            al.function(elements, executor=executor)(ours[part], I, V)
            assert np.array_equal(plain, ours), (executor, part)
        raw = bytearray(8 * 12 + 1)
        ours = np.frombuffer(raw, offset=1)
        al.function(elements, executor=executor)(ours, I, V)
        assert ours[:4].tolist() == [2.5, 2.5, 2.5, 0.0]
        frozen = np.zeros(4)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            al.function(elements, executor=executor)(frozen, I, V)


#: statements on arrays as large as are written to in place; ``w`` may be a view of ``a`` or an array of its own
STATEMENTS = (
    "a[i] = b[i + 1] + v", "b[i] = a[i]", "a[2:9] = b[i : i + 7]", "a += b", "w = a[5:]", "w = a + b", "b[:] = a",
    "a[1:] = a[:-1]", "s = s + w[3]", "w[4] = v", "b *= 0.5", "a[:-5] += w[: b.size - 5]", "s = s + a.sum()",
    "a[i], b[i] = b[i], a[i]", "w = b * 1", "a[b > 3] = v", "np.add(a, b, out=b)",
    "t = a.copy(); t[i] = v; s = s + t[0]", "a.sort()", "np.cumsum(b, out=b)", "a -= np.tanh(a * b) + np.sin(w)",
)  # fmt: skip


def random_program(seed):
    """Return the source of a function that reads and writes two arrays, straight and in a loop."""
    rng = np.random.default_rng(seed)
    chosen = [STATEMENTS[k] for k in rng.integers(len(STATEMENTS), size=9)]
    inside = "\n        ".join(chosen[3:7])
    straight, after = ("\n    ".join(part) for part in (chosen[:3], chosen[7:]))
    return (
        f"def program(a, b, n, v):\n    s, w, i = 0.0, a * 1, 2\n    {straight}\n    w = w * 1\n"
        "    for i in range(n):\n"
        f"        {inside}\n        w = w * 1\n    i = 3\n    {after}\n    return s, w[:2] * 1\n"
    )


def differing(seed, executor):
    """Return the source of a random program that differs under an executor; empty if it does not."""
    source = random_program(seed)
    name = f"<written in place {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    outcomes = []
    for function in (namespace["program"], al.function(namespace["program"], executor=executor)):
        given = np.linspace(0, 5, 1100), np.linspace(4, 1, 1100), np.int64(3), np.float64(1.5)
        try:
            results = function(*given)
        except (ValueError, TypeError, NotImplementedError) as error:
            results = (type(error),)
        outcomes.append((results, given))
    (plain, held), (ours, left) = outcomes
    if isinstance(plain[0], type) or isinstance(ours[0], type):
        return "" if ours[0] in (plain[0], TypeError) or executor == "native" else source
    return "" if all(map(np.allclose, (*plain, *held[:2]), (*ours, *left[:2]))) else source


def test_what_is_read_later_is_never_overwritten():
    wrong = [differing(seed, executor) for seed in range(12) for executor in ("dataflow", "sequential")]
    assert not any(wrong), next(filter(None, wrong))


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_read_later_is_never_overwritten_under_every_executor(executor):
    wrong = [differing(seed, executor) for seed in range(400)]
    assert not any(wrong), next(filter(None, wrong))


def parts(a, m, v):
    a[1] = v
    m[0] = v
    row = m[1]
    row[2] = v
    some = {"x": m[:, ::2][1:], "y": a * 1}
    return a[1:], m.T, m.reshape(-1), row, a, some, np.broadcast_to(a, (2, 4)), m.ravel()[3:5]


def test_results_that_are_parts_of_arguments_share_their_memory():
    def told(results, given):
        return [
            (one.tolist(), one.strides, one.flags.writeable, [np.shares_memory(one, array) for array in given])
            for one in results
        ]

    for executor in EXECUTORS:
        decorated = al.function(parts, executor=executor)
        for order in "CF":
            plain, ours = [(np.arange(4.0), np.array(np.arange(12.0).reshape(3, 4), order=order)) for _ in range(2)]
            for _ in range(2):
                expected, found = al.nest.flatten(parts(*plain, V)), al.nest.flatten(decorated(*ours, V))
                assert told(expected, plain) == told(found, ours), (executor, order)
            found[0][2] = 42.0
            assert ours[0][3] == 42.0


WORLD = np.arange(6.0) + 0.5
HOLDER = {"last": WORLD, "other": np.ones(6)}


def one_of_two_left(a):
    if WORLD.sum() > 9:
        HOLDER["last"] = a
    a += 1.0
    return WORLD * 1


def exchanged(a):
    n = 0
    while n < a.size and a[0] < 9:
        n += 1
        HOLDER["last"], HOLDER["other"] = HOLDER["other"], HOLDER["last"]
    a += 4.0
    return HOLDER["last"] * 1


def counted_by(a):
    n = 0
    for _ in range(int(WORLD[0] + 1)):
        n += 1
    a += 1.0
    return WORLD * n


@pytest.mark.filterwarnings("ignore:.* runs as plain Python, at each call")
@pytest.mark.parametrize("executor", INTERPRETED)
def test_an_argument_that_is_a_constant_of_the_trace_is_written_to(executor):
    for function, given in (
        (one_of_two_left, [WORLD]),
        (exchanged, [WORLD]),
        (counted_by, [np.ones(6), WORLD, WORLD[:3], np.ones(6)]),
    ):
        decorated = al.function(function, executor=executor)
        for a in given:
            held, start, world = WORLD.copy(), a.copy(), dict(HOLDER)
            expected = function(a)
            wanted, a[:], WORLD[:] = (WORLD.copy(), a.copy()), start, held
            HOLDER.update(world)
            assert np.array_equal(decorated(a), expected), function.__name__
            assert np.array_equal(WORLD, wanted[0]) and np.array_equal(a, wanted[1])


class Holder:
    def __init__(self):
        self.v = np.ones(6)


def another_after_an_iteration(holder, x, n):
    k = 0
    while k < n and x > 1:
        k += 1
        holder.v[0] = 5.5
        holder.v = WORLD


def test_an_array_of_the_world_that_an_iteration_puts_in_place_of_another_is_not_written_to_in_vain():
    start = WORLD.copy()
    with pytest.raises(TypeError, match="'Holder.v' is, or is a part of, another array after an iteration"):
        al.function(another_after_an_iteration)(Holder(), al.constant(V), np.int64(3))
    assert np.array_equal(start, WORLD)
    with pytest.warns(UserWarning, match="plain Python, at each call: 'Holder.v' is, or is a part of, another"):
        al.function(another_after_an_iteration)(Holder(), V, np.int64(3))
    changed, WORLD[:] = WORLD.copy(), start
    assert changed[0] == 5.5 and np.array_equal(changed[1:], start[1:])


def left_and_given(a, b, holder):
    holder.v = b
    a += 1.0
    return b, a


@pytest.mark.parametrize("executor", INTERPRETED)
def test_two_objects_over_one_memory_stay_two(executor):
    decorated = al.function(left_and_given, executor=executor)
    a, holder = np.ones(4), Holder()
    b = a[:]
    first, second = decorated(a, b, holder)
    assert first is b and second is a and holder.v is b and b[-1] == 2.0
