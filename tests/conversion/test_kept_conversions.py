"""Conversions that are kept on disk: the next process takes them where it would make the same, and nowhere else."""

from __future__ import annotations

import linecache
import os
import types
from itertools import count
from pathlib import Path

import autoloop as al
import numpy as np
import programs
import pytest
from autoloop.conversion import converting, kept_conversions
from autoloop.errors import ConversionError

PROGRAM = """
import numpy as np
def f(x, n):
    total = 0.0
    while n > 0:
        total, n = total + helper(x), n - 1
    return total
"""
#: what a program says besides
HELPER = "def helper(x):\n    return x + 1\n"


class Processes:
    """Programs of one file, each loaded as another process would load it, and how many conversions they made."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "program.py"
        self.made = 0
        self._times = count(1)

    def load(self, text, **world):
        self.file.write_text(text)
        time = next(self._times)
        os.utime(self.file, ns=(time, time))
        linecache.clearcache()
        names = {"__name__": "program", "__file__": str(self.file), **world}
        exec(compile(text, self.file, "exec"), names)
        return names

    def run(self, text=PROGRAM + HELPER, given=(np.float64(2), np.int64(3)), **world):
        """What a program gives, and how many conversions it made."""
        names, before = self.load(text, **world), self.made
        result = al.function(names["f"])(*given)
        assert result == self.load(text, **world)["f"](*given)
        return float(result), self.made - before

    def entries(self):
        return sorted((self.folder / "cache").iterdir())


@pytest.fixture
def processes(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_conversions, "_BEGAN", float("inf"))  # the files of other processes, which begin later
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    monkeypatch.setenv("AUTOLOOP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOLOOP_NATIVE", "0")
    made, convert = Processes(tmp_path), converting.convert_code

    def counted(function):
        made.made += 1
        return convert(function)

    monkeypatch.setattr(converting, "convert_code", counted)
    return made


def test_the_next_process_makes_none(processes):
    assert processes.run() == (9, 2)
    assert len(processes.entries()) == 2
    assert all(one.stat().st_mode & 0o077 == 0 or os.name != "posix" for one in processes.entries())
    assert processes.run() == (9, 0)
    assert processes.run(given=(np.float64(5), np.int64(1))) == (6, 0)


@pytest.mark.parametrize(
    ("text", "result", "made"),
    [
        (PROGRAM + HELPER.replace("+ 1", "* 5"), 30, 2),
        (PROGRAM + HELPER + "# more\n", 9, 2),
        ("\n" + PROGRAM + HELPER, 9, 2),
    ],
    ids=["another text", "more text", "other lines"],
)
def test_another_text_is_converted(processes, text, result, made):
    processes.run()
    assert processes.run(text) == (result, made)
    assert processes.run(text) == (result, 0)
    assert processes.run() == (9, 0)


class Sum:
    """A class of the user's with an operator of its own."""

    def __add__(self, other):
        return self


