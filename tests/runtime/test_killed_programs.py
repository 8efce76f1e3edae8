"""Whole programs that are killed in the middle of loops, again and again, and are started again as they are."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal"),
]

#: it says when it begins with the call, and each time that it keeps a checkpoint: when it is killed is counted in
#: these, for how long a machine takes for the same is another time each time
PROGRAM = """
    import sys
    import numpy as np, autoloop as al
    {first}

    def keeps(event, given):
        if event == "os.rename" and given[1][-8:].isdecimal():
            print("keeps", flush=True)

    if __name__ == "__main__":
        x = {given}
        sys.addaudithook(keeps)
        with {around}:
            print("begins", flush=True)
            with al.keep_checkpoints(sys.argv[1], checkpoint_every={every}, resume=True):
                made = f(x)
            np.savez(sys.argv[2], *map(np.asarray, made))
"""
LOOP = """
@al.function
def f(x):
    i, before = 0, x + 1.0
    while i < {count}:
        x = x @ x * {part} + x * 0.25 + 1e-3 * before
        i += 1
    return x, i
"""
#: how often a program is killed, where it does not say
KILLS = 4
SMALL = "np.linspace(-1.0, 1.0, 10000).reshape(100, 100)"
PROCESSES = (
    'distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, '
    "distributed.Client(cluster)"
)
CLUSTER = 'distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")'
STATES = {
    "auto": {
        "first": LOOP.format(count=400, part="1e-3"), "given": "np.linspace(-1.0, 1.0, 90000).reshape(300, 300)",
        "around": 'al.config(executor="auto")', "every": 5,
    },
    "sequential": {
        "first": LOOP.format(count=3000, part="1e-3"), "given": SMALL, "around": 'al.config(executor="sequential")',
        "every": 20,
    },
    "dataflow": {
        "first": LOOP.format(count=2000, part="1e-3"), "given": SMALL, "around": 'al.config(executor="dataflow")',
        "every": 20,
    },
    "array_api_strict": {
        "first": "import array_api_strict\n" + LOOP.format(count=1000, part="1e-3"),
        "given": f"array_api_strict.asarray({SMALL})", "around": 'al.config(executor="dataflow")', "every": 10,
    },
    "dask": {
        "first": "import dask.array as da, distributed\n" + LOOP.format(count=60, part="1e-3"),
        "given": f"da.from_array({SMALL}, chunks=50)", "around": CLUSTER, "every": 5,
    },
    "dask, processes": {
        "first": "import dask.array as da, distributed\n" + LOOP.format(count=60, part="1e-3"),
        "given": f"da.from_array({SMALL}, chunks=50)", "around": PROCESSES, "every": 5, "kills": 2,
    },
}  # fmt: skip


def of_session(leader):
    """The processes of a session that are not over."""
    lines = subprocess.run(["ps", "-eo", "sid=,stat=,pid="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return [pid for session, stat, pid in rows if int(session) == leader and stat[0] != "Z"]


def all_end(leader):
    """Wait until no process of a session is left."""
    until = time.monotonic() + 60
    while (left := of_session(leader)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


@pytest.mark.parametrize("state", STATES)
def test_a_program_that_is_killed_at_any_moment_goes_on_to_the_same_numbers(state, tmp_path):
    if state.startswith("dask") or state == "array_api_strict":
        pytest.importorskip("array_api_compat")
        pytest.importorskip("distributed" if state.startswith("dask") else state)
    program, folder, passing = tmp_path / "program.py", tmp_path / "kept", tmp_path / "temporary"
    passing.mkdir()
    program.write_text(textwrap.dedent(PROGRAM).format(**STATES[state]))

    def begun(result):
        command = [sys.executable, str(program), str(folder), str(result)]
        environment = {**os.environ, "TMPDIR": str(passing)}
        options = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
        process = subprocess.Popen(command, env=environment, **options)
        assert process.stdout.readline() == "begins\n"
        return process

    with begun(tmp_path / "plain.npz") as process:
        begin = time.monotonic()
        kept = process.communicate(timeout=120)[0].count("keeps")
        assert process.returncode == 0
    between = (time.monotonic() - begin) / kept
    chance, went_on, kills = random.Random(state), 0, STATES[state].get("kills", KILLS)
    for left in reversed(range(kills + 1)):
        with begun(tmp_path / "again.npz") as process:
            for _ in range(chance.randint(0, kept // kills) if left else 0):
                process.stdout.readline()
            try:
                assert process.wait(chance.uniform(0, 2) * between if left else 120) == 0
                break
            except subprocess.TimeoutExpired:
                process.kill()
        all_end(process.pid)
        went_on += any(name.isdecimal() for _, folders, _ in os.walk(folder) for name in folders)
    all_end(process.pid)
    with np.load(tmp_path / "plain.npz") as plain, np.load(tmp_path / "again.npz") as again:
        assert plain.files == again.files
        for name in plain.files:
            if state == "auto":  # what runs it, and so its last bits, is a matter of how long things take
                np.testing.assert_allclose(again[name], plain[name], rtol=1e-11, atol=1e-14)
            else:
                np.testing.assert_array_equal(again[name], plain[name])
    assert [name for _, *names in os.walk(folder) for those in names for name in those] == []
    assert {*os.listdir(passing)} <= {"dask-scratch-space"}  # which Dask clears when it is next there
    assert went_on
