"""Compile the packages when they are installed from a checkout.

An ordinary installation compiles what it installs; an editable one leaves that to the first import, which some
machines never let write (``PYTHONDONTWRITEBYTECODE``, read-only mounts): every process would then compile anew.
"""

import compileall
import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileHook(BuildHookInterface):
    """Write the ``__pycache__`` folders of an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, where the installation is editable."""
        if version == "editable":
            for package in ("autoloop", os.path.join("runtime", "autoloop_runtime")):
                compileall.compile_dir(os.path.join(self.root, package), quiet=1)
