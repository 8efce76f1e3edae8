"""The notebooks of ``docs``: executed, and written with what they give (``python tests/notebooks.py``)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
#: what is no output of the cell's own
_NOISE = ("execution", "collapsed")


def executed(path):
    """The notebook as a kernel of this Python executes it, without what differs from run to run."""
    import nbformat
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from nbclient import NotebookClient

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name):
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python")

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}})
    client.km = client.create_kernel_manager()
    client.km.kernel_spec_manager = ThisPython()
    client.execute()
    for cell in notebook.cells:
        for name in _NOISE:
            cell.metadata.pop(name, None)
        for output in cell.get("outputs", ()):
            if "text/plain" in output.get("data", ()):
                output.data["text/plain"] = re.sub(" at 0x[0-9a-f]+", "", output.data["text/plain"])
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def outputs(notebook):
    """What each cell of code gives, by kinds: the texts that it prints, the types of what it shows, the error."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            printed = "".join(one.text for one in cell.outputs if one.output_type == "stream")
            shown = [sorted(one.data) for one in cell.outputs if "data" in one]
            raised = [(one.ename, one.evalue) for one in cell.outputs if one.output_type == "error"]
            yield printed, shown, raised


if __name__ == "__main__":
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), path)
