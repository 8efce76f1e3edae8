"""Whole programs of 1.x, which give what they compute; and what TensorFlow makes of them, in ``figures_of_1x.json``.

Where TensorFlow is installed, ``python tests/compat/programs_of_1x.py`` writes those figures anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np


def linear_regression(tf):
    rng = np.random.RandomState(0)
    xs = rng.randn(20, 3).astype(np.float32)
    ys = xs @ np.float32([1.0, -2.0, 0.5]) + np.float32(0.3)
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    b = tf.Variable(0.0, name="b")
    out = tf.squeeze(tf.matmul(x, w), axis=1) + b
    loss = tf.reduce_mean(tf.square(out - y))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.2, step, 5, 0.9, staircase=True)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        losses = [s.run([train, loss], {x: xs, y: ys})[1] for _ in range(12)]
        return {
            "w": s.run(w),
            "b": s.run(b),
            "losses": np.array(losses),
            "step": s.run(step),
            "rate": s.run(rate),
        }


def mlp(tf, make=None, steps=8):
    rng = np.random.RandomState(1)
    xs = rng.randn(12, 4).astype(np.float32)
    ys = rng.randint(0, 3, 12)
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.int32, [None])

    def dense(v, n, name):
        with tf.variable_scope(name):
            w = tf.get_variable("w", [int(v.shape[1]), n], initializer=tf.glorot_uniform_initializer(seed=3))
            b = tf.get_variable("b", [n], initializer=tf.constant_initializer(0.1))
            return tf.nn.xw_plus_b(v, w, b)

    logits = dense(tf.nn.relu(dense(x, 5, "one")), 3, "two")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    opt = (make or (lambda tf: tf.train.AdamOptimizer(0.05)))(tf)
    train = opt.minimize(loss)
    right = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 1), tf.float32))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(steps):
            s.run(train, {x: xs, y: ys})
        out = {v.op.name: s.run(v) for v in tf.global_variables()}
        out["loss"], out["right"] = s.run([loss, right], {x: xs, y: ys})
        return out


def rnn(tf):
    T = 5
    x = tf.constant(np.linspace(-1, 1, T * 2 * 3).reshape(T, 2, 3).astype(np.float32))
    with tf.variable_scope("cell", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=7)):
        wx = tf.get_variable("wx", [3, 4])
        wh = tf.get_variable("wh", [4, 4])
    _, h = tf.while_loop(
        lambda t, h: t < T,
        lambda t, h: (t + 1, tf.tanh(tf.matmul(x[t], wx) + tf.matmul(h, wh))),
        [tf.constant(0), tf.zeros([2, 4])],
    )
    loss = tf.nn.l2_loss(h - 0.5)
    vs = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, vs), 0.7)
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(zip(grads, vs))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(6):
            s.run(train)
        return {"loss": s.run(loss), "norm": s.run(norm), "wx": s.run(wx), "wh": s.run(wh)}


def scopes(tf):
    def layer(x):
        w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([1.0, 2.0, 3.0, 4.0]))
        return tf.matmul(x, w, name="product")

    x = tf.ones([1, 2])
    with tf.variable_scope("a") as a:
        y = layer(x)
    with tf.variable_scope(a, reuse=True):
        z = layer(y)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        u = layer(z)
    with tf.variable_scope(None, default_name="b"):
        t = layer(u)
    with tf.variable_scope(None, default_name="b"):
        with tf.variable_scope("c"):
            t = layer(t)
            tf.Variable(2.0, name="q")
    with tf.name_scope("n") as n:
        m = tf.add(t, 1, name="m")
        tf.get_variable("plain", [], initializer=tf.ones_initializer())
    names = [v.name for v in tf.global_variables()] + [y.name, z.name, u.name, t.name, m.name, n]
    errors = []
    for f in (
        lambda: tf.get_variable("plain", []),
        lambda: tf.get_variable("w2"),
        lambda: tf.variable_scope(None).__enter__(),
        lambda: tf.get_variable("s", [2], initializer=tf.constant([1.0, 2.0])),
    ):
        try:
            f()
            errors.append("")
        except Exception as e:
            errors.append(type(e).__name__)
    with tf.variable_scope("a", reuse=True):
        for k in ({"shape": [3]}, {"shape": [2, 2], "dtype": tf.int32}):
            try:
                tf.get_variable("w", **k)
                errors.append("")
            except Exception as e:
                errors.append(type(e).__name__)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        return {"names": names, "errors": errors, "m": s.run(m)}


def collections(tf):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=lambda v: tf.nn.l2_loss(v) * 0.1)
    local = tf.Variable(3.0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="count")
    tf.add_to_collection("mine", w)
    tf.add_to_collections(["mine", "losses"], tf.constant(2.0, name="two"))
    total = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) + tf.get_collection("losses"))
    with tf.Session() as s:
        missing = s.run(tf.report_uninitialized_variables())
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return {
            "missing": sorted(m.decode() for m in missing),
            "total": s.run(total),
            "local": s.run(local),
            "names": [v.name for v in tf.get_collection("mine")],
            "scoped": [v.name for v in tf.get_collection("mine", scope="w")],
            "trainable": [v.name for v in tf.trainable_variables()],
            "locals": [v.name for v in tf.local_variables()],
            "is": s.run(tf.is_variable_initialized(w)),
        }


def beam_search(tf):
    beam, length, words = 3, 5, 6
    rng = np.random.RandomState(3)
    table = tf.constant(np.log(rng.dirichlet(np.ones(words), words)).astype(np.float32))

    def step(i, scores, paths):
        last = paths[:, i]
        all_scores = tf.expand_dims(scores, 1) + tf.gather(table, last)
        best, where = tf.nn.top_k(tf.reshape(all_scores, [-1]), k=beam)
        parents, word = where // words, where % words
        chosen = tf.gather(paths, parents)
        mask = tf.one_hot(i + 1, length + 1, on_value=1, off_value=0, dtype=tf.int32)
        return i + 1, best, chosen * (1 - mask) + tf.expand_dims(word, 1) * mask

    start = tf.constant([0.0] + [-1e9] * (beam - 1))
    _, scores, paths = tf.while_loop(
        lambda i, *_: i < length, step, (tf.constant(0), start, tf.zeros([beam, length + 1], tf.int32))
    )
    with tf.Session() as s:
        return dict(zip(("scores", "paths"), s.run([scores, paths])))


def scatters(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    m = tf.Variable(tf.reshape(tf.range(6), [3, 2]))
    out = {}
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for name, args in (
            ("add", ([0, 0, 2], [1.0, 2.0, 3.0])),
            ("sub", ([1], [5.0])),
            ("mul", ([2, 3], [2.0, 3.0])),
            ("div", ([0], [2.0])),
            ("update", ([3], [9.0])),
            ("max", ([0, 1], [5.0, -9.0])),
            ("min", ([0, 1], [4.0, -9.0])),
        ):
            out[name] = s.run(getattr(tf, "scatter_" + name)(v, *args))
        out["rows"] = s.run(tf.scatter_add(m, [1, 1], [[1, 2], [3, 4]]))
        out["scalar"] = s.run(tf.scatter_update(m, [0], 7))
        out["nd"] = s.run(tf.scatter_nd_add(v, [[1], [3]], [1.0, 1.0]))
        out["div int"] = s.run(tf.scatter_div(m, [2], [[-3, 2]]))
        out["assign"] = s.run(tf.assign_add(v, [1.0, 1.0, 1.0, 1.0]))
        v.load([0.0, 0.0, 0.0, 1.0], s)
        out["load"] = s.run(v)
    return out


def _rates(tf):
    step = tf.constant(7)
    return dict(
        exp=tf.train.exponential_decay(0.1, step, 3, 0.5),
        expst=tf.train.exponential_decay(0.1, step, 3, 0.5, True),
        nat=tf.train.natural_exp_decay(0.1, step, 3, 0.5),
        inv=tf.train.inverse_time_decay(0.1, step, 3, 0.5),
        poly=tf.train.polynomial_decay(0.1, step, 10, 0.01, 2.0),
        cyc=tf.train.polynomial_decay(0.1, step, 5, 0.01, cycle=True),
        cos=tf.train.cosine_decay(0.1, step, 10, 0.1),
        piece=tf.train.piecewise_constant(step, [5, 7, 9], [1.0, 0.5, 0.2, 0.1]),
    )


def _random(tf, x):
    return {
        "clip_norm1": tf.clip_by_norm(x, 3.0, axes=[1]),
        "avg": tf.clip_by_average_norm(x, 0.1),
        "clip": tf.clip_by_value(x, -1, 2),
        "uniform": tf.random_uniform([3], seed=1),
        "normal": tf.random_normal([3], 1.0, 2.0, seed=1),
        "trunc": tf.truncated_normal([2, 3], seed=2),
        "ints": tf.random_uniform([4], 3, 9, tf.int32, seed=2),
        "shuffle": tf.random_shuffle(tf.range(6), seed=1),
        "xavier": tf.glorot_normal_initializer(seed=4)([3, 2]),
        "vs": tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=4)([3, 2]),
        "hessian": tf.hessians(tf.reduce_sum(x**3) + x[0, 1] * x[0, 3], x)[0],
        "seqmask": tf.sequence_mask([1, 0, 3]),
        "checked": tf.check_numerics(x, "bad"),
        "bn": tf.nn.batch_normalization(x, *[tf.constant([c] * 5) for c in (1.0, 2.0, 0.5, 3.0)], 1e-3),
    }


def numbers(tf):
    x = tf.constant([[-2.0, -1.0, 0.0, 1.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    nn = tf.nn
    z = tf.constant([[0.0, 1.0, 0.0, 1.0, 1.0], [0.0, 0.2, 0.3, 0.1, 0.4]])
    t = {
        "relu": nn.relu(x),
        "relu6": nn.relu6(x),
        "elu": nn.elu(x),
        "selu": nn.selu(x),
        "leaky": nn.leaky_relu(x),
        "softplus": nn.softplus(x),
        "softsign": nn.softsign(x),
        "softmax": nn.softmax(x),
        "softmax0": nn.softmax(x, axis=0),
        "log_softmax": nn.log_softmax(x),
        "sigmoid": nn.sigmoid(x),
        "tanh": nn.tanh(x),
        "dropout": nn.dropout(x, rate=0.4, seed=5),
        "keep": nn.dropout(x, 0.6, seed=5),
        "noise": nn.dropout(x, 0.6, noise_shape=[2, 1], seed=6),
        "sig": nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        "soft": nn.softmax_cross_entropy_with_logits_v2(labels=nn.softmax(z), logits=x),
        "soft1": nn.softmax_cross_entropy_with_logits(labels=nn.softmax(z), logits=x),
        "weighted": nn.weighted_cross_entropy_with_logits(z, x, 2.0),
        "sparse": nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 4], logits=x),
        "l2": nn.l2_loss(x),
        "l2n": nn.l2_normalize(x, 1),
        "l2n0": nn.l2_normalize(x, [0]),
        "zero": nn.zero_fraction(x),
        "bias": nn.bias_add(x, [1.0, 2.0, 3.0, 4.0, 5.0]),
        "emb": nn.embedding_lookup(x, [1, 0, 1]),
        "emb mod": nn.embedding_lookup([x, x[:1] + 10], [[0, 1], [2, 0]]),
        "emb div": nn.embedding_lookup([x, x + 10], [0, 3], partition_strategy="div"),
        "emb norm": nn.embedding_lookup(x, [1, 0], max_norm=1.0),
        "clip_norm": tf.clip_by_norm(x, 3.0),
        "gnorm": tf.global_norm([x, None, z]),
        **_random(tf, x),
        **_rates(tf),
    }
    t["mean"], t["var"] = nn.moments(x, [0])
    t["mk"], t["vk"] = nn.moments(x, [0, 1], keep_dims=True)
    t["top"], t["topi"] = nn.top_k(x, 2)
    t["ink"] = nn.in_top_k(x, [4, 1], 2)
    for n in "relu relu6 elu selu leaky softplus sig sparse soft l2n clip_norm weighted".split():
        t["d " + n] = tf.gradients(t[n], x)[0]
    with tf.Session() as s:
        return s.run(t)


def embedding(tf, make):
    table = tf.get_variable("table", [4, 2], initializer=tf.constant_initializer(np.arange(8) / 4))
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    train = make(tf).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for k in ([0, 1], [1, 1], [3, 0]):
            s.run(train, {ids: k})
        return {"table": s.run(table), **{v.op.name: s.run(v) for v in tf.global_variables()}}


OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "rms": lambda tf: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "centered": lambda tf: tf.train.RMSPropOptimizer(0.01, centered=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.05),
}
PROGRAMS = {
    "linear_regression": linear_regression,
    "mlp": mlp,
    "rnn": rnn,
    "scopes": scopes,
    "collections": collections,
    "beam_search": beam_search,
    "scatters": scatters,
    "numbers": numbers,
    **{f"mlp {k}": (lambda tf, f=f: mlp(tf, f, 2)) for k, f in OPTIMIZERS.items()},
    **{f"embedding {k}": (lambda tf, f=f: embedding(tf, f)) for k, f in OPTIMIZERS.items()},
}

FIGURES = Path(__file__).with_name("figures_of_1x.json")


def as_figures(value):
    """What a program gives, as JSON has it: numbers with the digits that their dtype tells apart."""
    if isinstance(value, (list, str)):
        return value
    array = np.asarray(value)
    digits = 8 if array.dtype == np.float32 else 17
    return [
        str(array.dtype),
        list(array.shape),
        [float(f"{x:.{digits}g}") if array.dtype.kind == "f" else x for x in array.ravel().tolist()],
    ]


def write():
    import importlib

    tensorflow = importlib.import_module("tensorflow")
    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    tf.disable_resource_variables()
    found = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default():
            found[name] = {key: as_figures(value) for key, value in program(tf).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found]
    version = json.dumps(f"TensorFlow {tensorflow.__version__}, NumPy {np.__version__}")
    FIGURES.write_text(f'{{"by": {version},\n' + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"wrote {FIGURES.name}\n")
