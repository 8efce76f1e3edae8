"""Submissions to a cluster: their parts are futures, and the client's event loop tells when they are done."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .apart_errors import apart
from .fresh_names import FreshNames
from .laters import Later
from .mailbox import Mailbox
from .remote_cluster import check_open
from .submissions import Done, Fetched, Submission, array_of, hold, joined, persist_all


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
        self._names = FreshNames(client)

    @property
    def threads(self) -> int:
        """See ``Sender``."""
        return self._names.threads

    def persist(self, collections: list[Any]) -> list[Any]:
        """See ``Sender``."""
        return self._names.persist(collections)

    def failure(self, collections: list[Any]) -> BaseException | None:
        """See ``Sender``."""
        errors = [future.exception() for future in self._distributed.futures_of(collections)]
        return next((apart(error) for error in errors if error is not None), None)

    def parts(self, collection: Any) -> dict[Any, Any]:
        """See ``Sender``."""
        return {future.key: future for future in self._distributed.futures_of(collection)}

    def is_part(self, node: Any) -> bool:
        """See ``Sender``."""
        return isinstance(node, self._distributed.Future) and node.client is self._client

    def send(self, submission: Submission, mailbox: Mailbox) -> int:
        """See ``Sender``."""
        count = 0
        if submission.use is None:
            persist_all(submission, self)
        else:
            count = self._send_tasks(submission)
        asked = [(self._in_order(later), later.blocks) for _, later in submission.asked]
        every = [future for later in submission.laters for future in self._futures(later)]
        self._client.loop.add_callback(self._watch, submission, asked, every, mailbox)
        check_open(self._client)  # its event loop may have ended
        return count

    def _send_tasks(self, submission: Submission) -> int:
        """Send the tasks that a template gives, and no collection."""
        use = submission.use
        assert use is not None
        hold(use.given, self, submission)
        tasks, keys, takes = use.template.used([later.keys for later in use.given], use.scalars)
        parts = {key: part for later in use.given for key, part in zip(later.keys, later.parts)} if takes else {}
        futures = self._names.send(tasks, keys, {key: parts[one] for key, one in takes.items()})
        for later, those, made in zip(submission.laters, keys, futures):
            later.become_parts(those, made, array_of)
        return len(tasks)

    def _in_order(self, later: Later) -> list[Any]:
        """Return the futures of a value, in the order of its chunks."""
        if later.parts:
            return later.parts
        parts, name = self.parts(later.collection), later.collection.name
        return [parts[(name, *place)] for place in np.ndindex(*later.blocks)]

    def _futures(self, later: Later) -> list[Any]:
        if later.parts:
            return later.parts
        found: list[Any] = self._distributed.futures_of(later.collection)
        return found

    async def _watch(
        self, submission: Submission, asked: list[tuple[list[Any], tuple[int, ...]]], every: list[Any], mailbox: Mailbox
    ) -> None:  # fmt: skip
        """Tell what becomes of a submission. Runs on the client's event loop."""
        try:
            if asked:
                chunks = await self._client.gather([futures for futures, _ in asked], asynchronous=True)
                values = [joined(those, blocks) for those, (_, blocks) in zip(chunks, asked)]
                mailbox.put(Fetched(submission, values))
            with self._client.as_current():  # ``wait`` asks for it
                waiting = self._distributed.wait(every)
            await waiting
            failed = [future for future in every if future.status == "error"]
            mailbox.put(Done(submission, apart(await failed[0].exception()) if failed else None))
        except BaseException as error:
            mailbox.put(Done(submission, apart(error.with_traceback(None))))
            if not isinstance(error, Exception):
                raise

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """See ``Sender``.

        What nobody holds a future of the scheduler takes from its workers. ``Client.cancel`` would end the connection
        where tasks depend on a key that no client wants: the scheduler asserts that there is one.
        """
        for submission in submissions:
            for later in submission.laters:
                for future in self._futures(later) if later.is_sent else ():
                    future.release()
