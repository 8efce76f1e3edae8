"""Optimizers of 1.x: operations that change variables by the gradients of a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.collections.sparse import IndexedSlices
from autoloop_runtime.collections.variables import Variable as AnyVariable
from autoloop_runtime.collections.variables import group
from autoloop_runtime.gradients import gradients
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import get_default_graph

from .building import building, default_root
from .graph_keys import GraphKeys, trainable_variables
from .graph_variables import Variable

#: a gradient, None where no path leads, and whose it is
Pair = tuple[Any, Any]


class Optimizer:
    """What optimizers have in common; not to be made itself.

    Parameters
    ----------
    use_locking : bool
        Accepted for compatibility.
    name : str
        Prefix of what is made.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name [AL908]")
        self._name = name
        self._slots: dict[str, dict[AnyVariable, AnyVariable]] = {}
        self._others: list[AnyVariable] = []

    def get_name(self) -> str:
        """Return its name."""
        return self._name

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Sequence[Any] | None = None, gate_gradients: int = GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """Return an operation that changes the variables by one step.

        Parameters
        ----------
        loss : Tensor
        global_step : Variable, optional
            Has 1 added, after the others have changed.
        var_list : list of Variable, optional
            By default those of the graph that are trainable.
        grad_loss : tensor-like, optional
            The gradient of the loss itself, 1 by default.

        Raises
        ------
        ValueError
            If there are no variables, or no path leads to any of them.
        """
        found = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(gradient is None for gradient, _ in found):
            raise ValueError(
                f"No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[variable.name for _, variable in found]} and loss {loss}. [AL908]"
            )
        return self.apply_gradients(found, global_step, name)

    def compute_gradients(
        self, loss: Any, var_list: Sequence[Any] | None = None, gate_gradients: int = GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ) -> list[Pair]:  # fmt: skip
        """Return the gradient of a loss for each variable, None where no path leads, and the variable.

        Raises
        ------
        ValueError
            If there are no variables, or ``gate_gradients`` is none of the three.
        TypeError
            If what is to be changed is no variable.
        """
        if callable(loss) and not isinstance(loss, (Tensor, AnyVariable)):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients is a function: give its value, a tensor [AL908]"
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                f"gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. Not "
                f"{gate_gradients} [AL908]"
            )
        changed = list(trainable_variables() if var_list is None else var_list)
        if not changed:
            raise ValueError("No variables to optimize. [AL908]")
        for variable in changed:
            if not isinstance(variable, AnyVariable):
                raise TypeError(f"Argument is not a variable: {variable!r} [AL908]")
        found = building(gradients)(loss, changed, grad_ys=grad_loss)
        return list(zip(found, changed))

    @building
    def apply_gradients(
        self, grads_and_vars: Iterable[Pair], global_step: Any = None, name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:  # fmt: skip
        """Return an operation that changes variables by gradients, as ``compute_gradients`` gives them.

        Raises
        ------
        ValueError
            If there are no variables, or no gradients.
        """
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided. [AL908]")
        known = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not known:
            raise ValueError(f"No gradients provided for any variable: {[str(v.name) for _, v in pairs]}. [AL908]")
        with default_root().name_scope(None):
            self._create_slots([variable for _, variable in known])
        graph = get_default_graph()
        with graph.name_scope(name or self._name) as scope:
            updates = [self._update(gradient, variable) for gradient, variable in known]
            after = self._finish(updates)
        if global_step is None:
            train = group(*after, name=scope.rpartition("/")[2])
        else:
            with graph.control_dependencies([group(*after, name="update")]):
                train = global_step.assign_add(convert_to_tensor(1, global_step.dtype), name=scope.rpartition("/")[2])
        if not any(train is one for one in default_root().get_collection(GraphKeys.TRAIN_OP)):
            default_root().add_to_collection(GraphKeys.TRAIN_OP, train)
        return train.op if isinstance(train, Tensor) else train

    # -- slots --------------------------------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> AnyVariable | None:
        """Return what is kept for a variable under a name; None if nothing is."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """Return the names under which something is kept."""
        return sorted(self._slots)

    def variables(self) -> list[AnyVariable]:
        """Return what is kept, all of it."""
        kept = [one for slots in self._slots.values() for one in slots.values()]
        return sorted([*self._others, *kept], key=lambda variable: variable.name)

    def _slot(self, variable: AnyVariable, name: str) -> AnyVariable:
        return self._slots[name][variable]

    def _make_slot(self, variable: AnyVariable, name: str, value: float = 0.0) -> None:
        slots = self._slots.setdefault(name, {})
        if variable not in slots:
            shape: Any = variable.shape.as_list()
            first = ops.full(shape, convert_to_tensor(value, variable.dtype))
            slots[variable] = Variable(first, trainable=False, name=f"{variable.op.name}/{self._name}")

    # -- of each optimizer --------------------------------------------------------------------------------

    def _create_slots(self, changed: Sequence[AnyVariable]) -> None:
        """Make what is kept for variables."""

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        raise NotImplementedError

    def _finish(self, updates: list[Any]) -> list[Any]:
        """Return what is to be done, the updates among it."""
        return updates


def _number(value: Any, like: AnyVariable | Tensor) -> Tensor:
    """Return a setting, which may be a function that gives it, in the dtype of a variable."""
    given = value() if callable(value) and not isinstance(value, (Tensor, AnyVariable)) else value
    if not isinstance(given, (Tensor, AnyVariable)):
        return convert_to_tensor(given, like.dtype)
    tensor = convert_to_tensor(given)
    return tensor if tensor.dtype == like.dtype else ops.cast(tensor, like.dtype)


def _dense(gradient: Any) -> Tensor:
    return convert_to_tensor(gradient)


def _rows(gradient: Any) -> Callable[[Tensor, Any], Tensor]:
    """Return what puts changes where they belong: of slices only into the rows that these name."""
    if not isinstance(gradient, IndexedSlices):
        return lambda new, old: new
    count = ops.shape(_dense(gradient))[0]
    places = convert_to_tensor(gradient.indices)
    named = ops.scatter(ops.expand_dims(places, 1), ops.ones_like(places), [count]) > 0
    rank = _dense(gradient).shape.rank or 1
    mask = ops.reshape(named, [-1] + [1] * (rank - 1))
    return lambda new, old: ops.where(mask, new, convert_to_tensor(old))


class GradientDescentOptimizer(Optimizer):
    """Subtracts the gradient by the learning rate."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._rate = learning_rate

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        return variable.assign_sub(_dense(gradient) * _number(self._rate, variable))


class MomentumOptimizer(Optimizer):
    """Subtracts a sum of gradients that fades by ``momentum`` each step; with ``use_nesterov`` that of the next one."""

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._momentum, self._nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, changed: Sequence[AnyVariable]) -> None:
        for variable in changed:
            self._make_slot(variable, "momentum")

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        slot, put, g = self._slot(variable, "momentum"), _rows(gradient), _dense(gradient)
        rate, momentum = _number(self._rate, variable), _number(self._momentum, variable)
        before = slot.read_value()
        total = before * momentum + g
        step = g * rate + total * momentum * rate if self._nesterov else total * rate
        kept = slot.assign(put(total, before))
        return group(kept, variable.assign_sub(put(step, ops.zeros_like(step))))


