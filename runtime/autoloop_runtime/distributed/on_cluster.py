"""Submissions to a cluster: their parts are futures, and the client's event loop tells when they are done."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .mailbox import Mailbox
from .submissions import Done, Fetched, Submission


class OnCluster:
    """Sends to a ``distributed.Client``.

    Parameters
    ----------
    client : distributed.Client
    """

    blocks = False

    def __init__(self, client: Any) -> None:
        self._client = client
        self._distributed: Any = importlib.import_module("distributed")

    def send(self, submission: Submission, mailbox: Mailbox) -> None:
        """See ``Sender``."""
        made = self._client.persist([later.collection for later in submission.laters])
        for later, collection in zip(submission.laters, made):
            later.collection = collection
        futures = [self._distributed.futures_of(collection) for collection in made]
        places = {id(later): k for k, later in enumerate(submission.laters)}
        asked = [futures[places[id(later)]][0] for _, later in submission.asked]
        every = [future for those in futures for future in those]
        self._client.loop.add_callback(self._watch, submission, asked, every, mailbox)

    async def _watch(self, submission: Submission, asked: list[Any], every: list[Any], mailbox: Mailbox) -> None:
        """Tell what becomes of a submission. Runs on the client's event loop."""
        try:
            if asked:
                values = await self._client.gather(asked, asynchronous=True)
                mailbox.put(Fetched(submission, values))
            with self._client.as_current():  # ``wait`` asks for it
                waiting = self._distributed.wait(every)
            await waiting
            for future in every:
                if future.status == "error":
                    raise await future.exception()
        except BaseException as error:
            mailbox.put(Done(submission, error))
            if not isinstance(error, Exception):
                raise
        else:
            mailbox.put(Done(submission))

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """See ``Sender``."""
        futures = [
            future
            for submission in submissions
            for later in submission.laters
            for future in self._distributed.futures_of(later.collection)
            if future.client is self._client
        ]
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True)
