"""A test that never asserts anything fails.

What counts: an ``assert`` that held, in a test or in a module of ``tests``, a function of ``numpy.testing``,
``pytest.raises`` and ``pytest.warns``. A test that returns before all of them, or whose loop over cases had none,
passes whatever the code does; so it fails here. *What* was asserted this cannot tell.

Where pytest rewrites an assertion, a call is put behind it that says that it held. Pytest's own hook for that makes
text of each assertion, and code that is half as much again.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.assertion import rewrite

_CALLED = "_autoloop_tests_held"

#: the test that is running has reached an assertion
reached = False


def pytest_configure(config: pytest.Config) -> None:
    tests = config.rootpath / "tests"
    _forget_silent_modules(tests)
    pytest.register_assert_rewrite(*[p.stem for p in tests.rglob("*.py") if _checks(p.stem)])
    _leave_alone("hypothesis", config)
    setattr(rewrite, _CALLED, _held)
    rewriter = rewrite.AssertionRewriter
    setattr(rewriter, "visit_Assert", _telling(rewriter.visit_Assert, str(config.rootpath)))
    setattr(rewrite, "traverse_node", lambda statement: ())  # what is found in them has its place from `_place`
    pytest.raises, pytest.warns = _counted(pytest.raises), _counted(pytest.warns)
    for name in dir(np.testing):
        if name.startswith("assert_"):
            setattr(np.testing, name, _counted(getattr(np.testing, name)))


def _leave_alone(package: str, config: pytest.Config) -> None:
    """Import a package whose plugin pytest loads as it is: to rewrite its hundred modules takes longer than theirs."""
    hook = config.stash[rewrite.assertstate_key].hook
    if hook is not None:
        hook._must_rewrite.discard(package)


def _checks(module: str) -> bool:
    """True for helpers of tests, and not for the programs they run, whose assertions are what is tested."""
    return not module.startswith("test_") and not module.endswith("programs") and module not in ("conftest", __name__)


def _forget_silent_modules(tests: Path) -> None:
    """Remove what pytest compiled without us: it would take it for up to date."""
    for compiled in tests.rglob("__pycache__/*-pytest-*.pyc"):
        code = compiled.read_bytes()
        if b"AssertionError" in code and _CALLED.encode() not in code:
            compiled.unlink(missing_ok=True)


def _telling(
    visit: Callable[[Any, ast.Assert], list[ast.stmt]], root: str
) -> Callable[[Any, ast.Assert], list[ast.stmt]]:
    """The rewriting of an assertion, and a call when it has held.

    Plugins have assertions rewritten, too: theirs stay as they are, for what is compiled of them is there for all who
    run pytest.
    """

    def visit_and_tell(self: Any, assertion: ast.Assert) -> list[ast.stmt]:
        path = self.module_path or ""
        statements = visit(self, assertion)
        if path.startswith(root) and "site-packages" not in path:
            statements = [*statements, ast.Expr(self.helper(_CALLED))]
        _place(statements, assertion)
        return statements

    return visit_and_tell


def _place(statements: list[ast.stmt], assertion: ast.Assert) -> None:
    """Say of all nodes that have no place that they stand where the assertion does.

    So does pytest, in twice the time: half of what it takes to rewrite an assertion.
    """
    place = {name: getattr(assertion, name) for name in assertion._attributes}
    found: list[ast.AST] = [*statements]
    for node in found:
        held = node.__dict__
        for child in held.values():
            if type(child) is list:
                found += [one for one in child if isinstance(one, ast.AST)]
            elif isinstance(child, ast.AST):
                found.append(child)
        if held.get("lineno") is None and node._attributes:
            held.update(place)


def _held() -> None:
    global reached
    reached = True


def _counted(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def counted(*args: Any, **kwargs: Any) -> Any:
        global reached
        __tracebackhide__ = True
        reached = True
        return f(*args, **kwargs)

    return counted


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    global reached
    reached = False  # what a fixture asserts is not the test's
    result = yield
    if not reached:
        pytest.fail("the test has reached no assertion, so it cannot fail", pytrace=False)
    return result
