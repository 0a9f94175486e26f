# `migrate --to native` copies from here what a project needs; this package itself imports none of it.
from __future__ import annotations

import collections.abc
import functools
import itertools
import os
import shutil
import tempfile
import warnings

import h5py
import keras
import numpy as np
import tensorflow as tf
from keras import ops


@keras.saving.register_keras_serializable("legacy_numerics")
def hard_sigmoid(x):
    """clip(0.2 x + 0.5, 0, 1), the `hard_sigmoid` of Keras 1 and 2; Keras 3's is clip(x / 6 + 0.5, 0, 1)."""
    return ops.clip(0.2 * ops.convert_to_tensor(x) + 0.5, 0.0, 1.0)


@keras.saving.register_keras_serializable("legacy_numerics")
def cosine_proximity(y_true, y_pred):
    """Minus the cosine, as loss and metric `cosine_proximity` of Keras 2; Keras 3's metric has the other sign."""
    return -ops.sum(ops.normalize(y_true, axis=-1) * ops.normalize(y_pred, axis=-1), axis=-1)


def batch_dot(x, y, axes=None):
    """`K.batch_dot` of Keras 2.2.4: a product of the matrices in the last two axes; all others are the batch's."""
    pair = (len(x.shape) - 1, len(y.shape) - 2) if axes is None else (axes, axes) if isinstance(axes, int) else axes
    x_axis, y_axis = pair[0] % len(x.shape), pair[1] % len(y.shape)
    more = len(x.shape) - len(y.shape)
    first = len(x.shape) + len(y.shape) - 3 if more > 0 else len(x.shape) - 1
    for _ in range(more):
        y = ops.expand_dims(y, -1)
    for _ in range(-more):
        x = ops.expand_dims(x, -1)
    last = len(x.shape) - 1
    if last == 1:
        product = ops.sum((x if x_axis == y_axis else ops.transpose(x)) * y, axis=y_axis)
    else:
        x = x if x_axis == last else ops.swapaxes(x, -1, -2)
        y = ops.swapaxes(y, -1, -2) if y_axis == last else y
        product = ops.matmul(x, y)
    if more:
        product = ops.squeeze(product, axis=tuple(range(first, first + abs(more))))
    return ops.expand_dims(product, 1) if len(product.shape) == 1 else product


def batch_flatten(x):
    """`K.batch_flatten` of Keras 2: a matrix with a line for each sample."""
    return ops.reshape(x, (ops.shape(x)[0], -1))


def with_decay(optimizer, decay):
    """Give an optimizer the `decay=` of Keras 1 and 2: steps of learning_rate / (1 + decay * iterations).

    `keras.optimizers.schedules.InverseTimeDecay` has the same formula, but a rate that callbacks cannot set. A model
    that is loaded from a file comes without the decay: compile it again to train on.
    """
    step = optimizer.update_step

    def decayed_step(gradient, variable, learning_rate):
        iterations = ops.cast(optimizer.iterations, learning_rate.dtype)
        return step(gradient, variable, learning_rate / (1.0 + decay * iterations))

    optimizer.update_step = decayed_step
    return optimizer


def for_one_compile(optimizer):
    """A copy of an optimizer, for one model: in Keras 2 one could be compiled into several, which had moments each.

    The learning rate and the count of steps, which were common, are each model's own: set the rate of each.
    """
    if isinstance(optimizer, keras.optimizers.Optimizer):
        return type(optimizer).from_config(optimizer.get_config())
    return optimizer


def settle_trainable(model):
    """Let a compiled model train what is trainable now, whatever is frozen later, until it gets another optimizer.

    Keras 2 settled that in `compile`; Keras 3 looks at `trainable` when the first batch comes.
    """

    def flags(layer):  # the outer ones first: setting one sets those inside
        return [(layer, layer.trainable), *(pair for each in getattr(layer, "layers", ()) for pair in flags(each))]

    def set_flags(pairs):
        for layer, trainable in pairs:
            layer.trainable = trainable

    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or getattr(vars(model).get("train_step"), "optimizer", None) is optimizer:
        return  # not compiled, or settled since it was

    step, settled = functools.partial(type(model).train_step, model), flags(model)
    if model.built:
        optimizer.build(model.trainable_variables)

    def train_step(*given):
        now = flags(model)
        try:
            if model.optimizer is optimizer:
                set_flags(settled)
            return step(*given)
        finally:
            set_flags(now)

    train_step.optimizer = optimizer
    model.train_step = train_step


_made = {}


