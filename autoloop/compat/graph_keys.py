"""Collections of the default graph, and the names of those that 1.x itself fills."""

from __future__ import annotations

from typing import Any

from autoloop_runtime.collections.variables import Variable

from .building import default_root

__all__ = [
    "GraphKeys", "add_to_collection", "add_to_collections", "all_variables", "get_collection", "get_collection_ref",
    "global_variables", "local_variables", "model_variables", "trainable_variables",
]  # fmt: skip


class GraphKeys:
    """Names of collections."""

    ACTIVATIONS = "activations"
    ASSET_FILEPATHS = "asset_filepaths"
    BIASES = "biases"
    CONCATENATED_VARIABLES = "concatenated_variables"
    COND_CONTEXT = "cond_context"
    EVAL_STEP = "eval_step"
    GLOBAL_STEP = "global_step"
    GLOBAL_VARIABLES = "variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    LOCAL_RESOURCES = "local_resources"
    LOCAL_VARIABLES = "local_variables"
    LOSSES = "losses"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    QUEUE_RUNNERS = "queue_runners"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    READY_OP = "ready_op"
    REGULARIZATION_LOSSES = "regularization_losses"
    RESOURCES = "resources"
    SAVEABLE_OBJECTS = "saveable_objects"
    SAVERS = "savers"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    TABLE_INITIALIZERS = "table_initializer"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAIN_OP = "train_op"
    UPDATE_OPS = "update_ops"
    VARIABLES = "variables"
    WEIGHTS = "weights"
    WHILE_CONTEXT = "while_context"


def add_to_collection(name: Any, value: Any) -> None:
    """Put ``value`` into a collection of the default graph."""
    default_root().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Put ``value`` into several collections of the default graph."""
    default_root().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Return what is in a collection of the default graph; with ``scope``, what has a name that it matches."""
    return default_root().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """Return a collection of the default graph itself."""
    return default_root().get_collection_ref(key)


def global_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the default graph, but for local ones."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Variable]:
    """Return the same as ``global_variables``."""
    return global_variables()


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the default graph that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the default graph that were made in this collection."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the default graph that somebody put into this collection."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)
