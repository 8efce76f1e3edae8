"""``parallel.py``: which runs are on several processors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bytecode
import parallel
import pytest

SOURCE = pytest.Config.ArgsSource
#: a plain ``python -m pytest``
PLAIN = {
    "numprocesses": None, "dist": "no", "tx": [], "distload": False, "markexpr": "not nightly", "keyword": "",
    "usepdb": False, "trace": False, "collectonly": False, "capture": "fd",
}  # fmt: skip


def chosen(monkeypatch, processors=3, source=SOURCE.TESTPATHS, worker=False, **changes):
    """The options after the hook."""
    monkeypatch.setattr(parallel, "_processors", lambda: processors)
    option = SimpleNamespace(**{name: value for name, value in {**PLAIN, **changes}.items() if value != "missing"})
    parallel.pytest_cmdline_main(
        SimpleNamespace(option=option, args_source=source, **{"workerinput": {}} if worker else {})
    )
    return getattr(option, "numprocesses", None), option.dist


@pytest.mark.parametrize("processors, processes", [(2, 2), (3, 3), (64, 4)])
@pytest.mark.parametrize("source", [SOURCE.TESTPATHS, SOURCE.INVOCATION_DIR])
def test_the_whole_suite_is_run_on_what_there_is(monkeypatch, processors, processes, source):
    assert chosen(monkeypatch, processors, source) == (processes, "worksteal")


@pytest.mark.parametrize(
    "how",
    [
        {"processors": 1}, {"source": SOURCE.ARGS}, {"worker": True}, {"numprocesses": 0}, {"numprocesses": "missing"},
        {"markexpr": "nightly"}, {"keyword": "some"}, {"usepdb": True}, {"trace": True}, {"collectonly": True},
        {"capture": "no"}, {"lf": True}, {"tx": ["popen"]}, {"distload": True},
    ],
    ids=str,
)  # fmt: skip
def test_what_somebody_chose_or_looks_at_stays_in_one(monkeypatch, how):
    assert chosen(monkeypatch, **how) == (
        how.get("numprocesses") if how.get("numprocesses") != "missing" else None,
        "no",
    )


#: of the plugins that are installed the one that is asked for: each process would import the others, too
ALONE = ("-p", "xdist.plugin")
#: notes who compiles what
NOTING = """
import os
from _pytest.assertion import rewrite
made = rewrite._rewrite_test
def noting(path, config):
    with open(os.environ["NOTES"] + os.environ.get("PYTEST_XDIST_WORKER", "alone"), "a") as notes:
        notes.write(path.stem + chr(10))
    return made(path, config)
rewrite._rewrite_test = noting
"""


def test_long_tests_are_begun_first():
    there = {path.name for path in Path(__file__).parent.glob("test_*.py")}
    assert there.issuperset(parallel.LONG)
    names = ["test_a.py", "test_samples.py", "test_b.py"]
    items = [SimpleNamespace(path=Path(name)) for name in names]
    parallel.pytest_collection_modifyitems(SimpleNamespace(), items)
    assert [item.path.name for item in items] == names
    parallel.pytest_collection_modifyitems(SimpleNamespace(workerinput={}), items)
    assert [item.path.name for item in items] == ["test_samples.py", "test_a.py", "test_b.py"]


#: a test that ends in each way
ENDS = """
import pytest
@pytest.fixture
def broken(): assert False, "at the beginning"
@pytest.fixture
def breaking():
    yield
    print("said at the end")
    assert False, "at the end"
def test_passes(): assert True
def test_fails(): assert False, "in the middle"
def test_begins(broken): pass
def test_ends(breaking): assert True
def test_skips(): pytest.skip("not here")
@pytest.mark.xfail(strict=True)
def test_expected(): assert False
"""


@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.nightly), 2])
def test_how_each_test_ends_is_told(tmp_path, workers):
    pytest.importorskip("xdist")
    (tmp_path / "test_ends.py").write_text(ENDS)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "parallel", "-rA", "--rootdir", str(tmp_path), "-p",
            "no:cacheprovider", *ALONE, "-n", str(workers), str(tmp_path),
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, cwd=tmp_path, timeout=100,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search("= 1 failed, 2 passed, 1 skipped, 1 xfailed, 2 errors in ", done.stdout), done.stdout
    for text in ("at the beginning", "in the middle", "at the end", "said at the end", "not here"):
        assert text in done.stdout
    assert sorted(re.search("[.FEsx]{7}", done.stdout)[0]) == sorted(".FE.Esx"), done.stdout


#: here, as in the other processes that tests start, the library is imported from the folder of the run
COMPILED = """
import os, subprocess, sys
import library.part
def test():
    there = "import library.part; print(library.part.where)"
    done = subprocess.run([sys.executable, "-c", there], capture_output=True, text=True, check=True)
    assert "autoloop-tests-" in done.stdout and os.path.exists(done.stdout.strip())
    if "gw" in os.environ["PYTEST_XDIST_WORKER"]:
        assert library.part.where == done.stdout.strip()
"""


@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.nightly), 2])
def test_each_process_compiles_its_share_first_and_leaves_nothing(tmp_path, workers):
    pytest.importorskip("xdist")
    tests, scratch = tmp_path / "tests", tmp_path / "scratch"
    tests.mkdir()
    scratch.mkdir()
    (tests / "noting.py").write_text(NOTING)
    for path in (tmp_path / "autoloop" / "__init__.py", tmp_path / "runtime" / "library" / "part.py"):
        path.parent.mkdir(parents=True)
        path.write_text("where = __cached__")
    for name in "abcd":
        (tests / f"test_{name}.py").write_text(
            COMPILED if name == "a" else "def test():\n    x = 1\n    assert x == 1\n"
        )
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "noting", "-p", "assertions", "-p", "bytecode", "-q", "--rootdir",
            str(tmp_path), "-p", "no:cacheprovider", *ALONE, "-n", str(workers), "tests",
        ],
        env={
            **os.environ, "PYTHONPATH": os.pathsep.join(map(str, [tests, Path(__file__).parent, tmp_path / "runtime"])),
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "", "TMPDIR": str(scratch),
            "NOTES": f"{scratch}/by-", "PYTEST_XDIST_WORKER": "alone", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True, text=True, cwd=tmp_path, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    order = {path.name: re.findall(r"^test_\w$", path.read_text(), re.M) for path in scratch.glob("by-*")}
    if workers:
        assert order["by-gw0"][:2] == ["test_a", "test_c"] and order["by-gw1"][:2] == ["test_b", "test_d"]
    else:
        assert order == {"by-alone": ["test_a", "test_b", "test_c", "test_d"]}
    assert not list(scratch.glob("autoloop-tests-*")) and not list(tmp_path.rglob("__pycache__"))


def test_a_folder_for_byte_code_that_is_not_written_to_is_no_help(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "elsewhere")
    left = []
    config = SimpleNamespace(stash=pytest.Stash(), option=SimpleNamespace(dist="no"), add_cleanup=left.append)
    bytecode.pytest_configure(config)
    folder = os.environ["PYTHONPYCACHEPREFIX"]
    assert folder != "elsewhere" and os.path.isdir(folder) and "PYTHONDONTWRITEBYTECODE" not in os.environ
    left.pop()()
    assert not os.path.exists(folder) and not left