def made_once(make):
    """Make a network once for the same arguments, also while a step is traced: TensorFlow makes no variables there."""

    @functools.wraps(make)
    def made(*args, **kwargs):
        key = f"{make.__module__}.{make.__qualname__} {args} {kwargs}"
        if key not in _made:
            with tf.init_scope():
                _made[key] = make(*args, **kwargs)
        return _made[key]

    return made


def metric_function(given):
    """A metric function that gets its targets as in Keras 2: floats, of shape (n, 1) for n numbers; or several."""
    if isinstance(given, (list, tuple)):
        return [metric_function(each) for each in given]
    if isinstance(given, dict):
        return {output: metric_function(each) for output, each in given.items()}
    function = getattr(keras.losses, given, given) if isinstance(given, str) else given
    if not callable(function) or isinstance(function, (type, keras.metrics.Metric)):
        return given

    @functools.wraps(function)
    def metric(y_true, y_pred):
        y_true = ops.cast(y_true, keras.config.floatx())
        return function(ops.expand_dims(y_true, -1) if len(y_true.shape) == 1 < len(y_pred.shape) else y_true, y_pred)

    return metric


def predict(model, x, batch_size=None, verbose=0, steps=None, callbacks=None):
    """`model.predict` of tf.keras, whose generators may yield arrays alone; Keras 3 takes tuples."""
    if isinstance(x, collections.abc.Generator):
        x = (batch if isinstance(batch, tuple) else (batch,) for batch in x)
    return model.predict(x, batch_size=batch_size, verbose=verbose, steps=steps, callbacks=callbacks)


def switch(condition, then_expression, else_expression):
    """`K.switch` of Keras 1 and 2: a number chooses the whole, a condition with fewer axes along the first axes."""
    condition = ops.cast(condition, "bool")
    if not condition.shape:
        branches = [each if callable(each) else lambda each=each: each for each in (then_expression, else_expression)]
        return ops.cond(condition, *branches)
    chosen, other = (each() if callable(each) else each for each in (then_expression, else_expression))
    for _ in range(len(chosen.shape) - len(condition.shape)):
        condition = ops.expand_dims(condition, -1)
    return ops.where(condition, chosen, other)


def in_train_phase(x, alt, training):
    """`K.in_train_phase` of Keras 1 and 2 for a `training` that is known: each may be a function that returns it."""
    chosen = x if training else alt
    return chosen() if callable(chosen) else chosen


class WholeGradients:
    """Adds up what a batch says of one row of an `Embedding` before an optimizer clips and squares it.

    Keras 1 and 2 did; Keras 3 squares each part by itself. It stands before a class of Keras among the bases.
    """

    def apply(self, grads, trainable_variables=None):
        super().apply([each if each is None else tf.convert_to_tensor(each) for each in grads], trainable_variables)


@keras.saving.register_keras_serializable("legacy_numerics")
class Adam(WholeGradients, keras.optimizers.Adam):
    """`Adam` for models with an `Embedding`, as in Keras 1 and 2."""


@keras.saving.register_keras_serializable("legacy_numerics")
class Adamax(WholeGradients, keras.optimizers.Adamax):
    """`Adamax` for models with an `Embedding`, as in Keras 1 and 2."""


@keras.saving.register_keras_serializable("legacy_numerics")
class Adadelta(WholeGradients, keras.optimizers.Adadelta):
    """`Adadelta` for models with an `Embedding`, as in Keras 1 and 2."""