class AdagradOptimizer(Optimizer):
    """Subtracts gradients by the root of the sum of their squares so far."""

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:  # fmt: skip
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value} [AL908]")
        super().__init__(use_locking, name)
        self._rate, self._first = learning_rate, initial_accumulator_value

    def _create_slots(self, changed: Sequence[AnyVariable]) -> None:
        for variable in changed:
            self._make_slot(variable, "accumulator", self._first)

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        g = _dense(gradient)
        total = self._slot(variable, "accumulator").assign_add(ops.square(g))
        return variable.assign_sub(g * _number(self._rate, variable) * ops.rsqrt(total))


class RMSPropOptimizer(Optimizer):
    """Subtracts gradients by the root of a mean of their squares that fades by ``decay``; with ``centered`` by that of
    their variance."""

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, changed: Sequence[AnyVariable]) -> None:
        for variable in changed:
            self._make_slot(variable, "rms", 1.0)
            if self._centered:
                self._make_slot(variable, "mg")
            self._make_slot(variable, "momentum")

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        put, g = _rows(gradient), _dense(gradient)
        given = (self._rate, self._decay, self._momentum, self._epsilon)
        rate, decay, momentum, epsilon = (_number(value, variable) for value in given)
        squares, speed = self._slot(variable, "rms"), self._slot(variable, "momentum")
        before, moving = squares.read_value(), speed.read_value()
        mean = before + (ops.square(g) - before) * (1 - decay)
        kept, below = [squares.assign(put(mean, before))], mean
        if self._centered:
            center = self._slot(variable, "mg")
            old = center.read_value()
            new = old + (g - old) * (1 - decay)
            kept.append(center.assign(put(new, old)))
            below = mean - ops.square(new)
        step = moving * momentum + g * rate * ops.rsqrt(below + epsilon)
        kept.append(speed.assign(put(step, moving)))
        return group(*kept, variable.assign_sub(put(step, ops.zeros_like(step))))


class AdamOptimizer(Optimizer):
    """Subtracts a mean of gradients by the root of a mean of their squares (D. Kingma and J. Ba, 2015)."""

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08,
        use_locking: bool = False, name: str = "Adam", use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._rate, self._betas, self._epsilon = learning_rate, (beta1, beta2), epsilon
        self._prefix = f"{name}/" if use_own_namescope_for_non_slot_vars else ""

    def _create_slots(self, changed: Sequence[AnyVariable]) -> None:
        if not self._others:
            first = min(changed, key=lambda variable: variable.name)
            powers = zip(("beta1_power", "beta2_power"), self._betas)
            self._others = [Variable(_number(beta, first), trainable=False, name=self._prefix + name)
                            for name, beta in powers]  # fmt: skip
        for variable in changed:
            self._make_slot(variable, "m")
            self._make_slot(variable, "v")

    def _update(self, gradient: Any, variable: AnyVariable) -> Any:
        g = _dense(gradient)
        beta1, beta2, rate, epsilon = (_number(v, variable) for v in (*self._betas, self._rate, self._epsilon))
        power1, power2 = (_number(power, variable) for power in self._others)
        alpha = rate * ops.sqrt(1 - power2) / (1 - power1)
        mean, square = self._slot(variable, "m").read_value(), self._slot(variable, "v").read_value()
        m = self._slot(variable, "m").assign(mean + (g - mean) * (1 - beta1))
        v = self._slot(variable, "v").assign(square + (ops.square(g) - square) * (1 - beta2))
        return variable.assign_sub(m * alpha / (ops.sqrt(v) + epsilon))

    def _finish(self, updates: list[Any]) -> list[Any]:
        # every variable is changed by the powers as they were
        with get_default_graph().control_dependencies(updates):
            return [
                *updates,
                *[power.assign(power * _number(beta, power)) for power, beta in zip(self._others, self._betas)],
            ]
