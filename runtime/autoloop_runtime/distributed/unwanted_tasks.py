"""Tasks that Dask's scheduler would keep although nobody wants them, after a worker was lost.

When a worker is lost the scheduler goes from task to task, and remembers of each the last thing that it is to become.
What needs data that is gone is forgotten, and what only that needed is to be, too. But where such a task has lost
another of its dependencies, and that can be computed again, it is then to wait for this: it is computed once more for
nobody, and stays, with all that it is made of, for as long as the cluster. The data that is gone is that of an anchor,
or an array that was sent with a region; so after a loss whoever goes on has the scheduler look for them.
"""

from __future__ import annotations

import re
import uuid
from contextlib import suppress
from typing import Any

from .apart_errors import spent
from .fresh_names import FRESH
from .remote_cluster import SENT

#: the names of what is sent here
_OURS = re.compile(rf"{FRESH}|{SENT}|^(anchor|autoloop-given)-")


def forget_unwanted(client: Any) -> None:
    """Have the scheduler forget tasks of ours that nobody wants, and nothing is to be made of."""
    try:
        client.run_on_scheduler(_forget, callback_timeout=10)
    except Exception as error:  # it is gone: with it what it knew
        spent(error)


async def _forget(dask_scheduler: Any) -> None:
    """Forget them. Runs on the event loop of the scheduler, which alone changes its tasks.

    They are no public part of Dask: were they other than here, some tasks would stay.
    """
    with suppress(AttributeError, TypeError):
        unwanted = {key: "forgotten" for key, task in dask_scheduler.tasks.items() if _is_unwanted(key, task)}
        if unwanted:
            dask_scheduler.transitions(unwanted, f"autoloop-{uuid.uuid4().hex}")


def _is_unwanted(key: Any, task: Any) -> bool:
    name = key[0] if isinstance(key, tuple) else key
    return not task.who_wants and not task.dependents and _OURS.search(str(name)) is not None
