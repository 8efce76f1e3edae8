"""``tf.train.Saver`` of 1.x: values of variables in files, the newest of which are kept and found again."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autoloop_runtime.collections import variables
from autoloop_runtime.running.session import Session

from . import saved_variables
from .building import PAGE, refuse
from .graph_keys import GraphKeys, get_collection, global_variables


class Saver:
    """Saves variables, and restores them.

    A file is ``<path>.variables``: a table and the bytes of the arrays, of which nothing is run when it is read. It is
    written whole or not at all. The files of TensorFlow are others, and are not read.

    Parameters
    ----------
    var_list : list or dict of Variable, optional
        By default the global variables of the graph; a dict has the names in the file.
    max_to_keep : int or None
        How many files are kept: all, if it is None or 0.
    keep_checkpoint_every_n_hours : float
        Of the others one is kept for so many hours.
    pad_step_number : bool
        Write the number of a step with eight digits.
    allow_empty : bool
        There need not be variables.

    Raises
    ------
    ValueError
        If there are no variables, or two have one name.
    TypeError
        If another argument asks for something.
    """

    def __init__(
        self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None, restore_sequentially: bool = False,
        saver_def: Any = None, builder: Any = None, defer_build: bool = False, allow_empty: bool = False,
        write_version: Any = 2, pad_step_number: bool = False, save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:  # fmt: skip
        refuse("Saver", reshape=reshape, saver_def=saver_def, builder=builder, filename=filename)
        self._given, self._allows_none = var_list, allow_empty
        self._saved = {} if defer_build else self._named()
        self._most, self._pads = max_to_keep or 0, pad_step_number
        self._hours = keep_checkpoint_every_n_hours
        self._next_kept = time.time() + self._hours * 3600
        #: paths of the newest ones, and when each was written
        self._newest: list[tuple[str, float]] = []

    def build(self) -> None:
        """Find the variables, where ``defer_build`` left that to now."""
        self._saved = self._named()

    def _named(self) -> dict[str, variables.Variable]:
        given = self._given
        if given is None:
            given = [*global_variables(), *get_collection(GraphKeys.SAVEABLE_OBJECTS)]
        every = list(given.values()) if isinstance(given, Mapping) else _all(given)
        if not every and not self._allows_none:
            raise ValueError("No variables to save [AL909]")
        for one in every:
            if not isinstance(one, variables.Variable):
                raise TypeError(f"Variable to save is not a Variable: {one!r} [AL909]")
        pairs = list(given.items()) if isinstance(given, Mapping) else [(one.op.name, one) for one in every]
        names = [name for name, _ in pairs]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"At least two variables have the same name: {twice[0]} [AL909]")
        return dict(pairs)

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of those that were saved and are kept, the newest last."""
        return [path for path, _ in self._newest]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Say which were saved before, the newest last."""
        self._newest = [(path, 0.0) for path in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths: Iterable[str]) -> None:
        """Say which were saved before: those of them that are there."""
        found = [path for path in checkpoint_paths if checkpoint_exists(path)]
        self._newest = [(path, os.path.getmtime(path + saved_variables.ENDING)) for path in found]

    def save(
        self, sess: Session, save_path: str, global_step: Any = None, latest_filename: str | None = None,
        meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
        strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> str:  # fmt: skip
        """Save the variables as they are in a session; no graph is written.

        Parameters
        ----------
        save_path : path
        global_step : int, Tensor or Variable, optional
            Comes behind the path: ``path-step``.
        latest_filename : str, optional
            Of the file that says which is the newest: ``checkpoint`` by default.
        write_state : bool
            Whether that is written, and old files are removed.

        Returns
        -------
        str
            The path, by which they are restored.

        Raises
        ------
        ValueError
            If there is no such folder.
        """
        given, path = os.fspath(save_path), os.fspath(save_path)
        if latest_filename and os.path.dirname(latest_filename):
            raise ValueError("'latest_filename' must not contain path components [AL909]")
        if global_step is not None:
            step = int(global_step if isinstance(global_step, int) else sess.run(global_step))
            path = f"{given}-{step:08d}" if self._pads else f"{given}-{step}"
        folder = os.path.dirname(path)
        if not os.path.isdir(folder or "."):
            raise ValueError(f"Parent directory of {given} doesn't exist, can't save. [AL909]")
        names = list(self._saved)
        values = sess.run([self._saved[name] for name in names])
        saved_variables.write(path + saved_variables.ENDING, dict(zip(names, values)))
        if write_state:
            self._rotate(path)
            update_checkpoint_state(folder, path, self.last_checkpoints, latest_filename)
        return path

    def _rotate(self, path: str) -> None:
        if not self._most:
            return
        self._newest = [pair for pair in self._newest if pair[0] != path] + [(path, time.time())]
        while len(self._newest) > self._most:
            oldest, when = self._newest.pop(0)
            if when > self._next_kept:
                self._next_kept += self._hours * 3600
                continue
            with contextlib.suppress(FileNotFoundError):
                os.unlink(oldest + saved_variables.ENDING)

    def restore(self, sess: Session, save_path: str | None) -> None:
        """Set the variables in a session to what was saved; they need no initialisers then.

        Raises
        ------
        ValueError
            If there is no such file, it is damaged, or a value has another shape or dtype than its variable.
        KeyError
            If a variable is not in it.
        """
        if not self._saved:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None. [AL909]")
        path = os.fspath(save_path)
        if not checkpoint_exists(path):
            others = (
                f"; it is one of TensorFlow's, which is not read (see {PAGE})"
                if os.path.exists(f"{path}.index")
                else ""
            )
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}{others} [AL909]")
        found = saved_variables.Values(path + saved_variables.ENDING)
        values = {name: found.read(name) for name in self._saved}
        for name, variable in self._saved.items():
            if values[name].dtype != variable.dtype and variable.dtype.kind not in "SUO":
                raise ValueError(
                    f"variable {name!r} has dtype {variable.dtype}, {values[name].dtype} was saved [AL909]"
                )
            values[name] = variables.checked(values[name], variable)
        _, _, state = sess.looked_up([])
        for name, variable in self._saved.items():
            value = values[name]
            state.storage(variable).put(value[()] if value.ndim == 0 else value)


def _all(given: Any) -> list[Any]:
    return [given] if isinstance(given, variables.Variable) else list(given)


class CheckpointState(NamedTuple):
    """Which files there are, and which is the newest."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Return whether a file was saved under a path."""
    return os.path.isfile(os.fspath(checkpoint_prefix) + saved_variables.ENDING)


