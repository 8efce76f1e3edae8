"""Every sample runs as its user would run it, and says what it should."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
from api import why_not
from children import run_program

SAMPLES = Path(__file__).parent.parent / "samples"

#: what must stand in the output of each sample
EXPECTED = {
    "bouncing.py": ["10.4944 -7.2120       1       2.0000 m", "central differences      0.0846", "   agree"],
    "collatz.py": ["10,000   6,171      262        859,635", "results agree with plain Python"],
    "conjugate_gradients.py": [
        "2,284 weeks of CO2, 59 missing",
        "1964-03-07        -    321.51",
        "agrees with the direct",
    ],
    "fit_ode.py": [
        "central differences: agree",
        "loss 0.048064",
        "lynxes starve 0.796 a year, breed 0.0237 per hare",
        "1916   11.2    14.2",
    ],
    "inside_a_loop.py": [
        "v1, v2 = 14, 14; the last iteration",
        "(dead) NextIteration n: a dead token ends here, it begins no iteration 6",
        "Iteration 2 begins; iteration 0 is still under way.",
        "NextIteration i: 3 waits; 3 iterations are live, as many as parallel_iterations=3 allows",
    ],
    "kmeans.py": ["stood still after 4 rounds", "50          0          0", "agree with plain NumPy"],
    "load_profiles.py": [
        "8,000 days of 96 quarter hours, 6 MB in 8 chunks",
        "the days stayed where they were",
        "agrees with plain NumPy",
    ],
    "newton.py": ["2023.77          35.082 AU", "each function was traced 1 time"],
    "nonstrict.py": [
        "the counter alone: i = 40, x was updated 0 times",
        "counter ahead of x by",
        "the log with parallel_iterations=4",
    ],
    "pagerank.py": [
        "77 characters of Les Misérables, settled after 76 rounds",
        "1  Valjean      0.0996",
        "agrees with",
    ],
    "rnn_forward.py": ["309 years, 200 units", "2000  119.6    107.1", "agree with plain NumPy"],
    "tour.py": [
        "def loop_body(",
        "steps from 6: 8, 27: 111, 97: 118, 871: 178",
        "Valjean leads",
        "x is computed 0 times",
        "ValueError: loop variable 'rows' has shape (2, 2) on entry",
    ],
    "train_rnn.py": [
        "step 160 [####",
        "taking last year's number: 29.6",
        "central differences agree",
        "loss curve (blue",
    ],
    "viterbi.py": ["1871-1898  wet  mean flow 1098", "1899-1970  dry  mean flow 850", "agree with plain NumPy"],
}


#: what their users may say: for how many seconds the tour measures each function, how many days there are
ARGUMENTS = {"tour.py": ["0.05"], "load_profiles.py": ["8000"]}
#: those that start processes of their own, by what they need for it
LONG = {"load_profiles.py": "distributed"}


def test_no_sample_is_forgotten():
    assert {path.name for path in SAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in LONG else ()) for name in sorted(EXPECTED)]
)
def test_sample(name, tmp_path):
    if name in LONG:
        pytest.importorskip(LONG[name])
    # from another folder: samples find their data beside themselves
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    if why_not():
        environment["AUTOLOOP_NATIVE"] = "0"  # what runs for long would say that it is missing
    done = run_program(SAMPLES / name, tmp_path, environment, arguments=ARGUMENTS.get(name, ()))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for text in EXPECTED[name]:
        assert text in done.stdout, done.stdout


@pytest.mark.parametrize("name", LONG)
def test_a_sample_says_what_it_needs(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, LONG[name], None)
    runpy.run_path(str(SAMPLES / name), run_name="__main__")
    assert f"pip install 'autoloop[{LONG[name]}]'" in capsys.readouterr().out
