"""Modules that are kept in one file: what is loaded from it is what Python would load."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import threading
from importlib.machinery import PathFinder, SourceFileLoader
from types import ModuleType

import pytest
from api import ENOUGH, Finder

NAMES = tuple(f"m{k}" for k in range(ENOUGH))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder of modules, and a function that loads them as one process would, which ends then."""
    monkeypatch.setattr(atexit, "register", lambda f: f)
    folder = tmp_path / "made"
    folder.mkdir()
    for name in (*NAMES, "inner/__init__", "inner/m"):
        (folder / f"{name}.py").parent.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(f"'''{name}'''\nVALUE = {name!r}\ndef f():\n    return VALUE\n")

    def load(names=NAMES, folder=folder, before=lambda finder: None):
        finder = Finder(str(tmp_path / "cache" / "some.modules"))
        before(finder)
        values = {}
        for name in names:
            found = finder.find_spec(f"autoloop_runtime.made.{name}", [str(folder)])
            module = importlib.util.module_from_spec(found)
            found.loader.exec_module(module)
            assert module.f.__code__.co_filename == module.__file__ == str(folder / f"{name}.py")
            assert module.__cached__ == importlib.util.cache_from_source(module.__file__)
            assert found.loader.get_source(found.name) == (folder / f"{name}.py").read_text()
            assert isinstance(found.loader, SourceFileLoader)
            values[name] = module.f()
        finder.end_of_import()
        finder.write()
        return values

    return load


@pytest.fixture
def looked_for(monkeypatch):
    """What was looked for in the usual way."""
    names, find = [], PathFinder.find_spec
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, *rest: names.append(name) or find(name, *rest))
    return names


EXPECTED = {name: name for name in NAMES}


def test_the_next_process_looks_for_none(made, looked_for):
    assert made() == EXPECTED
    assert len(looked_for) == ENOUGH
    assert made() == EXPECTED and made(NAMES[::-1]) == EXPECTED
    assert len(looked_for) == ENOUGH


@pytest.mark.parametrize("compiles_anew", [False, True])
def test_a_few_modules_are_worth_a_file_where_python_keeps_no_bytecode(made, tmp_path, monkeypatch, compiles_anew):
    monkeypatch.setattr(sys, "dont_write_bytecode", compiles_anew)
    made(NAMES[:-1])
    assert (tmp_path / "cache").exists() == compiles_anew


def test_more_modules_are_added(made, tmp_path, looked_for):
    more = [f"x{k}" for k in range(ENOUGH)]
    made()
    for name in more:
        (tmp_path / "made" / f"{name}.py").write_text(f"VALUE = {name!r}\ndef f():\n    return VALUE\n")
    for _ in range(2):
        assert made((*NAMES, *more)) == {name: name for name in (*NAMES, *more)}
    assert len(looked_for) == 2 * ENOUGH


def test_modules_are_pickled_by_name_where_they_are_of_a_class_of_their_own(made, tmp_path, monkeypatch):
    # cloudpickle sends those that a function names together with their package, by what their class is
    made()
    name = f"autoloop_runtime.made.{NAMES[0]}"
    spec = Finder(str(tmp_path / "cache" / "some.modules")).find_spec(name, [str(tmp_path / "made")])
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    assert type(module) is ModuleType or pickle.loads(pickle.dumps(module)) is module


def test_packages_are_packages(made, tmp_path):
    made()
    for _ in range(2):
        finder = Finder(str(tmp_path / "cache" / "some.modules"))
        found = finder.find_spec("autoloop_runtime.made.inner", [str(tmp_path / "made")])
        assert found.submodule_search_locations == [str(tmp_path / "made" / "inner")] and found.parent == found.name


def rewritten(folder):
    (folder / "made" / "m3.py").write_text("VALUE = 'another'\ndef f():\n    return VALUE\n")


def touched(folder):
    (folder / "made" / "m3.py").write_text("VALUE = 'm4'\n\n\n\ndef f():\n    return VALUE\n")
    os.utime(folder / "made" / "m3.py", ns=(5, 5))


@pytest.mark.parametrize("change", [rewritten, touched])
def test_a_source_that_changed_is_read(made, tmp_path, change):
    made()
    change(tmp_path)
    expected = EXPECTED | {"m3": {"rewritten": "another", "touched": "m4"}[change.__name__]}
    for _ in range(4):
        assert made() == expected


def test_a_source_that_is_gone_is_no_module(made, tmp_path):
    made()
    (tmp_path / "made" / "m3.py").unlink()
    finder = Finder(str(tmp_path / "cache" / "some.modules"))
    assert finder.find_spec("autoloop_runtime.made.m3", [str(tmp_path / "made")]) is None


