"""Variables are saved and restored, the newest files are kept, and what is damaged is refused."""

from __future__ import annotations

import os

import autoloop.compat.v1 as tf
import numpy as np
import pytest


def _variables():
    w = tf.get_variable("w", [2, 3], initializer=tf.random_normal_initializer(seed=1))
    with tf.variable_scope("deep"):
        n = tf.get_variable("n", [], tf.int64, initializer=tf.zeros_initializer())
    return w, n


def test_a_round_trip_and_the_newest_files(tmp_path):
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        w, n = _variables()
        saver = tf.train.Saver(max_to_keep=2)
        sess.run(tf.global_variables_initializer())
        assert tf.train.latest_checkpoint(str(tmp_path)) is None
        paths = []
        for step in range(3):
            n.load(step, sess)
            paths.append(saver.save(sess, prefix, global_step=n if step else 0))
        assert paths == [f"{prefix}-{k}" for k in range(3)] and saver.last_checkpoints == paths[1:]
        kept = sess.run(w)
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[2]
    assert [tf.train.checkpoint_exists(p) for p in paths] == [False, True, True]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.all_model_checkpoint_paths == paths[1:]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-1.variables", "model-2.variables"]
    moved = tmp_path.rename(tmp_path.with_name("moved"))  # paths are relative to the folder
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        w, n = _variables()
        saver = tf.train.Saver()
        graph.finalize()
        saver.restore(sess, tf.train.latest_checkpoint(str(moved)))
        np.testing.assert_array_equal(sess.run(w), kept)
        assert sess.run(n) == 2 and sess.run(n).dtype == np.int64
        saver.restore(sess, str(moved / "model-1"))
        assert sess.run(n) == 1


def test_names_of_a_mapping_and_what_does_not_fit(tmp_path):
    path = str(tmp_path / "some")
    with tf.Graph().as_default(), tf.Session() as sess:
        w, n = _variables()
        sess.run(tf.global_variables_initializer())
        assert tf.train.Saver({"other": w}).save(sess, path, write_state=False) == path
        assert os.listdir(tmp_path) == ["some.variables"]
        with pytest.raises(KeyError, match="Key w not found in checkpoint"):
            tf.train.Saver([w]).restore(sess, path)
        with pytest.raises(ValueError, match=r"int64, float32 was saved \[AL909\]"):
            tf.train.Saver({"other": n}).restore(sess, path)
        small = tf.Variable([0.0, 0.0])
        with pytest.raises(ValueError, match="shape"):
            tf.train.Saver({"other": small}).restore(sess, path)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            tf.train.Saver([w]).restore(sess, path + "-1")
        with pytest.raises(ValueError, match="same name"):
            tf.train.Saver([w, w])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()


def test_files_that_are_damaged_or_lie_are_refused(tmp_path):
    path = str(tmp_path / "model")
    file = tmp_path / "model.variables"
    with tf.Graph().as_default(), tf.Session() as sess:
        w, _ = _variables()
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        saver.save(sess, path)
        before, good = sess.run(w), file.read_bytes()
        changed = bytearray(good)
        changed[-1] ^= 1
        for data, words in (
            (bytes(changed), "damaged: the bytes of"), (good[:-1], "damaged: a value is longer than the file"),
            (good[:30], "not a file of variables"), (b"", "not a file of variables"),
            (b"PK" + good, "not a file of variables"), (good.replace(b"{", b"["), "damaged: "),
            (good.replace(b"[2, 3]", b"[2, 9]"), "damaged: a value is longer"),
            (good.replace(b'"f4"', b'"O8"'), "damaged: the table is not understood"),
            (good.replace(b"[2, 3]", b"[-2,3]"), "damaged: the table is not understood"),
        ):  # fmt: skip
            file.write_bytes(data)
            with pytest.raises(ValueError, match=rf"{words}[^\[]* \[AL909\]$"):
                saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(w), before)
        file.write_bytes(good)
        saver.restore(sess, path)


def test_what_was_there_stays_if_writing_fails(tmp_path, monkeypatch):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        _variables()
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        saver.save(sess, path)
        before = (tmp_path / "model.variables").read_bytes()

        def full(*_):
            raise OSError("no space left")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space"):
            saver.save(sess, path)
    assert (tmp_path / "model.variables").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model.variables"]
