"""Compiled code on disk: what it is kept under, who may read it, and what happens where there is no place for it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import DiskCache, caching, compiling, default_cache, linker, replace
from each_case import each
from native_checks import compile_native, graph_of


def open_to_others(folder):
    folder.mkdir()
    folder.chmod(0o777)


def of_another_user(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder, 54321, 54321)


def link(folder):
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


#: how a folder is made that is not used -> the words that say so
FOLDERS = {
    "mode": (open_to_others, "open to others .mode 0777"),
    "owner": (of_another_user, "belongs to user 54321"),
    "link": (link, "is a symbolic link"),
    "dangling link": (lambda folder: folder.symlink_to("nowhere"), "cannot be used: File exists"),
    "file": (lambda folder: folder.write_text(""), "cannot be used: File exists"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    compiling.host()  # is kept, too, by whoever asks first
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    monkeypatch.setenv("AUTOLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def result_of(number):
    graph = graph_of(lambda x: x * number, np.float32(1))
    return compile_native(graph)([np.float32(2)])[0]


def test_code_is_kept_and_used_again(folder, monkeypatch):
    assert result_of(3.25) == 6.5
    assert len(list(folder.iterdir())) == 1
    assert folder.stat().st_mode & 0o077 == 0 or os.name != "posix"
    monkeypatch.setattr(compiling, "_compiled", lambda ir: pytest.fail("compiled again"))
    assert result_of(3.25) == 6.5


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_entry_is_made_again(folder, damage):
    assert result_of(4.5) == 9
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-7] + b"1234567" if damage is None else damage)
    assert result_of(4.5) == 9
    assert entry.read_bytes() == whole


def test_an_entry_under_another_name_is_not_taken(folder):
    result_of(5.0), result_of(6.0)
    first, second = sorted(folder.iterdir())
    first.write_bytes(second.read_bytes())
    assert (result_of(5.0), result_of(6.0)) == (10, 12)


@pytest.mark.skipif(os.name != "posix", reason="POSIX modes")
@pytest.mark.parametrize("make, words", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_that_is_not_ones_own_is_not_used_and_that_is_said_once(folder, make, words):
    if "belongs" in words and os.getuid():
        pytest.skip("only root gives folders away")
    make(folder)
    with pytest.warns(al.UnusableCacheWarning, match=words):
        assert result_of(7.0) == 14
    assert result_of(7.5) == 15  # a warning would be an error
    assert not folder.is_dir() or not list(folder.iterdir())


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A cache that takes 500 bytes, and looks after each entry whether they are more."""
    for name, value in {"LIMIT": 500, "ROOM": 0, "LOOK": 1, "BLOCK": 1}.items():
        monkeypatch.setattr(caching, name, value)
    return DiskCache(tmp_path / "cache")


def test_the_oldest_entries_go_first(small):
    for k in range(5):
        small.store(f"key{k}", b"x" * 150)
        os.utime(Path(small.folder, f"key{k}.o"), (k, k))
    assert small.load("key0") is None and small.load("key4") == b"x" * 150


def test_what_another_process_removes_meanwhile_is_not_missed(small, monkeypatch):
    scan = os.scandir

    def scanned(folder):
        entries = list(scan(folder))
        os.unlink(Path(small.folder, "key1.o"))
        return entries

    for k in range(3):
        small.store(f"key{k}", b"x" * 150)
    monkeypatch.setattr(caching.os, "scandir", scanned)
    small.store("key3", b"x" * 600)
    assert not os.listdir(small.folder)


def test_storing_seldom_looks_at_all_there_is(tmp_path, monkeypatch):
    cache, scans, scan = DiskCache(tmp_path / "cache"), [], os.scandir
    monkeypatch.setattr(caching.os, "scandir", lambda folder: scans.append(folder) or scan(folder))
    for k in range(1000):
        cache.store(f"key{k}", bytes(40_000))
    # 1,000 entries of 40,000 bytes are 10 times what is stored between two looks
    assert 1 <= len(scans) <= 30


def test_a_disk_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file" / "cache")
    cache.store("key", b"content")
    assert cache.load("key") is None


def test_the_cache_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("AUTOLOOP_CACHE", "0")
    assert default_cache() is None


#: the files of ``native`` that the first call of a loop needs whose code is there, by their rooms; each costs every
#: such program a third of a millisecond, so what only some loops need is loaded by need
AT_FIRST_CALL = {
    "": "argument_places call_memory given_away graph_forms native_call native_function packed_words",
    "ir": "casts elements helpers moving writer",
    "kernels": "ll_files",
    "rules": "pointwise while_rules",
    "toolchain": "cache compile_ir compiler interpreter linker shared_libraries",
    "typing": "exact_shapes facts refusal static_slices",
    "writer": (
        "arena context copy_on_write elementwise_ir interrupts marked_lines marks memory memory_order nests "
        "node_writer outlining polling refusals_in_runs registry steps storage_plan values watching"
    ),
}
#: of the standard library: what starts programs, and what is replaced by a few lines because it costs as much as these
LATER = {"ctypes.util", "hashlib", "json", "pathlib", "socket", "string", "subprocess", "tempfile"}


