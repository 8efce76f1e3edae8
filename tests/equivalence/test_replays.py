"""The programs of the other suites, called again: plain and decorated, with what the tests give them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def differences(folder, *names):
    """Return how many calls were made again, and what the decorated functions did otherwise than the plain ones."""
    paths = [str(TESTS / one) for one in ("equivalence", "runtime")]
    path = os.pathsep.join([*paths, *[one for one in sys.path if one]])
    said = folder / "differences.txt"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "replays", "--replays", str(said),
         "-o", "addopts=-m 'not nightly'", *[str(TESTS / name) for name in names]],
        env={**os.environ, "PYTHONPATH": path}, cwd=TESTS.parent, capture_output=True, text=True, timeout=3000,
    )  # fmt: skip
    assert said.exists(), done.stdout + done.stderr
    *found, counts = said.read_text(encoding="utf-8").splitlines()
    return int(counts.split()[0]), "\n".join(found)


@needs_fork
@pytest.mark.nightly
def test_a_difference_is_found(tmp_path):
    """What plain Python and the decorator do not do alike stands in the report, with its place."""
    program = tmp_path / "test_programs.py"
    program.write_text(
        "import autoloop as al, numpy as np\n"
        "from autoloop.concrete import ConcreteFunction\n"
        "run = ConcreteFunction.run\n"
        "ConcreteFunction.run = lambda self, values, arrays=(): run(self, values, arrays) + 1\n"
        "def alike(x):\n    x[0] += 1\n"
        "def another(x):\n    return x.sum()\n"
        "def test():\n"
        "    assert al.function(alike)(np.ones(3)) is None\n"
        "    assert al.function(another)(np.ones(3)) == 4\n"
    )
    count, found = differences(tmp_path, program)
    assert count == 2 and "another under" in found and "alike" not in found


@needs_fork
@pytest.mark.nightly
@pytest.mark.parametrize("names", [["conversion"], ["equivalence"], ["numpy"], ["test_function.py", "test_explain.py"]])
def test_other_suites_again(names, tmp_path):
    count, found = differences(tmp_path, *names)
    assert count > 20 and not found, found
