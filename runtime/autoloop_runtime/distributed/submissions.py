"""What is sent to Dask at once, and who sends it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from ..base.dataclass import dataclass
from ..dataflow.frames import Frame, Item
from .laters import Later
from .mailbox import Mailbox


@dataclass(slots=True)
class Statistics:
    """What a run did.

    Attributes
    ----------
    submissions : int
        How often something was sent to be computed.
    iterations : int
        How many iterations of loops handed over collections.
    fetches : int
        How many values came back: conditions, nothing else.
    widest : int
        How many iterations of one loop were under way at a time, at the most.
    tasks : int
        How many tasks were sent, as far as they were counted: where templates write them.
    """

    submissions: int = 0
    iterations: int = 0
    fetches: int = 0
    widest: int = 0
    tasks: int = 0


@dataclass(slots=True, eq=False)
class Submission:
    """Some values that are computed together.

    Attributes
    ----------
    laters : list of Later
        What becomes futures.
    asked : list of (Item, Later)
        The conditions among them, and the marks that wait for them.
    iterations : dict of Frame to int
        How many iterations of which loops it computes.
    fetched : bool
        The conditions have come.
    """

    laters: list[Later]
    asked: list[tuple[Item, Later]]
    iterations: dict[Frame, int]
    fetched: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """The letter that the conditions of a submission have come."""

    submission: Submission
    values: list[Any]


@dataclass(frozen=True, slots=True)
class Done:
    """The letter that a submission is computed, or why it is not."""

    submission: Submission
    error: BaseException | None = None


class Sender(Protocol):
    """Sends submissions, and puts letters about them into a mailbox.

    Attributes
    ----------
    blocks : bool
        What is sent is computed when ``send`` returns.
    """

    blocks: bool

    def send(self, submission: Submission, mailbox: Mailbox) -> None:
        """Have all values of ``submission`` computed, and put in their places what Dask gives for them."""

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """Stop what is not computed of these; their results are not wanted any more."""


class Locally:
    """Dask's own threads, in this process, or whatever scheduler is set; sending is computing."""

    blocks = True

    def send(self, submission: Submission, mailbox: Mailbox) -> None:
        """See ``Sender``."""
        dask: Any = importlib.import_module("dask")
        try:
            made = dask.persist(*[later.collection for later in submission.laters])
        except Exception as error:
            mailbox.put(Done(submission, error))
            return
        for later, collection in zip(submission.laters, made):
            later.collection = collection
        if submission.asked:
            values = dask.compute(*[later.collection for _, later in submission.asked], scheduler="synchronous")
            mailbox.put(Fetched(submission, list(values)))
        mailbox.put(Done(submission))

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """See ``Sender``; nothing is left behind by what has failed here."""


def dask_client(given: Any = None) -> Any:
    """Return the client to use: the one that is given, or the one that is current; ``None`` if there is none."""
    if given is not None:
        return given
    if importlib.import_module("sys").modules.get("distributed") is None:
        return None
    distributed: Any = importlib.import_module("distributed")
    try:
        return distributed.default_client()
    except ValueError:
        return None
