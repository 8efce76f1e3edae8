"""Machine code that ThreadSanitizer watches: LLVM's pass over each module, and its library in the process.

A program: it runs the threads that help with loops and the core that moves tokens, and says how many modules were
watched. What the sanitizer finds goes where ``TSAN_OPTIONS`` says. With two arguments one piece of IR is another.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

#: where the tools of LLVM are, if not on the path
FOLDER = os.environ.get("LLVM_TOOLS", "")
#: what gcc's library has under another name
NAMES = {f"__tsan_{name}": name for name in ("memcpy", "memmove", "memset")}


def tool(name: str, version: int) -> str | None:
    """The path of a tool of LLVM's, of the version that llvmlite has."""
    return shutil.which(name, path=FOLDER) if FOLDER else shutil.which(f"{name}-{version}")


def library() -> str | None:
    """The sanitizer's library, which has to be loaded before all else."""
    found = sorted(Path("/usr/lib").glob("*-linux-gnu/libtsan.so.*"))
    return str(found[0]) if found else None


def marked(ir: str) -> str:
    """IR whose functions are to be watched."""
    behind = re.compile(r"(?<=\))(?= (?:align|section|personality|!dbg)\b| [^()]*\{$|\s*\{$)")
    lines = ir.split("\n")
    return "\n".join([behind.sub(" nounwind sanitize_thread", one, count=1) if one.startswith("define ") else one
                      for one in lines])  # fmt: skip


def watched(ir: str, as_written: bool) -> bytes:
    """The object file of a module, as ``compile_ir`` wants it."""
    host = api.compiling.host()
    cpu = [f"-mcpu={host.cpu}", f"-mattr={host.flags}"]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def run(name: str, data: bytes, *options: str) -> bytes:
        path = tool(name, host.version[0])
        assert path is not None
        return subprocess.run([path, *options, *cpu], input=data, stdout=-1, check=True, env=environment).stdout

    passes = "function(tsan)" if as_written else "default<O2>,function(tsan)"
    text = marked(f'target triple = "{host.triple}"\n{ir}'.replace(*CHANGED))
    made = run("opt", text.encode(), f"-passes={passes}", "-S")
    calls.append(made.count(b"call void @__tsan"))
    return run("llc", made, "-O2", "-filetype=obj", "-code-model=large", "-relocation-model=static")


calls: list[int] = []
CHANGED = sys.argv[1:3] if __name__ == "__main__" and len(sys.argv) == 3 else ["\0", "\0"]


def main() -> None:
    address = api.compiling.c_address
    api.compiling._compiled = watched
    api.compiling.c_address = lambda name: address(NAMES.get(name, name))
    al.config.set_num_threads(3)

    def smooth(x, n):
        i = 0
        while i < n:
            x = np.sin(x) * 0.5 + x * 0.25
            i += 1
        return x

    x = np.linspace(0, 1, 200_000)
    np.testing.assert_allclose(al.function(smooth, executor="native")(x, 20), smooth(x, 20), rtol=1e-12)
    for program in token_core.PROGRAMS:
        lowered, feeds = token_core.lowered_of(program, 3)
        tables = token_core.tables_of(lowered, 4)
        for _ in range(5):
            run = api.CoreRun(tables, api.core_code.entered(api.core_workers.core), 3)
            assert run.run(token_core.given(lowered, feeds)) is not None
        ended(tables, token_core.given(lowered, feeds))
    nest()
    print(len(calls), "modules", sum(calls), "calls")


def ended(tables, args) -> None:
    """Runs whose time is over somewhere, and those that go on with their memory."""
    for k in range(5):
        end = time.monotonic() + 1e-4 * k * k
        unwanted = api.Until(lambda end=end: time.monotonic() > end, end)
        run = api.CoreRun(tables, api.core_code.entered(api.core_workers.core), 3, unwanted)
        if run.run(args) is not None:
            api.core_runs.keep_memory(run)


def nest() -> None:
    """Loops in a loop of products and functions, as programs have them, and two chains without a limit to memory and
    with one."""
    with pytest.MonkeyPatch.context() as patch:
        make_at_once(patch)
        runs, run = [], api.CoreRun.run
        patch.setattr(api.CoreRun, "run", lambda self, args: runs.append(run(self, args)) or runs[-1])
        f = al.function(inner_frames.side_by_side, executor="dataflow", autograph=False)
        for _ in range(8):
            f(inner_frames.A, inner_frames.B, al.constant(3))
        g = al.function(inner_frames.chains, executor="dataflow", autograph=False)
        for limit in (None, 1 << 30):
            al.config.set_memory_limit(limit)
            before = len(runs)
            for _ in range(8):
                g(inner_frames.A, inner_frames.B, al.constant(7))
            assert len(runs) > before and None not in runs
        al.config.set_memory_limit(None)
        stopped()


def stopped() -> None:
    """The same until its time is over."""
    graph = tf.Graph()
    with graph.as_default():
        n = tf.placeholder(al.int32, ())
        made = inner_frames.side_by_side(al.constant(inner_frames.A), al.constant(inner_frames.B), n)
    session = tf.Session(graph=graph)
    for _ in range(5):
        session.run(made, {n: 3})
    for _ in range(3):
        with pytest.raises(TimeoutError):
            session.run(made, {n: 10**8}, timeout=0.05)


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
    import api
    import autoloop as al
    import autoloop.compat.v1 as tf
    import numpy as np
    import pytest
    import test_inner_frames as inner_frames
    import test_token_core as token_core
    from executors import make_at_once

    main()
