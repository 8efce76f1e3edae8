"""What ``compat.v1`` says of a mistake while the graph is built: types and words, TensorFlow's where it has some."""

from __future__ import annotations

import re

import autoloop.compat.v1 as tf
import pytest

EYE = [[1.0, 0.0], [0.0, 1.0]]


def _any(dtype=tf.float32):
    return tf.placeholder(dtype)


def _shared(**other):
    tf.get_variable("v", [2])
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", **other)


def _two_steps():
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(0))
    tf.train.get_global_step()


def _named_step(first):
    tf.Variable(first, name="global_step")
    tf.train.get_or_create_global_step()


def _sparse(labels, logits):
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def _saver():
    return tf.train.Saver([tf.Variable(1)])


ARRAYS = {
    "where-x": (lambda: tf.where([True], [1]), ValueError, "x and y must both be non-None or both be None."),
    "where-shapes": (lambda: tf.where([True], [1], [1, 2]), ValueError, "where: x has shape (1,), y has (2,)"),
    "where-rows": (
        lambda: tf.where([True], EYE, EYE), ValueError,
        "where: the condition of shape (1,) does not fit x of shape (2, 2)",
    ),
    "where-row": (
        lambda: tf.where([True, False], [EYE[0]], [EYE[1]]), ValueError, "the condition of shape (2,) does not fit x",
    ),
    "gather": (lambda: tf.gather([1, 2], [-1]), IndexError, "gather: index -1 is negative"),
    "expand_dims": (lambda: tf.expand_dims([1]), ValueError, "Must specify an axis argument to tf.expand_dims()"),
    "reverse": (lambda: tf.reverse([1], 0), ValueError, "reverse: the axes are a list, got 0"),
    "reverse-scalar": (lambda: tf.reverse([1], tf.constant(0)), ValueError, "reverse: the axes are a list"),
    "matmul-a": (
        lambda: tf.matmul(EYE, EYE, transpose_a=True, adjoint_a=True), ValueError,
        "Only one of transpose_a and adjoint_a can be True.",
    ),
    "matmul-b": (
        lambda: tf.matmul(EYE, EYE, transpose_b=True, adjoint_b=True), ValueError,
        "Only one of transpose_b and adjoint_b can be True.",
    ),
    "matmul-rank": (lambda: tf.matmul(EYE, [1.0]), ValueError, "Shape must be rank 2 but is rank 1"),
    "sort": (lambda: tf.sort([1], direction="UP"), ValueError, "direction must be 'ASCENDING' or 'DESCENDING'"),
    "pad": (lambda: tf.pad([1], [[1, 1]], "EDGE"), ValueError, "pad: mode must be 'CONSTANT', 'REFLECT' or"),
    "clip": (lambda: tf.clip_by_value([1.0], [[1.0]], 3.0), ValueError, "clip_by_value: bounds of shape (1, 1) and ()"),
    "constant": (
        lambda: tf.constant([1, 2], shape=[3], verify_shape=True), TypeError,
        "Expected Tensor's shape: (3,), got (2,).",
    ),
    "sequence_mask": (
        lambda: tf.sequence_mask([1], [3]), ValueError, "Argument `maxlen` must be scalar for sequence_mask, received",
    ),
    "norm-fro": (lambda: tf.norm([1.0], "fro"), ValueError, "norm: ord='fro' is of matrices: give two axes"),
    "norm-2": (lambda: tf.norm(EYE, 2, [0, 1]), ValueError, "norm: ord=2 of matrices is not there"),
    "reduce_all": (lambda: tf.reduce_all([1]), TypeError, "reduce_all: the input must be bool, got int32"),
}  # fmt: skip
STARTS = {
    "floats": (
        lambda: tf.random_normal_initializer(dtype=tf.int32), ValueError, "Expected floating point type, got int32.",
    ),
    "verify_shape": (
        lambda: tf.constant_initializer([1, 2], verify_shape=True)([3]), TypeError,
        "Expected Tensor's shape: (3,), got (2,).",
    ),
    "mode": (
        lambda: tf.variance_scaling_initializer(mode="fan"), ValueError,
        "Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: fan",
    ),
    "distribution": (
        lambda: tf.variance_scaling_initializer(distribution="gamma"), ValueError,
        "Argument `distribution` should be one of ('normal', 'uniform', ",
    ),
    "random_normal": (lambda: tf.random_normal([2], dtype=tf.int32), ValueError, "Invalid dtype int32 for random_n"),
    "share-shape": (
        lambda: _shared(shape=[3]), ValueError,
        "Trying to share variable v, but specified shape (3,) and found shape (2,).",
    ),
    "share-dtype": (
        lambda: _shared(dtype=tf.int32), ValueError,
        "Trying to share variable v, but specified dtype int32 and found dtype float32.",
    ),
    "scope-none": (
        lambda: tf.variable_scope(None), TypeError, "If default_name is None then name_or_scope is required",
    ),
    "scope-number": (
        lambda: tf.variable_scope(3), TypeError,
        "variable_scope: name_or_scope must be a string or VariableScope, not 3",
    ),
    "name_scope": (
        lambda: tf.name_scope("a", [1]), TypeError,
        "`default_name` type (<class 'list'>) is not a string type. You likely meant to pass this into the `values`",
    ),
    "value-and-shape": (
        lambda: tf.get_variable("v", [2], initializer=tf.ones([2])), ValueError,
        "If initializer is a constant, do not specify shape.",
    ),
}  # fmt: skip
NETWORKS = {
    "labels": (
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0]), ValueError,
        "Both `labels` and `logits` must be provided. Received: labels=[1.0] and logits=None",
    ),
    "sparse-rank": (
        lambda: _sparse([[1]], EYE), ValueError,
        "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=(1, 1) of rank 2",
    ),
    "sparse-scalar": (lambda: _sparse(1, 1.0), ValueError, "`logits` cannot be a scalar. Received logits=1.0 [AL906]"),
    "dropout": (lambda: tf.nn.dropout([1.0]), ValueError, "You must provide a rate to dropout."),
    "dropout-int": (
        lambda: tf.nn.dropout([1], rate=0.5), ValueError,
        "x has to be a floating point tensor since it's going to be scaled. Got a int32 tensor instead.",
    ),
    "dropout-rate": (
        lambda: tf.nn.dropout([1.0], rate=tf.constant(0.5, tf.float64)), ValueError,
        "rate has dtype float64, x has float32",
    ),
    "embedding": (
        lambda: tf.nn.embedding_lookup([], [0]), ValueError,
        "Argument `params` should not be empty. Received: params=[]",
    ),
    "embedding-norm": (
        lambda: tf.nn.embedding_lookup(_any(), [0], max_norm=1.0), ValueError,
        "embedding_lookup: max_norm needs tables and ids of known rank",
    ),
    "bias-format": (
        lambda: tf.nn.bias_add(EYE, [1.0, 1.0], "CN"), ValueError,
        "`data_format` must be of the form `N...C` or `NC...`. Received: data_format=CN",
    ),
    "bias-rank": (
        lambda: tf.nn.bias_add(EYE, EYE), ValueError, "bias_add: the bias has shape (2, 2), it must be a vector",
    ),
}  # fmt: skip
CLAIMS = {
    "rank": (lambda: tf.assert_rank([1], 2), ValueError, "Tensor must have rank 2, got rank 1 and shape (1,)"),
    "rank-least": (lambda: tf.assert_rank_at_least([1], 2), ValueError, "Tensor must have rank at least 2, got rank 1"),
    "rank-in": (lambda: tf.assert_rank_in([1], [0, 2]), ValueError, "Tensor must have a rank in (0, 2), got rank 1"),
    "rank-float": (lambda: tf.assert_rank([1], 1.5), TypeError, "assert_rank: a rank is an integer that is known"),
    "scalar": (lambda: tf.assert_scalar([1], message="mine"), ValueError, "mine Expected scalar shape, saw shape: "),
    "type": (lambda: tf.assert_type([1], float), TypeError, "tensor must be of type float64; got int32"),
    "integer": (lambda: tf.assert_integer([1.0]), TypeError, 'Expected "x" to be integer type.  Found: float32'),
    "iterable": (
        lambda: tf.assert_proper_iterable("abc"), TypeError,
        'Expected argument "values" to be a "proper" iterable.  Found: ',
    ),
    "iterable-sparse": (
        lambda: tf.assert_proper_iterable(tf.SparseTensor([[0]], [1], [2])), TypeError, "SparseTensor'>",
    ),
    "equal": (lambda: tf.assert_equal([1], [2]), AssertionError, "Condition x == y did not hold. x = [1] y = [2]"),
}  # fmt: skip
TRAINING = {
    "unconnected": (
        lambda: tf.gradients(_any(), _any(), unconnected_gradients="nothing"), ValueError,
        "Unknown value for unconnected_gradients: 'nothing'",
    ),
    "cond-bool": (lambda: tf.cond(True, lambda: 1, lambda: 2), TypeError, "pred must not be a Python bool"),
    "cond-false": (lambda: tf.cond(_any() > 0, lambda: 1), TypeError, "cond(): 'false_fn' argument required"),
    "hessians": (
        lambda: tf.hessians(tf.constant(1.0), _any()), ValueError, "hessians: no path leads from one of xs to ys",
    ),
    "steps": (_two_steps, TypeError, "Multiple tensors in global_step collection."),
    "step-twice": (
        lambda: [tf.train.create_global_step() for _ in range(2)], ValueError, '"global_step" already exists.',
    ),
    "step-float": (
        lambda: _named_step(1.0), TypeError, 'Existing "global_step" does not have integer type: float32',
    ),
    "step-axes": (lambda: _named_step([1]), ValueError, 'Existing "global_step" is not scalar: it has shape (1,)'),
    "no-step": (
        lambda: tf.train.exponential_decay(0.1, None, 1, 0.5), ValueError,
        "global_step is required for exponential_decay. [AL908]",
    ),
    "boundaries": (
        lambda: tf.train.piecewise_constant(1, [1], [0.1]), ValueError,
        "The length of boundaries should be 1 less than the length of values [AL908]",
    ),
    "no-variables": (lambda: tf.train.AdamOptimizer().apply_gradients([]), ValueError, "No variables provided."),
    "no-variable": (
        lambda: tf.train.AdamOptimizer().compute_gradients(_any(), [_any()]), TypeError,
        "Argument is not a variable: <Tensor",
    ),
    "adagrad": (
        lambda: tf.train.AdagradOptimizer(0.1, 0.0), ValueError, "initial_accumulator_value must be positive: 0.0",
    ),
    "save-tensor": (
        lambda: tf.train.Saver([_any()]), TypeError, "Variable to save is not a Variable: <Tensor",
    ),
    "save-number": (lambda: tf.train.Saver([3]), TypeError, "Variable to save is not a Variable: 3"),
    "restore-none": (
        lambda: _saver().restore(tf.Session(), None), ValueError, "Can't load save_path when it is None.",
    ),
    "save-nowhere": (
        lambda: _saver().save(tf.Session(), "no/such/folder"), ValueError,
        "Parent directory of no/such/folder doesn't exist, can't save.",
    ),
}  # fmt: skip
ROWS = {**ARRAYS, **STARTS, **NETWORKS, **CLAIMS, **TRAINING}


@pytest.mark.parametrize(("mistake", "error", "words"), ROWS.values(), ids=ROWS)
def test_a_mistake_is_said(mistake, error, words):
    assert len(ROWS) == sum(map(len, (ARRAYS, STARTS, NETWORKS, CLAIMS, TRAINING)))
    with tf.Graph().as_default(), pytest.raises(error, match=re.escape(words)) as raised:
        mistake()
    assert raised.type is error and re.search(r" \[AL\d{3}\]$", str(raised.value))
