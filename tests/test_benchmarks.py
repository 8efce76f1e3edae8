"""The benchmarks still run, and do not compare apples with oranges; what they measure is not looked at."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from executors import EXECUTORS, NATIVE

FOLDER = Path(__file__).parent / "benchmarks"
PROGRAMS = sorted(path.stem for path in (FOLDER / "programs").glob("[a-z]*.py"))


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in [n for n in sys.modules if n.partition(".")[0] == "programs"]:
        monkeypatch.delitem(sys.modules, name)  # other tests have programs, too
    yield importlib.import_module("peers")
    for name in [n for n in sys.modules if n.partition(".")[0] == "programs"]:
        del sys.modules[name]


@pytest.fixture
def kernels(peers):
    return importlib.import_module("kernels")


def run(script, *arguments):
    command = [sys.executable, str(FOLDER / script), "--quick", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.nightly
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_in_autoloop_and_by_hand(name):
    done = run("peers.py", "--only", name)
    assert "auto" in done.stdout and "NumPy" in done.stdout
    assert "result" not in done.stderr  # a library may be unable to do it, but not do something else


@pytest.mark.nightly
def test_our_own_table(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nafter\n")
    run("run.py", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text and "| verdict |" in text


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory a process needed at most")
def test_the_table_of_memory(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- memory -->\nold\n<!-- /memory -->\nafter\n")
    done = run("memory.py", "--only", "a[5] = 3", "--executors", "sequential", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "Of 1 programs" in text and "a[5] = 3: sequential " in done.stdout


def test_the_table_of_gradients(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- gradients -->\nold\n<!-- /gradients -->\nafter\n")
    run("gradients.py", "--only", "a sin x, a scalar", "--executors", "sequential,dataflow", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert text.count("x = a sin x, a scalar") == 5 and "refused" not in text


def test_the_table_of_gradients_of_kernels(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- kernel gradients -->\nold\n<!-- /kernel gradients -->\nafter\n")
    done = run("kernel_gradients.py", "--kernels", "atax", "--ways", "auto", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert re.search(r"^\| atax \| \d", text, re.MULTILINE), done.stdout


def scheduled(tmp_path, *arguments):
    page = tmp_path / "page.md"
    places = ["scheduler", "scheduler without native"]
    page.write_text("".join([f"before\n<!-- {place} -->\nold\n<!-- /{place} -->\nafter\n" for place in places]))
    done = run("scheduler.py", *arguments, "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and text.count("\nold\n") == 1
    other = places[NATIVE]
    assert f"<!-- {other} -->\nold\n<!-- /{other} -->" in text
    assert not done.stderr  # where a library cannot do it, or does something else
    return text


def test_the_table_of_the_scheduler(tmp_path):
    text = scheduled(tmp_path, "--only", "counter")
    assert re.search(r"^\| a counter alone, an iteration \| \d\S* µs \| \d\S* µs \|", text, re.M)


@pytest.mark.nightly
def test_every_graph_of_the_table_gives_the_same_in_a_function_and_a_session(tmp_path):
    text = scheduled(tmp_path)
    assert len(re.findall(r"^\| .* (?:µs|ms) \|", text, re.M)) >= 20 and "What the second worker gains" in text


@pytest.mark.nightly
def test_the_table_of_functions(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- functions -->\nold\n<!-- /functions -->\nafter\n")
    run("functions.py", "interp", "linalg.svd", "random draws", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "| interp | `x = np.interp(x, grid, values)` |" in text and text.count("| linalg.svd |") == 1


@pytest.mark.nightly
def test_every_function_of_the_table_gives_what_numpy_gives():
    assert "unique" in run("functions.py").stdout  # which compares the results


def test_the_page_has_every_function_of_the_table():
    page = (FOLDER.parent.parent / "docs" / "speed-of-functions.md").read_text(encoding="utf-8")
    cases = re.findall(r'^    Case\("([^"]+)"', (FOLDER / "functions.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(cases) > 40 and re.findall(r"^\| (\S.*?) \| `", page, re.MULTILINE) == cases


def test_the_table_of_kernels(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- kernels tiny 1 -->\nold\n<!-- /kernels tiny 1 -->\nafter\n")
    ways = ("--executors", "sequential", "--peer", f"numba={sys.executable}")  # which may not have it
    done = run("kernels.py", "--kernels", "correlation", *ways, "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    row = re.search(r"^\| correlation \| (.*) \|$", text, re.MULTILINE).group(1).split(" | ")
    numba, ours = (re.fullmatch(r"failed|\**\d+\.\d+\**", cell) for cell in row[1:3])
    assert numba and ours.group() != "failed", done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_kernel_of_the_table_gives_what_numpy_gives(executor):
    done = run("kernels.py", "--executors", executor)
    assert done.stdout.count(f" tiny {executor}") == 48 and "failed" not in done.stdout


@pytest.mark.nightly
def test_the_table_of_what_auto_decides(capsys):
    command = [sys.executable, str(FOLDER / "kernels.py"), "--sizes", "S", "--decisions", "--rounds", "7"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=7200)
    assert done.returncode == 0, done.stderr
    with capsys.disabled():  # each miss, for who reads what the night has found
        print("", done.stdout[done.stdout.index("`auto` is more than") :], sep="\n")
    assert re.search(r"with \d+ of 48 kernels\.", done.stdout)


def test_every_kernel_has_its_sizes(kernels):
    sizes = importlib.import_module("sizes_of_kernels")
    assert sizes.SIZES.keys() == sizes.FUNCTIONS.keys() and len(sizes.SIZES) >= 48
    for name, sized in sizes.SIZES.items():
        assert len(sized.small) == len(sized.middle) and sized.tiny < sized.small < sized.middle, name
        sizes.FUNCTIONS[name](*sized.arguments("tiny"))


def test_a_wrong_value_of_a_kernel_fails_loudly(kernels, monkeypatch, capsys):
    apart = importlib.import_module("kernel_worker").what_differs
    x = np.arange(3.0)
    assert not apart(([x], (x, 1)), ([x + 1e-12], (x, 1)))
    assert "apart" in apart(([x], (x, 1)), ([x], (x + 1e-3, 1)))
    assert "float32" in apart([x], [x.astype("f")]) and "values" in apart([x], [x, x])
    monkeypatch.setattr(kernels, "measured", lambda *_: kernels.Found(wrong="is 3 apart at most"))
    monkeypatch.setattr(sys, "argv", ["kernels.py", "--kernels", "lu", "--executors", "native"])
    with pytest.raises(SystemExit, match="lu, native: is 3 apart"):
        kernels.main()
    assert "**wrong**" in capsys.readouterr().out


def test_what_auto_decides_badly_is_told(kernels):
    def found(ratio, first, ran="", plain=1e-2):
        return kernels.Found(plain=plain, ratio=ratio, first=first, ran=ran)

    good = {"auto": found(0.105, 0.1, "native"), "native": found(0.1, 0.2), "sequential": found(0.9, 0.1)}
    slow = {"auto": found(0.9, 0.1, "sequential"), "native": found(0.3, 0.2), "sequential": found(0.9, 0.1)}
    late = {"auto": found(0.3, 1.0, "native"), "native": found(0.3, 0.2), "sequential": kernels.Found(failed="refused")}
    none = {way: kernels.Found(failed="refused: it") for way in good}
    apart = {"auto": found(0.2, 0.1, "native"), "native": found(0.1, 0.2, plain=2e-2), "sequential": found(0.9, 0.1)}
    assert not kernels.misses({"stockham": apart})
    assert kernels.misses({"lu": good, "adi": slow, "atax": late, "mvt": none}) == [
        ["adi", "sequential", "native", "3.00", "0.5"], ["atax", "native", "native", "1.00", "5.0"],
    ]  # fmt: skip
    assert "2 of 4 kernels" in kernels.decisions({"lu": good, "adi": slow, "atax": late, "mvt": none})


def test_who_answers_late_is_given_up(peers, tmp_path):
    script = tmp_path / "sleeps.py"
    script.write_text("import time\ntime.sleep(60)\n")
    worker = peers.Worker(sys.executable, str(script), [], {})
    with pytest.raises(peers.Late, match="more than 0.1 s"):
        worker.ask(limit=0.1)
    worker.stop()
    busy = peers.Worker(sys.executable, "kernel_worker.py", ["lu", "tiny", "sequential", "1"], {})
    assert busy.ask()["ready"] and busy.ask(do="plainly")["seconds"] > 0
    with pytest.raises(peers.Late, match="set itself"):
        busy.ask(do="first", most=1e-3)
    busy.stop()


@pytest.mark.nightly
def test_the_tables_of_distributed_loops(tmp_path):
    pytest.importorskip("distributed")
    page = tmp_path / "page.md"
    names = ("distributed loops", "long distributed loop")
    page.write_text("".join(f"before\n<!-- {name} -->\nold\n<!-- /{name} -->\nafter\n" for name in names))
    run("distributed_loops.py", "--only", "logistic regression", "--update", str(page))
    run("distributed_loops.py", "--long", "50", "--update", str(page))
    text = page.read_text(encoding="utf-8")
    assert "old" not in text and re.search(r"^\| logistic regression \| 20 \| \d\S* ms \| \d\S* ms \|", text, re.M)
    assert re.search(r"^\| decorated \| 50 \|", text, re.M)


@pytest.mark.nightly
def test_the_table_of_gradients_on_workers(tmp_path):
    pytest.importorskip("distributed")
    page = tmp_path / "page.md"
    page.write_text("<!-- gradients on workers -->\nold\n<!-- /gradients on workers -->\n")
    run("gradients_on_workers.py", "--only", "element by element", "--turns", "1", "--update", str(page))
    assert re.search(r"^\|  \| checkpoints \| \d\S* ms \|", page.read_text(encoding="utf-8"), re.M)


@pytest.mark.nightly
def test_what_is_ours_against_libraries():
    text = run("own_parts.py", "factors", "sorting", "linking").stdout
    assert "system, n = 1024" in text and "lines of 8" in text and "memory of it" in text


def test_every_program_says_what_it_is(peers):
    for name in PROGRAMS:
        program = importlib.import_module(f"programs.{name}")
        assert program.__doc__ and program.CASES and hasattr(program, "numpy_")
        assert hasattr(program, "loop") or hasattr(program, "autoloop_")


def test_different_results_are_not_compared(peers, tmp_path):
    paths = {name: tmp_path / f"{name}.npz" for name in ("one", "two", "three")}
    np.savez(paths["one"], np.ones(3))
    np.savez(paths["two"], np.ones(3) + 1e-7)
    np.savez(paths["three"], np.array([1, 1, 2.0]))
    peers.compare("work", {k: paths[k] for k in ("one", "two")}, None)
    with pytest.raises(peers.Failed, match="result 0 of three is not that of one"):
        peers.compare("work", paths, None)


def test_the_table_shows_the_ratio_to_the_best_of_the_others(peers):
    row = peers.Measured("work", "ms", {"auto": 3.0, "native": 2.0, "JAX": 4.0, "NumPy": 8.0})
    assert peers.table([row]).splitlines()[-1] == "| work | 3 ms | 2 ms | 8 ms | 4 ms | 0.50 × JAX |"


def test_an_unknown_library_is_an_error(peers):
    with pytest.raises(SystemExit, match="LIBRARY=PYTHON"):
        peers.interpreters(["fortran=/usr/bin/python"])