def test_a_module_is_taken_from_where_python_would_take_it(made, tmp_path):
    made()
    other = tmp_path / "other"
    other.mkdir()
    (other / "m3.py").write_text("VALUE = 'another'\ndef f():\n    return VALUE\n")
    assert made(["m3"], other) == {"m3": "another"}
    assert made() == EXPECTED


def test_what_is_loaded_again_is_what_is_there_then(made, tmp_path):
    made()
    finder = Finder(str(tmp_path / "cache" / "some.modules"))
    for value in ("m3", "another"):
        (tmp_path / "made" / "m3.py").write_text(f"VALUE = {value!r}\ndef f():\n    return VALUE\n")
        found = finder.find_spec("autoloop_runtime.made.m3", [str(tmp_path / "made")])
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        assert module.f() == value


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :]


@pytest.mark.parametrize("place", [0, 9, 17, 25, 33, 100, -100, -1])
def test_a_damaged_file_is_none(made, tmp_path, looked_for, place):
    made()
    file = tmp_path / "cache" / "some.modules"
    whole = file.read_bytes()
    for damaged in (flipped(whole, place % len(whole)), whole[:place], b""):
        file.write_bytes(damaged)
        looked_for.clear()
        assert made() == EXPECTED
        assert len(looked_for) == ENOUGH
        # it is made anew; its bytes may differ: marshal tells what is shared by counts of references
        assert made() == EXPECTED
        assert len(looked_for) == ENOUGH


def test_the_file_of_another_installation_is_none(made, tmp_path, looked_for):
    made()
    made_of_another = tmp_path / "cache" / "other.modules"
    made_of_another.write_bytes((tmp_path / "cache" / "some.modules").read_bytes())
    finder = Finder(str(made_of_another))
    looked_for.clear()
    assert finder.find_spec("autoloop_runtime.made.m3", [str(tmp_path / "made")]) is not None
    assert looked_for


@pytest.mark.skipif(os.name != "posix", reason="there are no modes here")
def test_a_folder_that_others_may_write_to_is_not_used(made, tmp_path, looked_for):
    made()
    (tmp_path / "cache").chmod(0o777)
    for _ in range(2):
        assert made() == EXPECTED
    assert len(looked_for) == 3 * ENOUGH


#: the modules of a package; ``told`` is the test's
TEXTS = {
    "top": "from .middle import VALUE\nfrom .other import OTHER\n",
    "middle": "try:\n    from .bottom import VALUE\nexcept ImportError:\n    VALUE = 'none'\n",
    "bottom": "import told\ntold.by(__name__)\nfrom . import in_circle\nVALUE = 'bottom'\n",
    "in_circle": "from . import bottom\n",
    "other": "OTHER = 1\ndef __getattr__(name):\n    if name != 'later':\n        raise AttributeError\n    return 2\n",
}
PACKAGE = "autoloop_runtime.packed"


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A function that loads modules of a package as one process would, and returns them and what imports asked for."""
    monkeypatch.setattr(atexit, "register", lambda f: f)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # so few are worth a file
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.py").write_text(text)

    def load(*names, told=lambda name: None, before=(), threads=()):
        finder, package, teller = Finder(str(tmp_path / "cache" / "some.modules")), *map(ModuleType, (PACKAGE, "told"))
        package.__path__, teller.by, asked, find = [str(tmp_path)], told, [], finder.find_spec
        finder.find_spec = lambda name, *rest: asked.append(name.rpartition(".")[2]) or find(name, *rest)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "meta_path", [*before, finder, *sys.meta_path])
            patch.setitem(sys.modules, PACKAGE, package)
            patch.setitem(sys.modules, "told", teller)
            try:
                for name in names:
                    importlib.import_module(f"{PACKAGE}.{name}")
                for thread in threads:
                    thread.join(10)
            finally:
                modules = {name: sys.modules.pop(f"{PACKAGE}.{name}", None) for name in TEXTS}
        modules = {name: module for name, module in modules.items() if module is not None}
        assert not finder._running
        for name, module in modules.items():
            assert getattr(package, name) is module and module.__spec__.loader is module.__loader__
            assert isinstance(module.__loader__, SourceFileLoader) and module.__spec__.name == module.__name__
            assert module.__spec__.parent == module.__package__ == PACKAGE
            assert module.__spec__.origin == module.__file__ == str(tmp_path / f"{name}.py")
        finder.write()
        return modules, asked

    return load


def test_what_a_module_imports_is_loaded_before_it(packed):
    usual, asked = packed("top")
    assert set(asked) == set(TEXTS)
    kept, asked = packed("top")
    assert asked[0] == "top" and not {"middle", "other"} & {*asked}
    assert list(kept) == list(usual) and kept["top"].VALUE == "bottom"
    assert kept["in_circle"].bottom is kept["bottom"] and kept["bottom"].in_circle is kept["in_circle"]
    kept, _ = packed("middle")  # and not what others import
    assert list(kept) == ["middle", "bottom", "in_circle"]


def test_a_module_is_asked_for_what_it_gives_by_a_function(packed):
    for name in ("other", "top", "top"):  # on Python 3.11 it was not, and NumPy's sign had no gradient
        modules, _ = packed(name)
        assert modules["other"].later == 2 and not hasattr(modules["other"], "another")


def test_a_thread_that_asks_meanwhile_has_the_same_module(packed):
    packed("top")
    found, threads = [], []

    def told(name):
        threads.append(threading.Thread(target=lambda: found.append(importlib.import_module(name))))
        threads[0].start()
        threads[0].join(0.05)
        assert not found

    modules, _ = packed("top", told=told, threads=threads)
    assert found == [modules["bottom"]] and len(threads) == 1


def test_an_error_is_raised_where_the_module_is_imported(packed):
    packed("top")

    def told(name):
        raise ImportError(name)

    modules, _ = packed("top", told=told)
    assert modules["top"].VALUE == "none" and "bottom" not in modules
    with pytest.raises(KeyboardInterrupt):
        packed("top", told=lambda _: signal.raise_signal(signal.SIGINT))


def test_who_looks_for_modules_first_goes_first(packed):
    packed("top")

    class Others:
        def find_spec(self, name, path, target=None):
            return PathFinder.find_spec(name, path) if name.endswith("middle") else None

    modules, asked = packed("top", before=[Others()])
    assert type(modules["middle"].__loader__) is SourceFileLoader and "middle" not in asked


def test_what_others_load_is_theirs(made, tmp_path):
    finder = Finder(str(tmp_path / "cache" / "some.modules"))
    assert finder.find_spec("json.decoder", [os.path.dirname(os.__file__)]) is None
    assert finder.find_spec("autoloop", None) is None


PROGRAM = """
import sys
from importlib.machinery import PathFinder
looked, find = [], PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: looked.append(name) or find(name, *rest)
import numpy as np
import autoloop as al
@al.function
def f(n):
    i = 0
    while i < n:
        i += 1
        if i > 5:
            raise ValueError("too many")
    return i
