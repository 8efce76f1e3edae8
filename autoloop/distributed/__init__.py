"""Functions on a cluster of Dask: heavy parts of a call elsewhere (``executor="dask"``), maps and sweeps.

It needs the extra ``distributed``, and is imported by its name: ``import autoloop.distributed``.
"""

from __future__ import annotations

from autoloop_runtime.base.doors import listing
from autoloop_runtime.distributed.remote_cluster import LostCluster as LostCluster
from autoloop_runtime.distributed.remote_cluster import Network as Network
from autoloop_runtime.distributed.remote_cluster import NoCluster as NoCluster

from .cluster_client import Client as Client

__all__ = ["Client", "LostCluster", "Network", "NoCluster"]
__dir__ = listing(globals())
