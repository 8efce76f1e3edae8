"""Machine code of several threads under ThreadSanitizer: nothing is read while another thread writes it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import sanitized_code
from api import host
from executors import needs_native

pytestmark = [needs_native, pytest.mark.nightly]


def found(folder, *changed):
    """What the sanitizer says of the program, which has run to its end."""
    version = host().version[0]
    library = sanitized_code.library()
    if library is None or platform.machine() != "x86_64" or not sanitized_code.tool("opt", version):
        pytest.skip(f"needs libtsan, and opt and llc of LLVM {version} on the path, or in the folder LLVM_TOOLS")
    told = "halt_on_error=0 exitcode=0 history_size=4"
    environment = {
        **os.environ, "LD_PRELOAD": library, "TSAN_OPTIONS": f"{told} log_path={folder / 'said'}",
        "OPENBLAS_NUM_THREADS": "1", "AUTOLOOP_CACHE": "0",
    }  # fmt: skip
    program = [sys.executable, str(Path(sanitized_code.__file__)), *changed]
    done = subprocess.run(["setarch", "-R", *program], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and int(done.stdout.split()[2]) > 100, done.stderr
    return "".join([path.read_text() for path in folder.glob("said*")])


def test_nothing_is_read_while_another_thread_writes_it(tmp_path):
    assert found(tmp_path) == ""


@pytest.mark.parametrize(
    "changed",
    [
        ("atomicrmw add ptr @finished, i64 %done seq_cst", "atomicrmw add ptr @finished, i64 %done monotonic"),
        ("store atomic i64 0, ptr %m release", "store atomic i64 0, ptr %m monotonic"),
    ],
    ids=["helpers", "core"],
)
def test_where_a_store_does_not_release_it_is_found(tmp_path, changed):
    """What that is worth."""
    assert "data race" in found(tmp_path, *changed)
