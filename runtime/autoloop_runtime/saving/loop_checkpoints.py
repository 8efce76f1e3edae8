"""The state of a loop in a folder, from which it goes on after the whole program has died.

A *checkpoint* is a folder with a manifest, which says what there is, and a file for each large array or chunk of one::

    call-000/                       a call that was made while checkpoints were asked for, the first
        lock                        held by the process that makes it
        00000012/                   a checkpoint that is whole; the one with the highest number is the newest
            manifest                in the form of ``file_form``: checksum, JSON, small arrays
            0-0.npy ...             large arrays, chunk by chunk, as NumPy writes them
        .making-00000013/           one that is being made

It is made beside, forced to the disk and renamed as a whole, so at any moment, whoever is killed, each folder with a
number is complete. The one before stays until the next one is there; two are kept. Nothing in them is unpickled, and
each file is looked at as a whole before anything of it is used: its checksum, dtype and shape are in the manifest.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ..base.dataclass import Protocol, dataclass
from ..collections.versioned_array import ArrayValue
from .chunk_records import chunk_row, read_chunk, write_chunk
from .file_form import Arrays, content_of, dtype_of, dtype_text, is_count, packed, unpacked, written
from .kept_lists import list_of, list_row
from .kept_outside import Outside, form_of, state_of
from .kept_parts import Before, Part
from .load_errors import LoadError, SaveError, damaged, unsaid

#: what the header of a manifest says the file is
FORMAT = "a checkpoint of a loop by autoloop"
#: bytes of an array that stands in the manifest
SMALL = 1 << 14
#: how many are kept
KEPT = 2
MANIFEST = "manifest"
_NUMBERED, _MAKING, _LOCK = re.compile(r"[0-9]{8}", re.ASCII), ".making-", "lock"
#: Python's numbers, which NumPy's scalars of the same value stand for
_NUMBERS: Mapping[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}


class ForeignValues(Protocol):
    """Writes and reads arrays of another library, chunk by chunk."""

    def takes(self, value: Any) -> bool:
        """Return whether a value is such an array."""

    def told(self, value: Any) -> str:
        """Return what tells it from other arrays, as far as that is known without computing it."""

    def write(self, folder: str, values: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        """Write the chunks of values to files of a folder, which begin with a stem each; return what is said of each.

        All of a checkpoint's come at once: a list that grows in a loop may have thousands.
        """

    def read(self, folder: str, row: Mapping[str, Any]) -> Any:
        """Return the value of which ``write`` has said so much."""

    def lists(self, value: ArrayValue) -> bool:
        """Return whether the elements of a list may be such arrays."""

    def listed(self, value: ArrayValue) -> ArrayValue:
        """Return the same list, whose elements may be such arrays."""


#: a kind of arrays -> what writes them; only added to, by any thread, no lock
FOREIGN: dict[str, ForeignValues] = {}


class CheckpointError(RuntimeError):
    """A run cannot keep checkpoints there, or go on from those that there are.

    Examples
    --------
    >>> with al.keep_checkpoints("folder", checkpoint_every=0):
    ...     pass
    Traceback (most recent call last):
    ValueError: checkpoint_every is a number of iterations from 1 on, got 0 [AL715]
    """


_NOTHING = Outside()


@dataclass(frozen=True)
class Place:
    """Where a run is in a graph: in which loop or branch of it, and what there is then.

    Attributes
    ----------
    stage : int
        Which of the pieces that the graph is cut into.
    iteration : int
        How many iterations the loop has done, or which side of the branch is done.
    values : list
        Of its variables, and of what else there is.
    names : list of str
        What the user calls them.
    """

    stage: int
    iteration: int
    values: list[Any]
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Kept:
    """What a checkpoint holds.

    Attributes
    ----------
    places : list of Place
        The loops and branches in one another that the run is in, the outermost first.
    outside : Outside
    """

    places: list[Place]
    outside: Outside = _NOTHING


class CheckpointFolder:
    """The checkpoints of one call, in a folder of its own that no other process writes to at the same time.

    Parameters
    ----------
    path : str
    run : str
        Tells the function, its graph and what it is called with from all others.
    """

    def __init__(self, path: str, run: str) -> None:
        self.path, self.run = path, run
        self._lock: Any = None
        self._before = Before()

    def __enter__(self) -> CheckpointFolder:
        os.makedirs(self.path, exist_ok=True)
        self._lock = _locked(os.path.join(self.path, _LOCK))
        try:
            for name in os.listdir(self.path):
                if name.startswith(_MAKING):  # of a process that has died
                    shutil.rmtree(os.path.join(self.path, name), ignore_errors=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        try:
            if is_empty := not self.numbers():
                with suppress(OSError):
                    os.unlink(lock.name)
        finally:
            lock.close()
        if is_empty:
            with suppress(OSError):
                os.rmdir(self.path)

    def numbers(self) -> list[int]:
        """Return the numbers of the checkpoints that are whole, the oldest first."""
        with suppress(FileNotFoundError):
            return sorted(int(name) for name in os.listdir(self.path) if _NUMBERED.fullmatch(name))
        return []

    def save(self, places: Sequence[Place], outside: Outside = _NOTHING) -> None:
        """Keep the state of a run, and let go of what is older than the one before.

        Parameters
        ----------
        places, outside
            See ``Kept``.

        Raises
        ------
        SaveError
            If a value is none that can be kept.
        OSError
            If it cannot be written; what was kept before stays.
        """
        numbers = self.numbers()
        number = numbers[-1] + 1 if numbers else 0
        making = os.path.join(self.path, f"{_MAKING}{number:08}")
        os.mkdir(making)
        try:
            arrays = Arrays()
            writing = _Writing(making, arrays, self._before, Before(os.path.join(self.path, f"{number:08}")))
            every = [pair for place in places for pair in zip(place.names, place.values)]
            every += [("a variable", value) for value in outside.values]
            header = {
                "format": FORMAT, "run": self.run,
                "places": [[place.stage, place.iteration, len(place.values)] for place in places],
                "values": [writing.written(f"{k}", *pair) for k, pair in enumerate(every)],
                "states": [form_of(state, arrays) for state in outside.states],
            }  # fmt: skip
            writing.write_theirs()
            written(os.path.join(making, MANIFEST), packed(header, arrays))
            _to_disk(making)
            os.rename(making, os.path.join(self.path, f"{number:08}"))
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        self._before = writing.after
        _to_disk(self.path)
        for old in numbers[: 1 - KEPT or None]:
            self._remove(old)

    def _remove(self, number: int) -> None:
        """Remove a checkpoint, which is none any more from the first moment on."""
        path = os.path.join(self.path, f"{number:08}")
        gone = os.path.join(self.path, f"{_MAKING}{number:08}")
        os.rename(path, gone)
        shutil.rmtree(gone, ignore_errors=True)

    def newest(self) -> Kept | None:
        """Return what the newest checkpoint holds that is whole; None if there is none.

        Raises
        ------
        LoadError
            If all that there are are damaged.
        CheckpointError
            If they are of another run.
        """
        wrong: LoadError | None = None
        for number in reversed(self.numbers()):
            path = os.path.join(self.path, f"{number:08}")
            try:
                kept = self._read(path)
            except LoadError as error:
                wrong = wrong or error
                continue
            if wrong is not None:
                warnings.warn(f"going on from the checkpoint before the newest: {wrong}", RuntimeWarning, 2)
            return kept
        if wrong is not None:
            raise wrong
        return None

    def _read(self, path: str) -> Kept:
        try:
            content = content_of(os.path.join(path, MANIFEST))
        except OSError as error:
            raise damaged(f"the checkpoint {path!r} has no manifest: {error.strerror}") from None
        header, arrays = unpacked(content)
        listed: list[Any] = [header.get(key) for key in ("values", "places", "states")]
        if header.get("format") != FORMAT or not all(isinstance(one, list) for one in listed):
            raise damaged(f"the manifest of the checkpoint {path!r} is none")
        rows, places, states = listed
        if not all(map(_is_place, places)):
            raise damaged(f"the manifest of the checkpoint {path!r} says no places")
        if header.get("run") != self.run:
            raise CheckpointError(
                f"the checkpoints in {self.path!r} are of another run: of another function, of other arguments, or of "
                "random generators that stood elsewhere; give another folder, or remove this one [AL714]"
            )
        before = Before(path)
        left = iter([_read_value(path, row, arrays, before, f"{k}") for k, row in enumerate(rows)])
        found = [Place(stage, iteration, list(islice(left, count))) for stage, iteration, count in places]
        kept = Kept(found, Outside(list(left), [state_of(form, arrays) for form in states]))
        self._before = before  # what is gone on from need not be written again
        return kept

    def clear(self) -> None:
        """Remove all of it: the run has ended."""
        for number in self.numbers():
            self._remove(number)


def _is_place(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(map(is_count, row))


class _Writing:
    """A checkpoint that is being written.

    Parameters
    ----------
    folder : str
        Where to.
    arrays : Arrays
        What its manifest holds.
    before, after : Before
        The one before, and what is to be found of this one.
    """

    def __init__(self, folder: str, arrays: Arrays, before: Before, after: Before) -> None:
        self._folder, self._arrays = folder, arrays
        self._before, self.after = before, after
        #: by kind: stems and values of other libraries, and a row for each that is filled once they are written
        self._theirs: dict[str, list[tuple[str, Any, dict[str, Any]]]] = {}

    def written(self, stem: str, name: str, value: Any, is_listed: bool = False) -> dict[str, Any]:
        """Write a value, to the arrays of the manifest if it is small; return what the manifest says of it."""
        if isinstance(value, ArrayValue):
            return self._list(stem, name, value)
        for kind, foreign in [*FOREIGN.items()]:  # another thread may add to it meanwhile
            if foreign.takes(value):
                return self._their(kind, stem, value)
        kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
        if kind not in _NUMBERS and not isinstance(value, (np.ndarray, np.generic)):
            raise unsaid(f"{name!r} is a {type(value).__name__}: a checkpoint holds arrays and numbers")
        try:
            array = np.asarray(value)
            text = dtype_text(array.dtype)
        except (SaveError, OverflowError) as error:
            raise unsaid(f"{name!r} cannot be kept in a checkpoint: {error}") from None
        if kind not in ("array", *_NUMBERS):
            kind = "scalar"
        if array.nbytes <= SMALL:
            return {"kind": kind, "place": self._arrays.add(array)}
        row: dict[str, Any] = {"kind": kind, "dtype": text, "shape": list(array.shape)}
        before = self._before.rows.get(stem) if is_listed else None
        held = before is not None and self._before.holds(before, array)
        made = self._before.linked_row(self._folder, stem, before) if before is not None and held else None
        if made is None:
            chunk = f"{stem}-0.npy"
            made = {**row, "chunk": [chunk, *write_chunk(os.path.join(self._folder, chunk), array)]}
        if is_listed:
            self.after.rows[stem] = made
        return made

    def _list(self, stem: str, name: str, value: ArrayValue) -> dict[str, Any]:
        of = next((kind for kind, foreign in [*FOREIGN.items()] if foreign.lists(value)), None)
        row = list_row(
            value, lambda k, one: self.written(f"{stem}-{k}", name, one, True),
            lambda rows: self._parts(stem, name, rows), self._arrays,
        )  # fmt: skip
        return {"kind": "list", "of": of, **row}

    def _parts(self, stem: str, name: str, rows: np.ndarray[Any, Any]) -> list[list[Any]]:
        """Write the elements of a list that the checkpoint before does not have; return what is said of each part."""
        kept, at, level = self._before.same_parts(stem, rows)
        made: list[Part] = []
        for count, old, row in kept:
            linked = self._before.linked_row(self._folder, f"{stem}-{len(made)}", row)
            if linked is None:
                at, level = sum(one[0] for one in made), 0
                break
            made.append((count, old, linked))
        if at < len(rows) or not made:
            made.append((len(rows) - at, level, self.written(f"{stem}-{len(made)}", name, rows[at:])))
        self.after.parts[stem] = made
        return [list(one) for one in made]

    def _their(self, kind: str, stem: str, value: Any) -> dict[str, Any]:
        """Return the row of an array of another library, which is to be written if it is new."""
        told = kind, FOREIGN[kind].told(value)
        before = self._before.theirs.get(told)
        row = None if before is None else self._before.linked_row(self._folder, stem, before)
        if row is None:
            row = {"kind": kind}
            self._theirs.setdefault(kind, []).append((stem, value, row))
        self.after.theirs[told] = row
        return row

    def write_theirs(self) -> None:
        """Write all arrays of other libraries that are new."""
        for kind, found in self._theirs.items():
            said = FOREIGN[kind].write(self._folder, [(stem, value) for stem, value, _ in found])
            for (*_, row), one in zip(found, said):
                row.update(one)


def _read_value(
    folder: str, row: Any, arrays: Sequence[np.ndarray[Any, Any]], before: Before, stem: str, is_listed: bool = False
) -> Any:  # fmt: skip
    """Return a value that a manifest says, and note which files it is in."""
    if not isinstance(row, dict):
        raise damaged("the manifest of the checkpoint does not say what a value is")
    kind = row.get("kind")
    if kind == "list":
        made = list_of(row, lambda k, one: _read_value(folder, one, arrays, before, f"{stem}-{k}", True), [*arrays])
        before.note_parts(stem, row.get("parts"))
        return FOREIGN[str(of)].listed(made) if (of := row.get("of")) is not None and str(of) in FOREIGN else made
    if isinstance(kind, str) and kind in FOREIGN:
        theirs = FOREIGN[kind].read(folder, row)
        before.theirs[kind, FOREIGN[kind].told(theirs)] = row
        return theirs
    if "place" in row:
        if not is_count(row["place"]) or row["place"] >= len(arrays):
            raise damaged("the manifest of the checkpoint names an array that it does not have")
        array = arrays[row["place"]].copy()
    else:
        shape = row.get("shape")
        if not isinstance(shape, list) or not all(map(is_count, shape)):
            raise damaged("the manifest of the checkpoint says no shape")
        path, count, digest = chunk_row(row.get("chunk"), folder)
        array = read_chunk(path, dtype_text(dtype_of(row.get("dtype"))), shape, count, digest)
        if is_listed:
            before.rows[stem] = row
    if kind == "array":
        return array
    if array.ndim or (kind != "scalar" and kind not in _NUMBERS):
        raise damaged("the manifest of the checkpoint says another kind of value than there is")
    return array[()] if kind == "scalar" else _NUMBERS[str(kind)](array[()])


def _to_disk(folder: str) -> None:
    """Have the names in a folder on the disk, where the system does so on demand."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked(path: str) -> Any:
    """Return the open file ``path``, which no other process has until it is closed, or its process has ended."""
    while True:
        file = open(path, "ab")  # noqa: SIM115  (it is closed by who gets it)
        try:
            _lock(file)
            if os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except OSError:
            file.close()
            raise CheckpointError(
                f"another run keeps its checkpoints in {os.path.dirname(path)!r}; give each a folder of its own [AL715]"
            ) from None
        except BaseException:
            file.close()
            raise
        file.close()  # who had it before has removed it meanwhile


def _lock(file: Any) -> None:
    if os.name == "nt":
        msvcrt: Any = importlib.import_module("msvcrt")
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        return
    fcntl: Any = importlib.import_module("fcntl")
    fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
