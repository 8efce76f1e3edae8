"""The page of the names of 1.x says what there is; what is not there says where to look."""

from __future__ import annotations

import copy
import json

import autoloop.compat.v1 as tf
import pytest
from api import ops
from autoloop.compat import same_names
from names_of_1x import PAGE, STORED, rendered


def test_the_page_is_that_of_the_namespace():
    assert PAGE.read_text() == rendered(), "python tests/compat/names_of_1x.py writes it"


def test_what_is_not_there_says_where_to_look():
    theirs = json.loads(STORED.read_text())["names"]
    missing = [name for name in theirs if "." not in name and not hasattr(tf, name)]
    assert len(missing) > 300
    for name in missing[::40]:
        with pytest.raises(AttributeError, match=rf"no attribute '{name}': .*names-of-1\.x\.md"):
            getattr(tf, name)
    with pytest.raises(AttributeError, match="v1.nn' has no attribute 'dynamic_rnn': write the step"):
        tf.nn.dynamic_rnn  # noqa: B018
    with pytest.raises(AttributeError, match="MonitoredTrainingSession.*Saver"):
        tf.train.MonitoredTrainingSession  # noqa: B018
    for names, name, words in (
        (tf.summary, "scalar", "'autoloop.compat.v1.summary'.*fetch the values"), (tf, "errors", "Python's own"),
        (tf.initializers, "identity", r"v1.initializers.*names-of-1\.x\.md"), (tf.random, "gamma", "v1.random"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=words):
            getattr(names, name)
    assert dir(tf.summary) == ["FileWriter"] and copy.deepcopy(tf.random).normal is tf.random_normal
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(AttributeError, match="feed their values"):
        sess.partial_run  # noqa: B018
    assert not hasattr(tf, "__path__")


def test_what_is_the_same_is_told_to_checkers():
    told = {name: f for name, f in vars(same_names).items() if name[0] != "_" and name != "ops"}
    there = {*ops.__all__, *ops.ALIASES} - {"ALIASES"}
    assert told.keys() <= there <= {*tf.__all__}
    others = there - told.keys()  # which stand in the rooms of 1.x
    assert all(getattr(tf, name).__module__.startswith("autoloop.compat") for name in others - {"random"})
    for name, f in told.items():
        assert f is getattr(ops, ops.ALIASES.get(name, name))
        assert getattr(getattr(tf, name), "__wrapped__", f) is f


def test_what_is_listed_is_what_there_is():
    assert set(tf.__all__) == set(dir(tf))
