"""Machine code to be read: of which line of the source an instruction is, and what LLVM says of vectors there."""

from __future__ import annotations

import re

import autoloop as al
import numpy as np
import pytest
from api import compiling, debug_lines, write_function
from autoloop.viewing.stage_texts import machine_code
from executors import needs_native

X = np.linspace(0.0, 1.0, 64)


def stepped(x, n):
    for i in range(n):
        x = np.sin(x) * 0.5
        x[0] = np.sort(x)[3] + i
    return x


def many(x, n):
    for _ in range(n):
        for k in range(60):
            x = np.tanh(x) + x[::-1] * k
    return x


def listed(x, n):
    found = []
    for i in range(n):
        found.append(x * i)
    return np.stack(found)


def checked(x, n):
    assert n > 0, "bad"
    return np.linalg.inv(np.eye(3) * x[n]), np.einsum("i,j->ij", x, x).sum(axis=0)


def graph_of(f):
    return al.function(f).get_concrete_function(X.copy(), np.int64(3)).runner.graph


@needs_native
@pytest.mark.parametrize("f", [stepped, *[pytest.param(f, marks=pytest.mark.nightly) for f in (many, listed, checked)]])
def test_that_lines_are_known_changes_no_instruction(f):
    graph = graph_of(f)
    shapes = [t.shape.as_tuple() for t in graph.inputs]
    plain = write_function(graph, shapes, compiling.host().features).ir
    marked = write_function(graph, shapes, compiling.host().features, line_of=lambda node: node.location[-1].lineno).ir
    assert "; @" not in plain and "; @" in marked
    told = debug_lines.with_debug_lines(marked)
    assert "; @" not in told and re.sub(r"(, | )!dbg !\d+", "", told).startswith(plain)
    texts = [debug_lines.located_assembly(compiling.text_of_code(ir, True)) for ir in (plain, told)]
    assert texts[0][0] == texts[1][0] and not any(texts[0][1])
    first = f.__code__.co_firstlineno
    assert {line - first for line in texts[1][1] if line} <= set(range(1, 6)) and any(texts[1][1])


@needs_native
def test_instructions_and_remarks_are_of_the_lines_they_come_from():
    text, places, remarks = machine_code(graph_of(stepped))
    rows = text.splitlines()
    assert len(rows) == len(places) and ".loc" not in text and ".cfi" not in text
    first = stepped.__code__.co_firstlineno
    lines = {place[-1].lineno - first for place in places if place}
    assert {2, 3} <= lines
    assert not any(row.startswith("\t.") for row, place in zip(rows, places) if place)
    assert all(place[-1].lineno - first in lines for place, _ in remarks if place)
    assert all("vector" in words or "interleav" in words for _, words in remarks)
    text, places, remarks = machine_code(graph_of(stepped), "llvm")
    assert len(text.splitlines()) == len(places) and "!dbg" not in text and "DILocation" not in text and not remarks
    assert any("call" in row for row, place in zip(text.split("\n"), places) if place)


@needs_native
def test_remarks_are_told_once_with_the_reason():
    said = (
        "remark: source:4:0: loop not vectorized\nremark: source:4:0: loop not vectorized: call\n"
        "remark: source:4:0: loop not vectorized: call\nremark: <unknown>:0:0: x\nwarning: y\n"
    )
    assert debug_lines.located_remarks(said) == [(4, "loop not vectorized: call"), (0, "x")]