#: what a name stood for, and what it stands for now: there a call, or an operator, is written otherwise
WORLDS = {
    "a function of the user's for a builtin": (
        "def f(x, n):\n    return g(x)\n", {"g": callable}, {"g": lambda x: x * 3}, 3 * 2
    ),
    "one of NumPy's for the user's": (
        "def f(x, n):\n    return g(x)\n", {"g": lambda x: x * 3}, {"g": np.sqrt}, 2**0.5
    ),
    "a name that was not there": (
        "def f(x, n):\n    if n is None:\n        return g(x)\n    return x\n", {}, {"g": issubclass}, 2
    ),
    "a class with an operator": ("def f(x, n):\n    x += n\n    return x\n", {}, {"made": Sum()}, 5),
    "a module": (
        "def f(x, n):\n    return g.shape(x)[0] if g is None else x\n",
        {"g": types.SimpleNamespace(shape=len)}, {"g": np}, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WORLDS)
def test_another_world_is_asked_again(processes, case):
    text, before, now, result = WORLDS[case]
    given = np.float64(2), np.int64(3)
    processes.run(text, given, **before)
    got, made = processes.run(text, given, **now)
    assert got == result and made >= 1
    assert processes.run(text, given, **now) == (result, 0)


def test_another_version_is_another_entry(processes, monkeypatch):
    processes.run()
    for name, version in (("_LOADED", "another version"), ("_sources", lambda: "another version")):
        monkeypatch.setattr(kept_conversions, name, version)
    assert processes.run() == (9, 2)
    assert len(processes.entries()) == 4


def test_a_source_of_the_conversion_that_was_touched_is_another_version(tmp_path):
    (tmp_path / "one.py").write_text("")
    (tmp_path / "of_another_kind.txt").write_text("")
    before = list(kept_conversions._files(str(tmp_path)))
    assert [Path(name).name for name, *_ in before] == ["one.py"]
    os.utime(tmp_path / "one.py", ns=(5, 5))
    assert list(kept_conversions._files(str(tmp_path))) != before
    assert "kept_conversions.py" in kept_conversions._sources() and "gast.py" in kept_conversions._sources()


def test_what_is_loaded_makes_nothing_for_other_sources(processes, monkeypatch):
    monkeypatch.setattr(kept_conversions, "_sources", lambda: "edited since this process began")
    assert processes.run() == processes.run() == (9, 2)
    monkeypatch.setattr(kept_conversions, "_LOADED", "edited since this process began")
    assert processes.run() == (9, 2)
    assert processes.run() == (9, 0)


def test_other_columns_are_another_entry(processes, monkeypatch):
    processes.run()
    monkeypatch.setattr(kept_conversions, "_notes_columns", lambda: False)  # the user's own code may have them
    assert processes.run() == (9, 2)


def test_what_is_too_deep_to_be_written_is_not_kept(processes):
    function = processes.load(PROGRAM + HELPER)["f"]
    made = converting.convert_code(function)
    code = made.code
    for _ in range(1200):  # as many `if ...: return` make, where the user lets Python go so deep
        code = code.replace(co_consts=(code,))
    kept = kept_conversions.KeptConversion(function)
    kept.store(kept_conversions.Conversion(code, made.ops, made.meanings, made.mutated, made.named))
    assert kept.load() is None


def test_texts_of_no_file_are_not_kept(processes):
    name = "<cell 1 of process 4711>"
    linecache.cache[name] = (len(PROGRAM), None, (PROGRAM + HELPER).splitlines(True), name)
    names = {}
    exec(compile(PROGRAM + HELPER, name, "exec"), names)
    assert al.function(names["f"])(np.float64(2), np.int64(3)) == 9
    assert processes.made == 2 and not (processes.folder / "cache").exists()


def test_a_text_is_read_once_for_all_functions_in_it(processes, monkeypatch):
    names, hashed = processes.load(PROGRAM + HELPER), []
    monkeypatch.setattr(kept_conversions, "_texts", {})
    hash_of = kept_conversions._hash
    monkeypatch.setattr(kept_conversions, "_hash", lambda data: hashed.append(data) or hash_of(data))
    assert al.function(names["f"])(np.float64(2), np.int64(3)) == 9
    assert processes.made == 2 and sum(b"while n" in one for one in hashed if b"autoloop" not in one) == 1


def test_a_relative_folder_in_a_folder_that_is_gone_keeps_nothing(processes, monkeypatch, tmp_path):
    names = processes.load(PROGRAM + HELPER)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setenv("AUTOLOOP_CACHE_DIR", "cache")
    try:
        (tmp_path / "gone").rmdir()
    except OSError:
        pytest.skip("the folder of a process stays here")
    assert al.function(names["f"])(np.float64(2), np.int64(3)) == 9


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_what_is_damaged_is_made_again(processes, damage):
    processes.run()
    whole = [one.read_bytes() for one in processes.entries()]
    for one in processes.entries():
        one.write_bytes(one.read_bytes()[:-1] + b"x" if damage is None else damage)
    assert processes.run() == (9, 2)
    assert len(whole) == len(processes.entries()) and processes.run() == (9, 0)


def test_an_entry_under_another_name_is_not_taken(processes):
    processes.run()
    first, second = processes.entries()
    whole = first.read_bytes(), second.read_bytes()
    first.write_bytes(whole[1]), second.write_bytes(whole[0])
    assert processes.run() == (9, 2)


def test_where_nothing_can_be_kept_nothing_is(processes, monkeypatch):
    (processes.folder / "cache").write_text("")
    assert processes.run() == processes.run() == (9, 2)
    (processes.folder / "cache").unlink()
    (processes.folder / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("AUTOLOOP_CACHE", "0")
    assert processes.run() == processes.run() == (9, 2)
    assert not processes.entries()


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_what_others_can_write_is_not_read(processes):
    processes.run()
    (processes.folder / "cache").chmod(0o777)
    assert processes.run() == (9, 2)


def test_a_file_that_changes_meanwhile_is_not_kept(processes, monkeypatch):
    counted = converting.convert_code

    def rewritten(function):
        made = counted(function)
        processes.file.write_text("# another\n")
        return made

    names = processes.load(PROGRAM + HELPER)
    monkeypatch.setattr(converting, "convert_code", rewritten)
    with pytest.warns(UserWarning, match="without conversion"):  # the helper, which is not there any more
        assert al.function(names["f"])(np.float64(2), np.int64(3)) == 9
    assert not (processes.folder / "cache").exists()


def test_a_refusal_is_said_each_time(processes):
    text = "def f(x, n):\n    yield x\n"
    for _ in range(2):
        with pytest.raises(ConversionError, match="yield|generator"):
            al.convert(processes.load(text)["f"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_processes_may_make_the_same_at_one_time(processes):
    names = processes.load(PROGRAM + HELPER)
    children = []
    for _ in range(4):
        if child := os.fork():
            children.append(child)
            continue
        try:
            os._exit(0 if al.convert(names["f"])(1, 2) == 4 else 1)
        finally:
            os._exit(2)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert processes.run() == (9, 0)


def same(one, other):
    """Whether two constants are the same, or two code objects in all that a run or a traceback tells."""
    if not isinstance(one, types.CodeType):
        return type(one) is type(other) and one == other
    told = ("code", "names", "varnames", "freevars", "cellvars", "qualname", "filename", "flags", "exceptiontable")
    return (
        all(getattr(one, f"co_{name}") == getattr(other, f"co_{name}") for name in told)
        and list(one.co_positions()) == list(other.co_positions())
        and all(map(same, one.co_consts, other.co_consts))
    )


def test_what_is_kept_is_what_was_made(processes):
    functions = [one for one in vars(programs).values() if isinstance(one, types.FunctionType)]
    for function in functions:
        kept = kept_conversions.KeptConversion(function)
        made = converting.convert_code(function)
        kept.store(made)
        again = kept.load()
        assert same(again.code, made.code) and again.mutated == made.mutated and again.ops == made.ops
        assert again.meanings.assumed == made.meanings.assumed and again.meanings.answers == made.meanings.answers
    assert len(functions) > 40
