"""The simulated cluster computes what can be told without it, and its curves are those of the page."""

from __future__ import annotations

import importlib
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "benchmarks"


@pytest.fixture(scope="module")
def simulated():
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("simulated_cluster")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture
def nothing_else(simulated):
    """A cluster that costs nothing: only work takes time."""
    return simulated.Latencies(0.0, 0.0, 0.0, 0.0, 0.0, 1e30)


def even(simulated, kind, **others):
    return simulated.Loop(kind, **{"work": 1.0, "spread": 0.0, "late": 0.0} | others)


@pytest.mark.parametrize("kind", ["own", "neighbours", "sum"])
@pytest.mark.parametrize(("workers", "window"), [(1, 1), (2, 1), (7, 3), (16, 64)])
def test_work_alone(simulated, nothing_else, kind, workers, window):
    loop = even(simulated, kind)
    assert simulated.predicted(loop, workers, window, nothing_else) == pytest.approx(loop.chunks * loop.work)
    assert len(simulated.Cluster(loop, workers, window, nothing_else).run(20)) == 20


def test_the_scheduler_is_the_limit_of_many_short_tasks(simulated):
    takes = simulated.Latencies(0.0, 0.0, 0.0, 1e-3, 0.0, 1e30)
    loop = even(simulated, "own", work=1e-6)
    assert simulated.predicted(loop, 64, 8, takes) == pytest.approx(2 * 64 * 1e-3, rel=0.02)


def test_a_window_hides_the_way_to_the_client_and_back(simulated):
    takes = simulated.Latencies(0.0, 0.0, 0.1, 0.0, 0.0, 1e30)
    loop = even(simulated, "own", chunks=1)
    # to the scheduler, to the worker, and back
    assert simulated.predicted(loop, 4, 1, takes) == pytest.approx(1.4)
    assert simulated.predicted(loop, 4, 2, takes) < simulated.predicted(loop, 4, 1, takes)
    several = even(simulated, "own", chunks=4)
    assert simulated.predicted(several, 4, 2, takes) == pytest.approx(4.0, rel=0.01)


def test_a_window_lets_others_go_on_beside_what_is_late(simulated, nothing_else):
    loop = simulated.Loop("own", work=1.0, spread=0.2, late=0.05)
    one, many = (simulated.predicted(loop, 16, window, nothing_else) for window in (1, 16))
    assert many < 0.8 * one


def test_a_value_that_is_asked_for_leaves_nothing_to_the_window(simulated):
    takes = simulated.Latencies(0.01, 0.0, 0.1, 0.0, 0.0, 1e30)
    loop = even(simulated, "own", fetched=True)
    times = {simulated.predicted(loop, 4, window, takes) for window in (1, 8)}
    assert max(times) == pytest.approx(min(times))


def test_where_a_window_stops_helping(simulated):
    assert simulated.stops({1: 10.0, 2: 7.0, 4: 6.2, 8: 6.0, 16: 6.0}) == 4
    assert simulated.stops({1: 6.2, 2: 6.0}) == 1


def test_a_picture_of_curves(simulated):
    loop = even(simulated, "own")
    found = {4: {1: 3.0, 2: 2.2, 4: 2.0}, 1024: {1: 30.0, 2: 20.0, 4: 20.0}}
    text = simulated.drawn("a < b", loop, found)
    root = ET.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{name}polyline")) == len(root.findall(f"{name}circle")) == 2
    assert root.find(f"{name}title").text == "a < b" and "1,024 workers" in text
    for line in root.findall(f"{name}polyline"):
        for point in line.get("points").split():
            assert all(0 < float(part) < 620 for part in point.split(","))


@pytest.mark.nightly
def test_the_page_shows_what_is_computed(simulated):
    page = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
    found = {}
    for name, (title, loop) in simulated.CURVES.items():
        found[name] = simulated.swept(loop)
        assert (ROOT / "docs" / f"{name}.svg").read_text(encoding="utf-8") == simulated.drawn(title, loop, found[name])
    shown = re.search(r"<!-- windows -->\n\n(.*?)\n<!-- /windows -->", page, re.S)[1]
    assert shown == simulated.table(found)
