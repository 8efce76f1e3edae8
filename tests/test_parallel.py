"""``parallel.py``: which runs are on several processors."""

from __future__ import annotations

from types import SimpleNamespace

import parallel
import pytest

SOURCE = pytest.Config.ArgsSource
#: a plain ``python -m pytest``
PLAIN = {
    "numprocesses": None, "dist": "no", "tx": [], "distload": False, "markexpr": "not nightly", "keyword": "",
    "usepdb": False, "trace": False, "collectonly": False, "capture": "fd",
}  # fmt: skip


def chosen(monkeypatch, processors=3, source=SOURCE.TESTPATHS, worker=False, **changes):
    """The options after the hook."""
    monkeypatch.setattr(parallel, "_processors", lambda: processors)
    option = SimpleNamespace(**{name: value for name, value in {**PLAIN, **changes}.items() if value != "missing"})
    parallel.pytest_cmdline_main(
        SimpleNamespace(option=option, args_source=source, **{"workerinput": {}} if worker else {})
    )
    return getattr(option, "numprocesses", None), option.dist


@pytest.mark.parametrize("processors, processes", [(2, 2), (3, 3), (64, 4)])
@pytest.mark.parametrize("source", [SOURCE.TESTPATHS, SOURCE.INVOCATION_DIR])
def test_the_whole_suite_is_run_on_what_there_is(monkeypatch, processors, processes, source):
    assert chosen(monkeypatch, processors, source) == (processes, "worksteal")


@pytest.mark.parametrize(
    "how",
    [
        {"processors": 1}, {"source": SOURCE.ARGS}, {"worker": True}, {"numprocesses": 0}, {"numprocesses": "missing"},
        {"markexpr": "nightly"}, {"keyword": "some"}, {"usepdb": True}, {"trace": True}, {"collectonly": True},
        {"capture": "no"}, {"lf": True}, {"tx": ["popen"]}, {"distload": True},
    ],
    ids=str,
)  # fmt: skip
def test_what_somebody_chose_or_looks_at_stays_in_one(monkeypatch, how):
    assert chosen(monkeypatch, **how) == (
        how.get("numprocesses") if how.get("numprocesses") != "missing" else None,
        "no",
    )
