"""``assertions.py``: a test that reaches no assertion fails, whatever kept it from one."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import assertions
import pytest
from _pytest.assertion import rewrite

SUITE = """
import numpy as np, pytest
from checking import check
from some_programs import program
from hypothesis import given, settings, strategies as st

@pytest.fixture
def careful():
    assert True

class Wrong(Exception):
    pass

def test_good_assert():
    assert 1 + 1 == 2
def test_good_fixture_and_assert(careful):
    assert True
def test_good_helper():
    check(True)
def test_bad_program():
    program(True)  # its assertion is a part of what is tested
def test_good_numpy():
    np.testing.assert_allclose(1.0, 1.0)
def test_good_raises():
    with pytest.raises(Wrong):
        raise Wrong
def test_good_warns():
    with pytest.warns(UserWarning):
        __import__("warnings").warn("so")
@settings(max_examples=3, database=None)
@given(st.booleans())
def test_good_drawn(x):
    assert x in (True, False)

def test_bad_nothing():
    pass
def test_bad_fixture_only(careful):
    pass
@pytest.mark.parametrize("case", [1, 2])
def test_early(case):
    if case == 1:
        return
    assert case == 2
def test_bad_loop_over_no_cases():
    for case in []:
        assert case
def test_bad_swallows():
    try:
        int("x")
    except ValueError:
        return
    assert False
@settings(max_examples=3, database=None)
@given(st.booleans())
def test_bad_drawn(x):
    pass

def test_skipped():
    pytest.skip("not here")
@pytest.mark.xfail(strict=True)
def test_expected():
    check(False)
"""


def test_only_tests_that_assert_pass(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "checking.py").write_text("def check(x):\n    assert x\n")
    (tests / "some_programs.py").write_text("def program(x):\n    assert x\n")
    (tests / "test_some.py").write_text(SUITE)
    command = [
        sys.executable, "-m", "pytest", "-p", "assertions", "-p", "no:cacheprovider", "-rA", "-q", "--tb=line",
        "--rootdir", str(tmp_path), str(tmp_path),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=100)
    found = {name: outcome for outcome, name in re.findall(r"^([A-Z]+) .*::test_(\S+)", done.stdout, re.M)}
    good, bad = ([name for name in names if name.startswith(how)] for names, how in ((found, "good"), (found, "bad")))
    assert len(good) == 7 and {found[name] for name in good} == {"PASSED"}, done.stdout
    assert len(bad) == 6 and {found[name] for name in bad} == {"FAILED"}, done.stdout
    assert (found["early[1]"], found["early[2]"], found["expected"]) == ("FAILED", "PASSED", "XFAIL")
    assert "1 skipped" in done.stdout and done.stdout.count("reached no assertion, so it cannot fail") >= 7


@pytest.mark.parametrize(
    "path, is_ours",
    [
        ("tests/test_some.py", True),
        (".venv/lib/site-packages/plugin.py", False),
        ("/lib/site-packages/plugin.py", False),
    ],
)
def test_what_is_compiled_of_plugins_is_as_without_us(pytestconfig, path, is_ours):
    source = b"assert x"
    tree = ast.parse(source)
    rewrite.rewrite_asserts(tree, source, str(pytestconfig.rootpath / path))
    assert (assertions._CALLED in ast.dump(tree)) == is_ours
