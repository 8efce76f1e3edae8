"""LLVM: from IR to an object file. A module, and a program that does the same for another process.

LLVM takes some 90 MB and keeps them, so ``process`` starts this file by its path in an interpreter of its own, which
ends when nothing was asked for a while. It imports nothing of this package.

The program reads requests, one JSON object per line: ``{"greet": folder}``, once, to which it says what interpreter it
is; ``folder`` is where llvmlite lies, and comes behind all that the interpreter has itself. Then ``{"describe": true}``
or ``{"ir": ..., "machine": ..., "level": ..., "as_written": ...}``, or the same with ``"text"``: the form that a person
is to read, and with ``"remarks"``, if the answer is to say what LLVM remarks on vectors; a process that was asked for
that remarks on all that it compiles. Each answer is a line of JSON, ``{"error": ...}``
or ``{"answer": ..., "size": n}``, and n bytes.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

#: seconds without a request after which the program ends
IDLE = 5.0
#: how LLVM optimises: its level, and what it does with loops
LEVEL, LOOPS = 3, ("loop_vectorization", "loop_interleaving", "loop_unrolling")
#: on x86 LLVM makes branches of choices that a loop waits for. Those of ``where``, ``minimum`` and their kin depend on
#: data, and to guess them wrong takes longer than to wait
_CHOICES = ("-x86-cmov-converter=0",) if platform.machine() in ("x86_64", "AMD64") else ()
#: LLVM writes out all turns of a loop if that makes no more than 300 operations, and for some processors many turns of
#: any loop, up to 512. Of loops in loops that took more time than all else, and they ran no faster for it
_COPIES = ("-unroll-threshold=150", "-unroll-partial-threshold=64")
#: options of a whole process, for the program below
PROCESS = (*_CHOICES, *_COPIES)


def identity() -> list[Any]:
    """Return what two runs of one interpreter have in common, and no other program says."""
    return [sys.implementation.name, sys.version, sys.maxsize]


@lru_cache(maxsize=1)
def _binding() -> Any:
    """Return llvmlite, made ready for this machine (``ImportError`` without it)."""
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def describe() -> dict[str, Any]:
    """Return the machine as LLVM describes it: ``triple``, ``cpu``, ``flags`` (a string), ``features``; LLVM's
    ``version``.

    ``binding`` is the version of llvmlite.
    """
    binding = _binding()
    found = binding.get_host_cpu_features()
    return {
        "triple": binding.get_process_triple(),
        "cpu": binding.get_host_cpu_name(),
        "flags": found.flatten(),
        "features": sorted(name for name, there in found.items() if there),
        "version": list(binding.llvm_version_info),
        "binding": str(getattr(sys.modules["llvmlite"], "__version__", "")),
    }


def target_machine(machine: dict[str, Any], level: int) -> Any:
    """Return LLVM's own description of a machine that ``describe`` gave."""
    target = _binding().Target.from_triple(machine["triple"])
    return target.create_target_machine(cpu=machine["cpu"], features=machine["flags"], opt=level, jit=True)


def _optimise(module: Any, target: Any, level: int) -> None:
    """Run the passes of ``level`` over a module."""
    binding = _binding()
    options = binding.create_pipeline_tuning_options(speed_level=level)
    for name in LOOPS:
        setattr(options, name, True)
    builder = binding.create_pass_builder(target, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    # llvmlite forgets to free this one
    binding.NewPassManager._dispose(passes)
    passes.detach()


def _parsed(ir: str, machine: dict[str, Any], target: Any) -> Any:
    """Return a module of IR."""
    binding = _binding()
    head = f'target triple = "{machine["triple"]}"\ntarget datalayout = "{target.target_data}"\n'
    # in a context of its own: what LLVM remembers of a module it would otherwise remember for ever
    module = binding.parse_assembly(head + ir, binding.create_context())
    module.verify()
    return module


def to_object(ir: str, machine: dict[str, Any], level: int, as_written: bool = False) -> bytes:
    """Return the object file of a module of IR, optimised as ``level`` says; ``as_written``: its IR stays as it is."""
    target = target_machine(machine, level)
    module = _parsed(ir, machine, target)
    if not as_written:
        _optimise(module, target, level)
    image: bytes = target.emit_object(module)
    return image


def to_text(ir: str, machine: dict[str, Any], level: int, form: str) -> str:
    """Return a module of IR for a person to read, optimised as ``level`` says: as ``"llvm"``, or ``"asm"``."""
    target = target_machine(machine, level)
    module = _parsed(ir, machine, target)
    _optimise(module, target, level)
    return str(target.emit_assembly(module)) if form == "asm" else str(module)


def _remarking(read: Callable[[], str]) -> tuple[str, str]:
    """Return what ``read`` gives, and what LLVM remarks on vectors meanwhile; it prints that."""
    for option in ("-pass-remarks", "-pass-remarks-missed", "-pass-remarks-analysis"):
        _binding().set_option("", f"{option}=loop-vectorize|slp-vectorizer")
    before = os.dup(2)
    with importlib.import_module("tempfile").TemporaryFile() as said:  # seldom, and it takes long to load
        os.dup2(said.fileno(), 2)
        try:
            text = read()
        finally:
            os.dup2(before, 2)
            os.close(before)
        said.seek(0)
        return text, said.read().decode(errors="replace")


def link_in_process(image: bytes, addresses: dict[str, int], name: str, machine: dict[str, Any]) -> tuple[Any, int]:
    """Return LLVM's own loader: what keeps the code alive, and the address of the function ``name``."""
    binding = _binding()
    for symbol, address in addresses.items():
        binding.add_symbol(symbol, address)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target_machine(machine, LEVEL))
    engine.add_object_file(binding.ObjectFileRef.from_data(image))
    engine.finalize_object()
    return engine, engine.get_function_address(name)


def answer(request: dict[str, Any]) -> tuple[Any, bytes]:
    """Return the answer to a request, and the bytes that come with it."""
    if "describe" in request:
        return describe(), b""
    given = request["ir"], request["machine"], request["level"]
    if "text" in request:
        read = partial(to_text, *given, request["text"])
        text, remarks = _remarking(read) if request.get("remarks") else (read(), None)
        return remarks, text.encode()
    return None, to_object(*given, request.get("as_written", False))


def _greeted(folder: str | None) -> list[Any]:
    """Return the answer to the first request."""
    if folder is not None:
        sys.path.append(folder)
    with contextlib.suppress(ImportError):
        for option in PROCESS:
            _binding().set_option("", option)
    return identity()


def main() -> None:
    """Answer requests until there are none."""
    # what a module prints is no answer
    with open(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        while select.select([sys.stdin], [], [], IDLE)[0]:
            line = sys.stdin.buffer.readline()
            if not line:
                return
            data = b""
            try:
                request = json.loads(line)
                value, data = (_greeted(request["greet"]), b"") if "greet" in request else answer(request)
                head = {"answer": value, "size": len(data)}
            except Exception as error:
                head = {"error": type(error).__name__, "message": str(error)}
            out.write(json.dumps(head).encode() + b"\n" + data)
            out.flush()


if __name__ == "__main__":
    import json
    import select

    with contextlib.suppress(BrokenPipeError, ConnectionError, KeyboardInterrupt):
        main()
