"""``tf.train`` of 1.x: optimizers, learning rates, and saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.doors import listing

from .building import missing
from .learning_rates import cosine_decay as cosine_decay
from .learning_rates import create_global_step as create_global_step
from .learning_rates import exponential_decay as exponential_decay
from .learning_rates import get_global_step as get_global_step
from .learning_rates import get_or_create_global_step as get_or_create_global_step
from .learning_rates import global_step as global_step
from .learning_rates import inverse_time_decay as inverse_time_decay
from .learning_rates import natural_exp_decay as natural_exp_decay
from .learning_rates import piecewise_constant as piecewise_constant
from .learning_rates import piecewise_constant as piecewise_constant_decay
from .learning_rates import polynomial_decay as polynomial_decay
from .optimizers import AdagradOptimizer as AdagradOptimizer
from .optimizers import AdamOptimizer as AdamOptimizer
from .optimizers import GradientDescentOptimizer as GradientDescentOptimizer
from .optimizers import MomentumOptimizer as MomentumOptimizer
from .optimizers import Optimizer as Optimizer
from .optimizers import RMSPropOptimizer as RMSPropOptimizer
from .savers import Saver as Saver
from .savers import checkpoint_exists as checkpoint_exists
from .savers import get_checkpoint_state as get_checkpoint_state
from .savers import latest_checkpoint as latest_checkpoint
from .savers import update_checkpoint_state as update_checkpoint_state

__all__ = [
    "AdagradOptimizer", "AdamOptimizer", "GradientDescentOptimizer", "MomentumOptimizer", "Optimizer",
    "RMSPropOptimizer", "Saver", "checkpoint_exists", "cosine_decay", "create_global_step", "exponential_decay",
    "get_checkpoint_state", "get_global_step", "get_or_create_global_step", "global_step", "inverse_time_decay",
    "latest_checkpoint", "natural_exp_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
    "update_checkpoint_state",
]  # fmt: skip


__dir__ = listing(globals())

if not TYPE_CHECKING:  # who would take every name for one that is there

    def __getattr__(name: str) -> Any:
        missing("v1.train", name, {
            "MonitoredTrainingSession": "make a Session, and save with a Saver",
            "Coordinator": "there are no queues", "start_queue_runners": "there are no queues",
        })  # fmt: skip
