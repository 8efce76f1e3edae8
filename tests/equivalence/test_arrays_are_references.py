"""Arrays are references: a decorated function writes to its arguments, and what shares memory with them, as plain."""

import linecache
import operator
import re
import zlib
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from harness import arguments, compiled, difference
from left_to_python import refused_or_plain
from programs_everywhere import PROGRAMS as EVERYWHERE
from programs_of_control import PROGRAMS as OF_CONTROL
from programs_of_doubt import ALONE, ONE_OR_ANOTHER
from programs_of_doubt import PROGRAMS as OF_DOUBT
from programs_of_doubt import REFUSED as DOUBTFUL
from programs_of_views import VIEWS, WRITES
from programs_of_ways import WAYS
from programs_through_loops import THROUGH
from staged_programs_of_arrays import PROGRAMS, REFUSED
from straight_programs import PROGRAMS as STRAIGHT

#: executors that compile are asked about the programs that have something to compile
QUICK = ("sequential", "dataflow")


def in_turns(programs, executor):
    """Return those of the programs that ``executor`` runs by day, when each is run by one: not every other one, as
    neighbours differ in what tables have columns of. A long run has all run by all."""
    return [one for one in programs if QUICK[zlib.crc32(str(one).encode()) % len(QUICK)] == executor]


def test_each_program_has_its_turn():
    for programs in (STRAIGHT, PROGRAMS, WAYS, OF_DOUBT):
        shares = [in_turns(programs, executor) for executor in QUICK]
        assert sorted(map(str, sum(shares, []))) == sorted(map(str, programs))
        assert min(map(len, shares)) > 0.35 * len(programs)


def wrong(programs, counts, executor):
    """Return the programs that do otherwise than plain Python, and what."""
    found = []
    for number, source in enumerate(programs):
        for count in counts:
            if what := difference(source, number, arguments(count), executor):
                found.append(f"{source}\n   with n of {type(count).__name__}: {what}")
    return "\n".join(found)


@each(QUICK, one_in=2)
def test_writes_in_straight_lines(executor):
    assert not wrong(in_turns(STRAIGHT, executor), [3], executor)


@each(QUICK)
def test_writes_in_loops_and_branches(executor):
    assert not wrong(in_turns(PROGRAMS, executor), [np.int64(3)], executor)


def test_writes_where_python_decides():
    assert not wrong(PROGRAMS, [3], "sequential")


def test_what_is_a_view_and_what_a_copy():
    assert not wrong(VIEWS, [3, np.int64(3)], "sequential")


@each(QUICK, one_in=2)
def test_the_many_ways_to_write(executor):
    assert not wrong(in_turns(WAYS, executor), [np.int64(3)], executor)


def test_every_way_through_loops_and_branches():
    assert not wrong(THROUGH[::3], [np.int64(3)], "sequential")


def test_there_are_as_many_programs_as_we_say():
    every = [*STRAIGHT, *VIEWS, *PROGRAMS, *WRITES, *OF_CONTROL, *OF_DOUBT, *DOUBTFUL, *REFUSED, *WAYS, *THROUGH]
    assert len({str(one) for one in every}) > 900


@each(QUICK)
def test_what_is_hard_to_tell(executor):
    assert not wrong(in_turns(OF_DOUBT, executor), [3, np.int64(3)], executor)


def test_what_may_be_another_array_is_not_used_in_silence():
    for number, source in enumerate(DOUBTFUL):
        words = "what this array holds is not known while the graph is|is another array after"
        refused_or_plain(compiled(source, f"doubtful {number}"), words, *arguments(np.int64(3)))


def test_what_is_a_view_or_a_copy_by_its_order_is_told():
    def written(x, which):
        y = x.reshape(2, 2) + 1
        r = y.ravel()
        (r if which else y)[0] = 1
        return y, r

    for which in (True, False):
        words = "give a view or a copy depends on the order in memory of what an operation"
        refused_or_plain(written, words, np.arange(4.0), which)


@each([3, 8])
def test_lists_and_dicts_that_may_be_one_or_another(count):
    """What may be another one than that which changes is left to plain Python, or refused; never silently wrong."""
    for number, source in enumerate(ONE_OR_ANOTHER):
        found = difference(source, f"one or another {number}", arguments(np.int64(count)), "auto")
        said = "which has changed in place, or another one|may be one|is changed that may be another"
        assert not found or (found.startswith("raises TypeError(") and re.search(said, found)), f"{source}\n{found}"
    assert not wrong(ALONE, [np.int64(count)], "sequential")


def test_some_of_the_wide_programs():
    assert not wrong([*WRITES[::5], *OF_CONTROL[::5]], [np.int64(3)], "sequential")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_writes_under_every_executor(executor):
    assert not wrong([*STRAIGHT, *VIEWS], [3, np.int64(3), np.int64(0)], executor)
    assert not wrong(PROGRAMS, [3, np.int64(3)], executor)