@keras.saving.register_keras_serializable("legacy_numerics")
class RMSprop(WholeGradients, keras.optimizers.RMSprop):
    """`RMSprop` of Keras 1 and 2: `epsilon` is added to the root; Keras 3 adds it under the root."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.momentum or self.centered:
            raise ValueError(
                "Expected no `momentum`, not `centered`: `keras.optimizers.RMSprop` computes them as before."
            )

    def build(self, variables):
        if not self.built:
            keras.optimizers.Optimizer.build(self, variables)
            self.squares = self.add_optimizer_variables(variables, "velocity")

    def update_step(self, gradient, variable, learning_rate):
        square = self.squares[self._get_variable_index(variable)]
        self.assign(square, self.rho * square + (1.0 - self.rho) * ops.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / (ops.sqrt(square) + self.epsilon))


@keras.saving.register_keras_serializable("legacy_numerics")
class Adagrad(WholeGradients, keras.optimizers.Adagrad):
    """`Adagrad` of Keras 1 and 2: `epsilon` is added to the root; Keras 3 adds it under the root."""

    def build(self, variables):
        if not self.built:
            keras.optimizers.Optimizer.build(self, variables)
            start = keras.initializers.Constant(self.initial_accumulator_value)
            self.squares = self.add_optimizer_variables(variables, "accumulator", initializer=start)

    def update_step(self, gradient, variable, learning_rate):
        square = self.squares[self._get_variable_index(variable)]
        self.assign_add(square, ops.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / (ops.sqrt(square) + self.epsilon))


@keras.saving.register_keras_serializable("legacy_numerics")
class Nadam(WholeGradients, keras.optimizers.Adam):
    """`Nadam` of Keras 1 and 2, whose momentum in step t is beta_1 * (1 - 0.5 * 0.96 ** (0.004 * t)).

    Keras 3's is beta_1 * (1 - 0.5 * 0.96 ** t).
    """

    def build(self, variables):
        if not self.built:
            keras.optimizers.Optimizer.build(self, variables)
            self.means, self.squares = self.add_optimizer_variables(variables, ["momentum", "velocity"])
            self.products = [
                self.add_variable((), initializer="ones", name=f"product_{number}")
                for number, _ in enumerate(variables)
            ]

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        mean, square, product = self.means[index], self.squares[index], self.products[index]
        step = ops.cast(self.iterations + 1, gradient.dtype)
        now, following = (self.beta_1 * (1.0 - 0.5 * 0.96 ** (0.004 * each)) for each in (step, step + 1.0))
        self.assign(product, product * now)
        self.assign(mean, self.beta_1 * mean + (1.0 - self.beta_1) * gradient)
        self.assign(square, self.beta_2 * square + (1.0 - self.beta_2) * ops.square(gradient))
        ahead = (1.0 - now) * gradient / (1.0 - product) + following * mean / (1.0 - product * following)
        root = ops.sqrt(square / (1.0 - self.beta_2**step))
        self.assign_sub(variable, learning_rate * ahead / (root + self.epsilon))


def all_batches(generator):
    """Every batch of a Python generator, in order, as a `tf.data.Dataset`; anything else is returned as it is.

    `fit(generator)` of Keras 3 takes no lists, and under a `tf.distribute` strategy it trains batches 0, 1, 6, 7, ...:
    it looks at the data through an iterator that it drops, with what that had read ahead. Here each iterator begins
    at the first batch, as long as no iterator has gone further than 64 batches.
    """
    if not isinstance(generator, collections.abc.Iterator):
        return generator

    def array(value):
        value = np.array(value)  # a copy: TensorFlow may write into what it is given
        return value.astype(keras.config.floatx()) if value.dtype == "float64" else value

    def part(value):
        if isinstance(value, dict):
            return {name: array(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return array(value[0]) if len(value) == 1 else tuple(array(each) for each in value)
        return array(value)

    def batch_of(given):
        given = given if isinstance(given, (list, tuple)) else (given,)
        return tuple(part(each) for each in given if each is not None)

    def spec(first, second):
        sizes = [size if size == other else None for size, other in zip(first.shape[1:], second.shape[1:], strict=True)]
        return tf.TensorSpec((None, *sizes), first.dtype)

    kept = [batch_of(each) for each in itertools.islice(generator, 2)]
    signature = tf.nest.map_structure(spec, kept[0], kept[-1])
    state = {"kept": kept}

    def batches():
        if state["kept"] is None:
            raise RuntimeError("Expected one pass over the generator. Received: a second one, after 64 batches.")
        for position in itertools.count():
            kept = state["kept"]
            if kept is not None and position < len(kept):
                yield kept[position]
                continue
            try:
                batch = batch_of(next(generator))
            except StopIteration:
                return
            if kept is not None:
                kept.append(batch)
                if len(kept) > 64:
                    state["kept"] = None
            yield batch

    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def save_weights(model, filepath, overwrite=True):
    """Write weights to a file of any name, in the layout of Keras 1 and 2, which `load_weights` reads from `.h5` names.

    Keras 3 itself writes weights to names that end in `.weights.h5` only.
    """
    if not overwrite and os.path.exists(filepath):
        raise FileExistsError(f"Expected no file of this name. Received: {filepath}")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(filepath))) as folder:
        temporary = os.path.join(folder, "weights.h5")
        with h5py.File(temporary, "w") as file:
            file.attrs["layer_names"] = [layer.name.encode() for layer in model.layers]
            for layer in model.layers:
                weights = [*layer.trainable_weights, *layer.non_trainable_weights]
                group = file.create_group(layer.name)
                group.attrs["weight_names"] = [f"{number}".encode() for number in range(len(weights))]
                for number, weight in enumerate(weights):
                    group[f"{number}"] = ops.convert_to_numpy(weight)
        os.replace(temporary, filepath)


def load_weights(model, filepath, by_name=False, skip_mismatch=False):
    """Read weights from a file of any name, in the layout of Keras 1 and 2 or in that of `.weights.h5`."""
    with h5py.File(filepath, "r") as file:
        of_keras_2 = "layer_names" in file.attrs or "model_weights" in file
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "model.h5" if of_keras_2 else "model.weights.h5")
        shutil.copyfile(filepath, copy)
        if by_name and not of_keras_2:
            raise ValueError(f"Expected a file of Keras 2, which has layers by name. Received: {filepath}")
        model.load_weights(copy, skip_mismatch=skip_mismatch, **({"by_name": True} if by_name else {}))


def save_model(model, filepath, overwrite=True):
    """Write a model to a file of any name; Keras 3 takes names that end in `.keras`, `.h5` and `.hdf5` only."""
    if not overwrite and os.path.exists(filepath):
        raise FileExistsError(f"Expected no file of this name. Received: {filepath}")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(filepath))) as folder:
        temporary = os.path.join(folder, "model.keras" if str(filepath).endswith(".keras") else "model.h5")
        model.save(temporary)
        os.replace(temporary, filepath)


def load_model(filepath, custom_objects=None, compile=True, **options):
    """`keras.models.load_model`, which reads `.h5` files that Keras 3 wrote so that a model can be trained further.

    Keras 3 does not find the short names of losses there (`mse`), and builds the optimizer on other variables than the
    model's.
    """
    names = {
        "mse": "mean_squared_error",
        "mae": "mean_absolute_error",
        "mape": "mean_absolute_percentage_error",
        "msle": "mean_squared_logarithmic_error",
        "kld": "kl_divergence",
    }
    known = {short: getattr(keras.losses, name) for short, name in names.items()}
    model = keras.models.load_model(filepath, {**known, **(custom_objects or {})}, compile, **options)
    if not compile or not h5py.is_hdf5(filepath) or getattr(model, "optimizer", None) is None:
        return model
    model.optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
    model.optimizer.build(model.trainable_variables)
    with h5py.File(filepath, "r") as file:
        group = file.get("optimizer_weights", {})
        listed = sorted(getattr(group, "attrs", ()), key=lambda name: (len(name), name))  # in parts, if it is long
        values = [group[name][()] for part in listed for name in group.attrs[part]]
    variables = model.optimizer.variables
    if [value.shape for value in values] == [tuple(variable.shape) for variable in variables]:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
    else:
        warnings.warn(f"The optimizer's state in {filepath} is not of Keras 3: it starts anew.", stacklevel=2)
    return model


def reset_states(model):
    """`reset_states` of Keras 1 and 2: of the stateful layers of a model, of one layer, or of a metric."""
    if not isinstance(model, keras.Model):
        (model.reset_state if isinstance(model, keras.metrics.Metric) else model.reset_states)()
        return
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            reset_states(layer)
        elif getattr(layer, "stateful", False):
            layer.reset_state()


class ModelCheckpoint(keras.callbacks.Callback):
    """The `ModelCheckpoint` of Keras 1 and 2: files of any name, and a `period` in epochs; Keras 3 has neither."""

    def __init__(
        self,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        period=1,
    ):
        super().__init__()
        self.filepath = filepath
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.period = period
        self.epochs_since_last_save = 0
        by_name = "acc" in monitor or monitor.startswith("fmeasure")
        larger = mode == "max" or (mode != "min" and by_name)
        self.monitor_op = np.greater if larger else np.less
        self.best = -np.inf if larger else np.inf

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        self.epochs_since_last_save += 1
        if self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            value = logs[self.monitor]
            if not self.monitor_op(value, self.best):
                return
            self.best = value
        if self.verbose:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            save_weights(self.model, path)
            return
        save_model(self.model, path)


class CSVLogger(keras.callbacks.CSVLogger):
    """The `CSVLogger` of Keras 2: its columns are what is logged; Keras 3 adds `val_...` without a validation."""

    def on_epoch_end(self, epoch, logs=None):
        if self.keys is None:
            self.keys = sorted(logs or ())
        super().on_epoch_end(epoch, logs)


def function_of(inputs, outputs):
    """`K.function` of Keras 1 and 2: called with a list of arrays, it returns a list of arrays."""
    model = keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)

    def call(values):
        results = model(values if len(values) > 1 else values[0], training=False)
        return [ops.convert_to_numpy(each) for each in keras.tree.flatten(results)]

    return call


def predict_classes(model, x, batch_size=32, verbose=0):
    """`predict_classes` of Keras 1 and 2: the largest of several outputs, or 1 where a single one is above 0.5."""
    probabilities = model.predict(x, batch_size=batch_size, verbose=verbose)
    if probabilities.shape[-1] > 1:
        return probabilities.argmax(axis=-1)
    return (probabilities > 0.5).astype("int32")