def test_processes_share_the_cache(folder):
    """Two that make the same at once; one for which it is there needs not even what would start another process,
    which takes longer to import than the code to load."""
    code = """
import sys, numpy
before = set(sys.modules)
import autoloop as al
def loop(x):
    return al.while_loop(lambda v: v < 17, lambda v: v * 8.5, [x])[0]
result = al.function(loop, autograph=False, executor="native")(2.0)
print(float(result), *(name for name in set(sys.modules) - before if ".native." in name or "autoloop" not in name))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = []
    for count in (2, 1):
        jobs = [subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE) for _ in range(count)]
        said += [job.communicate()[0].decode().split() for job in jobs]
        assert [job.returncode for job in jobs] == [0] * count
    assert [words[0] for words in said] == ["17.0"] * 3
    assert any("socket" in words for words in said[:2]) == linker.is_supported()
    ours = {name.partition(".native.")[2] for name in said[2] if ".native." in name}
    known = {f"{room}.{file}".strip(".") for room, files in AT_FIRST_CALL.items() for file in ["", *files.split()]}
    assert ours <= known, f"a first call would load {ours - known} besides; load it by need, or say here why not"
    if linker.is_supported():
        assert not LATER & set(said[2])
    assert len(list(folder.glob("*.o"))) == 2  # the code, and what the machine is


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_is_no_entry(tmp_path, put):
    cache = DiskCache(tmp_path / "cache")
    cache.store("other", b"content")
    put(tmp_path / "cache" / "key.o")
    assert cache.load("key") is None
    cache.store("key", b"content")
    assert cache.load("key") in (b"content", None)  # a folder stays where it is
    assert cache.load("other") == b"content"


# -- no place for it ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_a_user_without_a_home_has_no_cache(monkeypatch, home):
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    for name in ("AUTOLOOP_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 54321)  # nobody
    assert default_cache() is None


def test_a_relative_place_is_not_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    monkeypatch.delenv("AUTOLOOP_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache().folder == str(tmp_path / ".cache" / "autoloop" / "native")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert default_cache().folder == str(tmp_path / "elsewhere" / "autoloop" / "native")


NOBODY = """
import os, sys
import numpy as np, autoloop as al
from autoloop_runtime.running import automatic; from autoloop_runtime.base import background
from autoloop_runtime.running import on_stack_replacement, tier_up
if os.getuid() == 0:
    import llvmlite.binding, scipy.linalg.cython_blas, socket, ctypes  # may lie where nobody else may look
    from autoloop_runtime.native import native_call as call
for home in HOMES:
    pid = os.fork()
    if not pid:
        break
    print(home, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
else:
    os._exit(0)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(54321)
    os.setuid(54321)
os.environ.pop("HOME", None)
if home is not None:
    os.environ["HOME"] = home
tier_up.price = lambda nodes: 0.0
automatic.SMALLEST = 0.0
def f(n):
    i = 0.0
    while i < n:
        i += 1.0
    return i
n = np.float64(1000)
assert al.function(f, executor="native")(n) == 1000
automatically = al.function(f)
for _ in range(300):
    assert automatically(n) == 1000
    background.wait()
standing = al.explain(automatically, n).loops[0]
assert "machine code" in standing.why and "failed" not in standing.why, standing.why
"""


def open_to_others(path):
    """Whether another user may go into a folder."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


@pytest.mark.skipif(not linker.is_supported(), reason="LLVM works in this process here")
@pytest.mark.skipif(not open_to_others(Path(sys.prefix)), reason="another user cannot read this environment")
def test_a_user_whom_nobody_knows_has_machine_code():
    """As in ``docker run --user 54321``."""
    folder = Path(tempfile.mkdtemp())  # not ``tmp_path``, which is closed to others
    folder.chmod(0o755)
    program = folder / "program.py"
    program.write_text(NOBODY.replace("HOMES", repr(("/", "/nowhere", None))))
    env = {k: v for k, v in os.environ.items() if k not in ("AUTOLOOP_CACHE", "AUTOLOOP_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", program],
        env={**env, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    shutil.rmtree(folder)
    assert done.stdout.splitlines() == ["/ 0", "/nowhere 0", "None 0"], done.stderr


# -- what an entry is kept under ----------------------------------------------------------------------------


@each(["triple", "cpu", "flags", "version", "binding"])
def test_an_entry_is_of_one_machine_and_one_compiler(name):
    known = compiling.host()
    other = (1, 2, 3) if name == "version" else "another"
    assert compiling.key_of("ir", replace(known, **{name: other})) != compiling.key_of("ir", known)


@pytest.mark.parametrize(
    "where, name, other",
    [
        (compiling, "CODE", 0),
        (compiling, "_libraries", lambda: ("1.0",)),
        (compiling.compiler, "LEVEL", 2),
        (compiling.compiler, "LOOPS", ()),
        (compiling.compiler, "PROCESS", ("-another",)),
        (compiling.interpreter, "why_not", lambda: "LLVM works in this process"),
    ],
)
def test_an_entry_is_of_one_way_to_make_it(monkeypatch, where, name, other):
    before = compiling.key_of("ir", compiling.host())
    assert compiling.key_of("ir", compiling.host()) == before != compiling.key_of("another", compiling.host())
    monkeypatch.setattr(where, name, other)
    assert compiling.key_of("ir", compiling.host()) != before


def test_the_libraries_are_those_that_are_there():
    numpy, scipy, c_library = compiling._libraries()
    assert numpy == np.__version__
    assert scipy == "None" or re.fullmatch(r"\(\d+(, \d+)+\)", scipy)
    assert c_library.split()[-1][0].isdigit()