def test_some_writes_wherever_they_stand():
    assert not wrong(EVERYWHERE[::29], [np.int64(3)], "sequential")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_all_writes_wherever_they_stand(executor):
    assert not wrong(EVERYWHERE, [np.int64(3)], executor)


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_wide_programs_under_every_executor(executor):
    assert not wrong([*WRITES, *OF_CONTROL, *OF_DOUBT, *WAYS, *THROUGH], [3, np.int64(3)], executor)


@each([one for one in EXECUTORS if one not in QUICK])
def test_writes_in_some_loops_when_compiled(executor):
    assert not wrong(PROGRAMS[::9], [np.int64(3)], executor)


@pytest.mark.parametrize(("source", "words"), REFUSED)
def test_which_array_it_is_depends_on_the_run(source, words):
    refused_or_plain(compiled(source, "refused"), words, *arguments(np.int64(3)))


def counted_up(x):
    while x < 5:
        x += 1
    return x


@pytest.mark.parametrize(
    "function",
    [lambda x: operator.iadd(x, 1), counted_up, lambda x: counted_up(x) * 2],
)
def test_an_argument_without_axes_is_not_changed_in_silence(function):
    decorated = al.function(function)
    assert decorated(np.float64(2)) == function(np.float64(2))
    given = np.array(2.0)
    refused_or_plain(function, "an argument that is an array without axes is changed in place", given)
    assert decorated(np.float64(2)) == function(np.float64(2))
    assert al.function(lambda x: x + 1)(given) == 3
    signed = al.function(counted_up, input_signature=[al.TensorSpec([], np.float64)])
    assert signed(np.float64(2)) == 5
    with pytest.warns(UserWarning, match="an argument that is an array without axes"):
        assert signed(given) == given == 5


def test_views_of_an_argument_without_axes_are_not_written_to():
    programs = [
        "x[...] = 5", "x[()] += 1", "np.copyto(x, 3)", "np.put(x, 0, 3)", "np.add.at(x, (), 1)", "x.flat[0] = 3",
        "b = x.reshape(1); b[0] = 4", "b = np.atleast_1d(x); b[0] = 4", "b = x[None]; b[0] = 4", "b = x[...]; b += 4",
        "b = np.asarray(x); b += 1", "b = x.T; b += 1", "b = x.ravel(); b += 1", "b = np.array(x, copy=None); b += 1",
    ]  # fmt: skip
    for number, program in enumerate(programs):
        given = list(arguments(3))
        given[5] = np.array(2.5)
        words = "an argument that is an array without axes is changed in place"
        refused_or_plain(compiled(program, f"without axes {number}"), words, *given)
    for number, program in enumerate(["b = np.array(x); b += 1; return b", "b = x.copy(); b += 1; return b * 1"]):
        given[5] = np.array(2.5)
        assert al.function(compiled(program, f"copies {number}"))(*given) == 3.5 and given[5] == 2.5


def test_an_argument_without_axes_that_is_a_part_of_another():
    def f(x, y):
        x += 1
        return y * 1

    x = np.arange(3.0)
    assert al.function(f)(x, x[1:2].reshape(())) == 2 and x.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="an argument without axes is a part of 'x', which is written to"):
        al.function(f, input_signature=[al.TensorSpec([3], al.float64), al.TensorSpec([], al.float64)])(
            x, x[1:2].reshape(())
        )
    assert al.function(f)(x, np.array(5.0)) == 5 and x.tolist() == [2, 3, 4]


def test_a_list_of_parts_of_the_array_that_is_written_to():
    """NumPy writes them one after the other; where only the run knows which goes where, plain Python does it."""
    for program in ("m[:2] = [m[1]]", "m.flat[:8] = [m[1], m[0]]"):
        f, given, plain = compiled(program, "parts"), arguments(np.int64(3)), arguments(np.int64(3))
        words = r"a list or tuple is assigned that holds parts of the very array that is"
        with pytest.warns(UserWarning, match=words):
            al.function(f)(*given)
        f(*plain)
        assert np.array_equal(given[1], plain[1]) and not np.array_equal(plain[1], arguments(3)[1])
        if "native" in EXECUTORS:
            given = arguments(np.int64(3))
            with pytest.raises(TypeError, match=words):
                al.function(f, executor="native")(*given)
            assert np.array_equal(given[1], arguments(3)[1])


def test_a_buffer_is_no_new_array():
    words = r"np\.ndarray of a buffer is a view that a graph cannot follow"
    refused_or_plain(lambda x: np.ndarray((2,), float, x), words, np.arange(3.0))


def add_to_first(x, y):
    x[0] += y[1]
    y[1] = 10
    return x.sum() + y.sum()


def test_one_array_as_several_arguments():
    f = al.function(add_to_first)
    for _ in range(2):
        one, other, plain = np.arange(4.0), np.arange(4.0), np.arange(4.0)
        assert f(one, other) == add_to_first(np.arange(4.0), np.arange(4.0))
        shared, plain = np.arange(4.0), np.arange(4.0)
        assert f(shared, shared) == add_to_first(plain, plain) and shared.tolist() == plain.tolist()
        view, plain = np.arange(4.0), np.arange(4.0)
        assert f(view[:], view[:]) == add_to_first(plain, plain) and view.tolist() == plain.tolist()
    assert f.tracing_count == 2
    one = np.arange(4.0)
    assert all(each is one for each in al.function(lambda x, y: (x, [y, x]))(one, one)[1])
    both = al.function(lambda x, y: (y + 0, x, y + 0))(one, one)
    assert both[1] is one and not np.shares_memory(both[0], both[2]) and not np.shares_memory(both[0], one)


