"""From LLVM IR to a function in memory."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
from functools import lru_cache
from typing import Any

from ...background import exclusive
from ...dataclass import dataclass
from .cache import DiskCache
from .gemm import OLD_MASKS

#: what the package is called that people install
EXTRA = "autoloop[native]"
#: before this intrinsics had to be declared; llvmlite 0.45 has it
OLDEST_LLVM = 20


class MissingExtra(ImportError, NotImplementedError):
    """``executor="native"`` without llvmlite."""


@lru_cache(maxsize=1)
def _binding() -> Any:
    """llvmlite, made ready for this machine.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        binding = importlib.import_module("llvmlite.binding")
    except ImportError as error:
        raise MissingExtra(
            f"executor='native' needs llvmlite, which is not installed; install it with pip install '{EXTRA}'"
        ) from error
    if binding.llvm_version_info[0] < OLDEST_LLVM:
        found = ".".join(map(str, binding.llvm_version_info))
        raise MissingExtra(
            f"executor='native' needs LLVM {OLDEST_LLVM} or newer, the llvmlite that is installed has {found}; "
            f"upgrade it with pip install -U '{EXTRA}'"
        )
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@dataclass(frozen=True)
class Host:
    """The machine that code is made for, and the compiler that makes it; ``features`` are those of both."""

    triple: str
    cpu: str
    flags: str
    features: frozenset[str]
    version: str


@lru_cache(maxsize=1)
def host() -> Host:
    """This machine, as LLVM describes it."""
    binding = _binding()
    found = binding.get_host_cpu_features()
    features = frozenset(name for name, there in found.items() if there)
    if binding.llvm_version_info[0] < 22:
        features |= {OLD_MASKS}
    version = ".".join(map(str, binding.llvm_version_info))
    return Host(binding.get_process_triple(), binding.get_host_cpu_name(), found.flatten(), features, version)


def _machine() -> Any:
    target = _binding().Target.from_triple(host().triple)
    return target.create_target_machine(cpu=host().cpu, features=host().flags, opt=3, jit=True)


class Code:
    """Machine code in memory; it stays there as long as this object.

    Attributes
    ----------
    engine
        Who owns the memory.
    address : int
        Of the function.
    """

    def __init__(self, engine: Any, address: int) -> None:
        self.engine = engine
        self.address = address


def compile_ir(ir: str, addresses: dict[str, int], cache: DiskCache | None) -> Code:
    """Machine code for the one public function of ``ir``, called ``{name}`` in it.

    Parameters
    ----------
    ir : str
    addresses : dict of str to int
        Where the symbols are that it calls.
    cache : DiskCache, optional
        Where compiled code is kept.
    """
    h = host()
    key = hashlib.sha256("\0".join((ir, h.triple, h.cpu, h.flags, h.version)).encode()).hexdigest()
    name = f"autoloop_{key[:32]}"
    with exclusive:  # LLVM's global state takes one compilation at a time
        binding = _binding()
        for symbol, address in addresses.items():
            binding.add_symbol(symbol, address)
        image = cache.load(key) if cache is not None else None
        if image is None:
            image = _compiled(ir.replace("{name}", name))
            if cache is not None:
                cache.store(key, image)
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
        engine.add_object_file(binding.ObjectFileRef.from_data(image))
        engine.finalize_object()
        return Code(engine, engine.get_function_address(name))


def _compiled(ir: str) -> bytes:
    binding, machine = _binding(), _machine()
    head = f'target triple = "{host().triple}"\ntarget datalayout = "{machine.target_data}"\n'
    # in a context of its own: what LLVM remembers of a module it would otherwise remember for ever
    module = binding.parse_assembly(head + ir, binding.create_context())
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    # llvmlite forgets to free this one
    binding.NewPassManager._dispose(passes)
    passes.detach()
    image: bytes = machine.emit_object(module)
    return image


def callable_of(code: Code) -> Any:
    """The function as something Python can call; it is called with the interpreter's lock, which it gives up itself."""
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(code.address)
