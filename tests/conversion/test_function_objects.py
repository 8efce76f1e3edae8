"""Finding source, and what the converted function keeps of the original."""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
import textwrap
import traceback
import warnings

import pytest
from autoloop.conversion.pipeline import convert, do_not_convert, to_code


def documented(a, b: int = 2, *, c: str = "x") -> tuple:
    """Say what it is."""
    while a < b:
        a += 1
    return a, b, c


def test_keeps_name_signature_defaults_and_doc():
    converted = convert(documented)
    assert converted is not documented
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__"):
        assert getattr(converted, name) == getattr(documented, name)
    assert inspect.signature(converted) == inspect.signature(documented)
    assert converted.__annotations__ is documented.__annotations__
    assert converted.__globals__ is documented.__globals__


def test_converted_once():
    assert convert(documented) is convert(documented)
    assert convert(convert(documented)) is convert(documented)


def test_shares_cells():
    count = 0

    def bump():
        nonlocal count
        while count < 3:
            count += 1

    convert(bump)()
    assert count == 3


def test_several_lambdas_on_one_line():
    one, two, three = lambda x: x + 1 if x else 0, lambda x: x + 2 if x else 0, lambda y: lambda x: x + y if x else y
    assert [convert(f)(5) for f in (one, two)] == [6, 7]
    assert convert(three)(1)(3) == 4
    assert "x + 2" in to_code(two) and "x + 1" not in to_code(two)


class Base:
    def __init__(self, n):
        self.n = n

    def run(self, k):
        while self.n < k:
            self.n += 1
        return self.n

    def __call__(self, k):
        return -self.run(k)


def test_bound_methods_stay_bound_and_objects_are_called():
    instance = Base(1)
    method = convert(instance.run)
    assert method.__self__ is instance
    assert method(4) == 4
    assert convert(instance)(6) == -6
    assert convert(functools.partial(Base.run, Base(0)))(2) == 2


def test_functions_from_text_are_found_through_linecache():
    text = "def made(n):\n    i = 0\n    while i < n:\n        i += 2\n    return i\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(True), "<cell 7>")
    namespace: dict[str, object] = {}
    exec(compile(text, "<cell 7>", "exec"), namespace)
    assert convert(namespace["made"])(3) == 4
    assert "while_stmt" in to_code(namespace["made"])


LAYOUTS = {
    "a string that reaches into the margin": """
        def f(n):
            while n < 3:
                n += 1
            return n, '''
no def f here
# nor a comment'''
        """,
    "a docstring alone": """
        def f(n):
            '''One.
def g(n): is not the next function
            '''
        """,
    "a signature that closes at the margin": """
        @mark
        def f(
            n,
        ) -> int:
            return n if n else 1
        """,
    "comments at the margin": """
        def f(n):
            if n:
        # here
                n += 1
    # and here
            return n
        # behind it
        """,
    "one line": "def f(n): return n and 2",
    "a line that goes on": """
        def f(n):
            return n + \\
        1
        """,
}


@pytest.mark.parametrize("nested", (False, True))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions_are_found_in_any_layout(layout, nested, tmp_path):
    text = textwrap.dedent(LAYOUTS[layout]).strip()
    below = "def g(n):\n    return -1\n"
    if nested:
        text = "if True:\n" + "\n".join(f"    {line}" for line in (text + "\n" + below).splitlines())
    path = tmp_path / "layout.py"
    path.write_text(f"\n\n{text}\n{'' if nested else below}")
    namespace = {"mark": lambda f: f}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    f = namespace["f"]
    converted = convert(f)
    assert converted.__code__.co_filename == str(path) and converted.__code__ is not f.__code__
    assert (converted(0), converted(1)) == (f(0), f(1))
    assert "-1" not in to_code(f)


def test_no_source_warns_once_and_runs():
    namespace: dict[str, object] = {}
    exec("def hidden(n):\n    return n + 1\n", namespace)
    with pytest.warns(UserWarning, match="no source"):
        assert convert(namespace["hidden"])(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert convert(namespace["hidden"])(1) == 2


def test_same_text_in_two_files_keeps_both_names(tmp_path):
    text = "def twin(n):\n    while n < 3:\n        n += 1\n    raise ValueError(n)\n"
    names = []
    for name in ("one.py", "two.py"):
        path = tmp_path / name
        path.write_text(text)
        namespace: dict[str, object] = {}
        exec(compile(text, str(path), "exec"), namespace)
        with pytest.raises(ValueError) as caught:
            convert(namespace["twin"])(0)
        names.append(traceback.extract_tb(caught.value.__traceback__)[-1].filename)
    assert names == [str(tmp_path / "one.py"), str(tmp_path / "two.py")]


def failing(n):
    for i in range(n):
        if i == 2:
            raise KeyError(i)
    return n


def test_traceback_ends_at_the_users_line():
    with pytest.raises(KeyError) as caught:
        convert(failing)(5)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (__file__, "failing", "raise KeyError(i)")


def test_lines_run_are_the_users_lines():
    seen = set()

    def tracer(frame, event, _):
        if frame.f_code.co_filename == __file__ and event == "line":
            seen.add(frame.f_lineno)
        return tracer

    f = convert(failing)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        f(2)
    finally:
        sys.settrace(before)
    first = failing.__code__.co_firstlineno
    assert {line - first for line in seen if first <= line <= first + 5} >= {1, 2, 4}
    assert first + 3 not in seen


def test_do_not_convert():
    @do_not_convert
    def plain(n):
        return n

    assert convert(plain) is plain


def test_library_functions_are_left_alone():
    def uses(n):
        return functools.reduce(lambda a, b: a + b, range(n)), inspect.isfunction(uses)

    assert convert(uses)(4) == (6, True)


def test_from_future_annotations_are_kept():
    assert convert(documented).__annotations__ == {"b": "int", "c": "str", "return": "tuple"}


def test_closure_functions_convert_separately():
    def make(k):
        def inner(n):
            while n < k:
                n += 1
            return n

        return inner

    a, b = make(3), make(7)
    assert (convert(a)(0), convert(b)(0)) == (3, 7)
    assert convert(a).__code__ is convert(b).__code__
