"""Programs that write in place to arguments of 100 MB need no more memory than under NumPy; each in its own process."""

import subprocess
import sys

import pytest
from executors import EXECUTORS

PROGRAM = """
import resource, sys
import numpy as np

def step(a, b, n):
    b[1:-1] = 0.5 * (a[:-2] + a[2:])
    i = 1
    while i < n:
        a[i] = b[i] + a[i - 1]
        i += 1
    a[: a.size // 2] += 1.0

executor = sys.argv[1]
function = step
if executor != "plain":
    import autoloop as al
    function = al.function(step, executor=executor)
    function(np.zeros(8), np.zeros(8), np.int64(3))
given = np.ones(12_500_000), np.ones(12_500_000), np.int64(5)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
function(*given)
function(*given)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before + 2 * given[0].nbytes // 1024, given[0][:6].tolist())
"""


def needed(executor, path):
    path.write_text(PROGRAM)
    found = subprocess.run([sys.executable, path, executor], capture_output=True, text=True, timeout=300)
    assert not found.returncode, found.stderr
    most, _, values = found.stdout.partition(" ")
    return int(most), values


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_program_on_100_mb_needs_what_numpy_needs(executor, tmp_path):
    (plain, expected), (ours, found) = [needed(one, tmp_path / "program.py") for one in ("plain", executor)]
    assert found == expected and ours <= 1.1 * plain, (executor, ours / plain)
