"""Compile the packages when they are installed from a checkout.

An ordinary installation compiles what it installs; an editable one leaves that to the first import, which some
machines never let write (``PYTHONDONTWRITEBYTECODE``, read-only mounts): every process would then compile anew. A wheel
holds the page of messages besides, which an editable installation finds where it stands.
"""

import compileall
import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileHook(BuildHookInterface):
    """Write the ``__pycache__`` folders of an editable installation; put ``docs/errors.md`` into a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, where the installation is editable; see to the page where it is not."""
        if version == "editable":
            for package in ("autoloop", os.path.join("runtime", "autoloop_runtime")):
                compileall.compile_dir(os.path.join(self.root, package), quiet=1)
        elif self.target_name == "wheel":
            build_data["force_include"][os.path.join(self.root, "docs", "errors.md")] = "autoloop/errors.md"