def update_checkpoint_state(
    save_dir: str, model_checkpoint_path: str, all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: Any = None,
) -> None:  # fmt: skip
    """Write which files there are, and which is the newest: relative to the folder, which may be moved."""
    folder = save_dir or "."
    every = [*(all_model_checkpoint_paths or [])]
    if model_checkpoint_path not in every:
        every.append(model_checkpoint_path)
    lines = [("model_checkpoint_path", model_checkpoint_path), *[("all_model_checkpoint_paths", one) for one in every]]
    text = "".join(f"{key}: {json.dumps(_relative(path, folder))}\n" for key, path in lines)
    there = os.path.join(folder, latest_filename or "checkpoint")
    with open(f"{there}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{there}.new", there)


def _relative(path: str, folder: str) -> str:
    found = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    return os.path.abspath(path) if found.startswith(os.pardir) else found


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> CheckpointState | None:
    """Return which files there are in a folder; None if nothing says so."""
    there = os.path.join(os.fspath(checkpoint_dir), latest_filename or "checkpoint")
    try:
        with open(there, encoding="utf-8") as file:
            text = file.read()
        found = [(key, json.loads(path)) for key, path in re.findall(r"(?m)^(\w+): *(\".*\")\s*$", text)]
    except (OSError, ValueError):
        return None
    paths = [(key, os.path.join(os.fspath(checkpoint_dir), path)) for key, path in found]
    newest = [path for key, path in paths if key == "model_checkpoint_path"]
    every = [path for key, path in paths if key == "all_model_checkpoint_paths"]
    return CheckpointState(newest[0], every) if newest else None


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the path of the newest file in a folder; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return state.model_checkpoint_path if state and checkpoint_exists(state.model_checkpoint_path) else None