assert f(np.int64(3)) == 3
import autoloop.compat.v1, autoloop.typing  # what users name is a module to anybody
named = [getattr(al, name) for name in al.__all__]
named = [one for one in (*named, al.compat.v1, autoloop.typing) if isinstance(one, type(sys))]
assert {type(one) for one in named} == {type(sys), type(al.config)} and len(named) > 8
print(*[one for one in looked if one.startswith(("autoloop.", "autoloop_runtime."))])
"""


def test_a_process_takes_them_from_the_file(tmp_path):
    """The first process of an installation writes it; nothing is kept where the environment wants that."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    told = []
    for switch in ("0", "1", "1"):
        environment = {"AUTOLOOP_CACHE": switch, "AUTOLOOP_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, env=os.environ | environment, check=False
        )
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.split())
        assert (tmp_path / "cache").exists() == (switch == "1")
    usual, first, second = told
    assert usual == first and len(first) > 200
    # what finds the others, and has the collector wait meanwhile
    finders = ("", ".kept_modules", ".cache_folder", ".env_switches", ".collector", ".forks")
    assert set(second) <= {f"autoloop_runtime.base{name}" for name in finders}
    # what one import loads is opened at once
    (file,) = (tmp_path / "cache").glob("*.modules")
    groups = {begin for begin, *_ in Finder(str(file))._index.values()}
    assert len(groups) < 40


FIRST_OF_ALL = """
import sys
import autoloop_runtime.dataflow.pieces
before = {name: module for name, module in sys.modules.items() if name.startswith("autoloop_runtime.")}
import autoloop
import autoloop_runtime.dataflow.batches, autoloop_runtime.dataflow.whole_loops
assert len(before) > 20 and all(sys.modules[name] is module for name, module in before.items())
"""


def test_what_was_loaded_before_there_was_a_file_is_not_loaded_again(tmp_path):
    """Two of a module are two of its classes: what one makes the other does not know."""
    script = tmp_path / "program.py"
    environment = {"AUTOLOOP_CACHE": "1", "AUTOLOOP_CACHE_DIR": str(tmp_path / "cache")}
    for text in (PROGRAM, FIRST_OF_ALL):
        script.write_text(text)
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, env=os.environ | environment, check=False
        )
        assert done.returncode == 0, done.stderr
