"""A tensor as an array of the array API standard: which namespace its functions are in, where its value lies.

There is one device, the machine's own memory.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.stand_ins import in_numpys_words

if TYPE_CHECKING:
    _Self = TypeVar("_Self")

#: what ``x.device`` is, and what may be asked for
DEVICE = "cpu"
#: the standard's versions that the namespace is one of
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
#: the module that holds the public functions; filled while modules are imported
_namespaces: list[ModuleType] = []


def offer_namespace(module: ModuleType) -> None:
    """Let ``module`` be what ``__array_namespace__`` of tensors gives."""
    _namespaces[:] = [module]


def check_device(device: str | None, name: str) -> None:
    """Raise ``ValueError`` if ``device`` is not None and not the one there is."""
    if device is not None and device != DEVICE:
        raise ValueError(f"{name}: there is no device {device!r}; the only one is {DEVICE!r} [AL214]")


class StandardProtocols:
    """What the standard asks of an array besides Python's operators."""

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in VERSIONS:
            raise ValueError(f"the array API {api_version!r} is not offered; {VERSIONS[-1]} is [AL214]")
        return _namespaces[0]

    @property
    def device(self) -> str:
        """The device that the value lies on, always "cpu"."""
        return DEVICE

    def to_device(self: _Self, device: str, /, *, stream: Any = None) -> _Self:
        """Return the tensor itself: there is one device.

        Raises
        ------
        ValueError
            If ``device`` is another one, or a stream is asked for.
        """
        if not isinstance(device, str):
            raise in_numpys_words(TypeError(f"to_device() argument 1 must be str, not {type(device).__name__}"))
        check_device(device, "to_device")
        if stream is not None:
            raise ValueError("to_device: there are no streams [AL214]")
        return self
