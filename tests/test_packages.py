"""What is packed: all that runs and nothing else, with one version; what was built runs alone and leaves no file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import autoloop as al
import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: endings of what packages hold, the page of messages aside
ENDINGS = {".py", ".typed", ".ll", ".js", ".css", ".md"}
#: bytes: half as much again as there is, so that a build folder or a picture is noticed
MOST_WHEEL, MOST_SOURCES = 3_200_000, 4_500_000
DATA = ("autoloop/py.typed", "autoloop_runtime/py.typed", "autoloop/viewing/report/page.js",
        "autoloop/viewing/report/page.css", "autoloop_runtime/native/kernels/stacks.ll")  # fmt: skip


def test_there_is_one_version():
    assert "version" in PROJECT["project"]["dynamic"] and "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "autoloop/__init__.py"
    text = (ROOT / "autoloop" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', text, re.M) == [al.__version__]
    assert f"\nversion: {al.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == "Unreleased" and headings[1].split()[0] == al.__version__


def test_packages_hold_what_runs():
    """What a wheel takes: whole folders, less what Git ignores."""
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    found = [path for package in packages for path in (ROOT / package).rglob("*") if path.is_file()]
    packed = [path for path in found if "__pycache__" not in path.parts]
    assert {path.suffix for path in packed} <= ENDINGS
    assert not [path for path in packed if {"tests", "tools", "node_modules"} & set(path.relative_to(ROOT).parts)]
    names = {path.relative_to(ROOT).as_posix().removeprefix("runtime/") for path in packed}
    assert names.issuperset(DATA)
    assert sum(path.stat().st_size for path in packed) < 5 * MOST_WHEEL


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of what is built from a clean clone."""
    pytest.importorskip("build")
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no clone of this folder can be made")
    clone, folder = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("dist")
    _ran("git", "clone", "-q", ROOT, clone)
    _ran(sys.executable, "-m", "build", "-o", folder, clone)  # the wheel is made of the sources that were packed
    assert _ran("git", "-C", clone, "status", "--porcelain") == ""
    return folder


def _ran(*command, cwd=None, **environment):
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AUTOLOOP_", "PIP_U"))}
    ran = subprocess.run(command, env=outer | environment, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return ran.stdout


@pytest.mark.nightly
def test_a_wheel_holds_what_runs_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"autoloop-{al.__version__}-py3-none-any.whl" and wheel.stat().st_size < MOST_WHEEL
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        entry = file.read(f"autoloop-{al.__version__}.dist-info/entry_points.txt").decode()
        told = file.read(f"autoloop-{al.__version__}.dist-info/METADATA").decode()
    tops = Counter(name.split("/")[0] for name in names)
    assert tops.keys() == {"autoloop", "autoloop_runtime", f"autoloop-{al.__version__}.dist-info"}
    assert {Path(name).suffix for name in names if ".dist-info/" not in name} <= ENDINGS
    assert set(names).issuperset(DATA) and not [name for name in names if "__pycache__" in name or "test_" in name]
    assert entry.split() == ["[console_scripts]", "autoloop", "=", "autoloop.cli:main"]
    assert "Requires-Python: >=3.11" in told and "Provides-Extra: native" in told
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.nightly
def test_sources_hold_what_builds_and_tests_them(built):
    (sources,) = built.glob("*.tar.gz")
    assert sources.stat().st_size < MOST_SOURCES
    with tarfile.open(sources) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    for name in ("pyproject.toml", ".hatch/compile.py", "LICENSE", "CITATION.cff", "tests/conftest.py",
                 "samples/tour.py", "docs/adding-an-op.md", "runtime/autoloop_runtime/py.typed"):  # fmt: skip
        assert name in names, name
    assert not [name for name in names if {"__pycache__", "node_modules", ".git"} & set(name.split("/"))]


@pytest.mark.nightly
def test_a_wheel_runs_alone_and_leaves_no_file(built, tmp_path):
    _ran(sys.executable, "-m", "venv", tmp_path / "alone")
    scripts = tmp_path / "alone" / ("Scripts" if os.name == "nt" else "bin")
    before = {path for path in (tmp_path / "alone").rglob("autoloop*")}
    (wheel,) = built.glob("*.whl")
    _ran(scripts / "python", "-m", "pip", "install", "-q", wheel)
    shutil.copytree(ROOT / "samples", tmp_path / "samples", ignore=shutil.ignore_patterns("__pycache__"))
    kept = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "LOCALAPPDATA": str(tmp_path / "cache")}
    asked = "import autoloop, os; print(autoloop.__file__)"
    assert _ran(scripts / "python", "-c", asked, cwd=tmp_path, **kept).startswith(str(tmp_path / "alone"))
    assert _ran(scripts / "python", "samples/tour.py", cwd=tmp_path, **kept)
    for command in ([scripts / "autoloop"], [scripts / "python", "-m", "autoloop"]):
        assert _ran(*command, "--version", cwd=tmp_path, **kept) == f"autoloop {al.__version__}\n"
        assert "usage: autoloop" in _ran(*command, "--help", cwd=tmp_path, **kept)
    _ran(scripts / "python", "-m", "pip", "uninstall", "-q", "-y", "autoloop")
    assert {path for path in (tmp_path / "alone").rglob("autoloop*")} == before
    # what is left is the user's cache, of which docs/environment.md says where it is and how to clear it
    left = {path.parent.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert left <= {"autoloop", "conversions", "modules", "native", "machine-code", "code"}, left