def test_read_only_arrays_are_not_written_to():
    x = np.arange(3.0)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        al.function(add_to_first)(x, np.ones(3))
    assert al.function(lambda x: x + 1)(x).tolist() == [1, 2, 3]


def test_derivatives_at_arrays_of_another_byte_order():
    """What is differentiated is a copy in this machine's order."""

    def put(x, y):
        x[0] = 9.0
        return (x * y).sum()

    swapped = np.dtype("f8").newbyteorder()
    x, z = np.arange(4).astype(swapped), np.arange(4).astype(swapped)
    with al.GradientTape():
        assert al.function(put)(x, z) == 14 and x.tolist() == [9, 1, 2, 3]
        with pytest.raises(TypeError, match="an argument of another byte order or type overlaps in memory"):
            al.function(put)(z[:2], z[1:3])
        assert z.tolist() == [0, 1, 2, 3] and al.function(lambda x, y: x + y)(z[:2], z[1:3]).tolist() == [1, 3]
        z.flags.writeable = False
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            al.function(put)(z, x)
    assert z.tolist() == [0, 1, 2, 3]


def flatten_and_fill(x):
    flat = x.reshape(-1)
    flat[1] = 100
    return x * 1, flat


@pytest.mark.parametrize(
    "make",
    [np.ascontiguousarray, lambda x: x[:, ::2], lambda x: x.T, lambda x: x[:, :2],
     lambda x: x.astype(np.float32)],
)  # fmt: skip
def test_arrays_of_any_layout(make):
    f = al.function(flatten_and_fill)
    for source in (np.arange(16.0).reshape(4, 4), make(np.arange(16.0).reshape(4, 4))):
        given, plain = make(source.copy()), make(source.copy())
        try:
            found = f(given)
        except TypeError as refusal:
            assert "depends on a loop or branch" in str(refusal)
            continue
        for one, other in zip(found, flatten_and_fill(plain), strict=True):
            assert one.tolist() == other.tolist()
        assert given.tolist() == plain.tolist()


def test_derivatives_of_what_writes_in_place():
    def f(x):
        out = np.zeros(3)
        for k in range(3):
            out[k] = x[k] ** 2
        x[0] = 7
        out += x
        return out.sum()

    for decorated in (al.grad(al.function(f)), al.function(al.grad(f))):
        x = np.array([1.0, 2.0, 3.0])
        assert decorated(x).tolist() == [2, 5, 7] and x.tolist() == [1, 2, 3]


def test_the_page_prints_what_it_shows(capsys):
    page = (Path(__file__).parents[2] / "docs" / "arrays.md").read_text(encoding="utf-8")
    program, shown = re.findall(r"```(?:python|text)\n(.*?)```", page, re.S)
    linecache.cache["<page>"] = (len(program), None, program.splitlines(True), "<page>")
    exec(compile(program, "<page>", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == shown


def test_an_array_without_axes_of_a_number_whose_type_only_the_run_tells():
    def f(x):
        return np.array(2 if x > 0 else 0.5)

    refused_or_plain(f, r"np\.array of a number of which only the run tells the type", np.float64(1))


def nothing_yet(u):
    c, d = np.ndarray(u.shape, dtype=u.dtype), np.empty(u.shape, u.dtype, order="F")
    c[:], d[:, 1] = u, 3
    return c, d[:, 1], d.flags.f_contiguous


def of_a_buffer(u):
    c = np.ndarray((2,), np.float64, bytes(range(16)))
    return c + u[0, 0]


def of_one_value(u):
    made = np.zeros(u.shape), np.ones(u.shape, np.int16), np.zeros_like(u), np.ones_like(u), np.empty_like(u)
    made[4][:] = 7
    for one in made:
        one[0, 0] = u[1, 1]
    return made


@each({"nothing yet": nothing_yet, "of a buffer": of_a_buffer, "of one value": of_one_value})
def test_arrays_that_are_filled_are_made_by_each_call(name):
    """Large ones are no constants that each call copies."""
    plain = globals()[name.replace(" ", "_")]
    f = al.function(plain)
    for shape in ((3, 2), (300, 300)):
        u = np.arange(np.prod(shape, dtype=float)).reshape(shape)
        for _ in range(3):
            ours, theirs = f(u), plain(u)
            assert [np.asarray(one).tolist() for one in ours] == [np.asarray(one).tolist() for one in theirs]
            assert [np.asarray(one).dtype for one in ours] == [np.asarray(one).dtype for one in theirs]
            for one in ours:
                one = np.asarray(one)
                if one.ndim and one.flags.writeable:
                    one[...] = 5
        constants = [node.attrs.get("value") for node in f.get_concrete_function(u).graph.nodes]
        assert all(np.size(one) <= 1 << 16 for one in constants)
