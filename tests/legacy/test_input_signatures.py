"""A `tf.function` with an `input_signature`: TensorFlow 2.2 took any name for a method's object."""

from __future__ import annotations

import pytest
import tensorflow as tf

import parallel_compat

SIGNATURE = [tf.TensorSpec([None], tf.float32)]


def test_the_object_of_a_method_has_any_name(tmp_path):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):

        class Scaled(tf.Module):
            def __init__(this):
                this.by = tf.Variable(2.0)

            @tf.function(input_signature=SIGNATURE)
            def times(this, x):
                return this.by * x

            @tf.function(input_signature=SIGNATURE)
            def plus(this, x, other=1.0):
                return this.by + x + other

        scaled = Scaled()
        assert scaled.times([1.0, 3.0]).numpy().tolist() == [2, 6]
        assert scaled.plus([1.0]).numpy().tolist() == [4]
        tf.saved_model.save(scaled, str(tmp_path))
        assert tf.saved_model.load(str(tmp_path)).times(tf.constant([4.0])).numpy().tolist() == [8]
        with pytest.raises(TypeError, match="missing type constraint"):
            tf.function(lambda x, y: x + y, input_signature=SIGNATURE)


def test_what_does_not_fit_is_an_error_of_both_times():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        double, whole = tf.function(lambda x: 2 * x, input_signature=SIGNATURE), tf.function(lambda x: 2 * x)
        for given in ([tf.ones([2, 2])], [tf.ones([2], tf.float64)], ["two"], []):
            with pytest.raises(ValueError, match="Binding inputs") as caught:
                double(*given)
            assert isinstance(caught.value, TypeError)
        with pytest.raises(TypeError) as caught:
            whole()
        assert not isinstance(caught.value, ValueError)
