"""What each name of this package is in plain Keras 3 and TensorFlow: for `migrate --to native`.

A row is `signature | spelling`. The signature has the arguments of the function of this package, in order: `old>new`
is called otherwise today, `axis=-1` is written out where a call leaves it away, because today's default is another one,
and those after `*` are named. Of several rows of a name the first one that has all arguments of a call is taken. The
spelling is the dotted path of a function that takes the same arguments, or an expression with `{argument}` in it. It
begins with `ops` (`keras.ops`), `keras`, `tf` or `legacy_numerics`, the file of helpers that a project gets.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

BACKEND = "parallel_compat.legacy.backend"
NUMERICS = "legacy_numerics"
PARALLEL_MODELS = ("parallel_compat.multi_gpu_model", "parallel_compat.parallelize")

# Read in Keras 3.15 and in `tensorflow.keras.backend` of TensorFlow 2.21.
_BACKEND = """
abs(x) | ops.abs
all(x, axis, keepdims) | ops.all
any(x, axis, keepdims) | ops.any
arange(start, stop, step, dtype="int32") | ops.arange
argmax(x, axis=-1) | ops.argmax
argmin(x, axis=-1) | ops.argmin
backend() | keras.config.backend
batch_dot(x, y, axes) | legacy_numerics.batch_dot
batch_flatten(x) | legacy_numerics.batch_flatten
batch_get_value(ops) | [ops.convert_to_numpy(each) for each in {ops}]
binary_crossentropy(target, output, from_logits) | ops.binary_crossentropy
cast(x, dtype) | ops.cast
categorical_crossentropy(target, output, from_logits, axis) | ops.categorical_crossentropy
clear_session() | keras.utils.clear_session
clip(x, min_value>x_min, max_value>x_max) | ops.clip
concatenate(tensors>xs, axis=-1) | ops.concatenate
constant(value) | ops.convert_to_tensor({value}, dtype="float32")
constant(value, dtype) | ops.convert_to_tensor
conv2d(x>inputs, kernel, strides, padding, data_format, dilation_rate) | ops.conv
cos(x) | ops.cos
cumprod(x, axis=0) | ops.cumprod
cumsum(x, axis=0) | ops.cumsum
dot(x>x1, y>x2) | ops.dot
dropout(x>inputs, level>rate) | keras.random.dropout
dtype(x) | keras.backend.standardize_dtype({x}.dtype)
elu(x, alpha) | ops.elu
epsilon() | keras.config.epsilon
equal(x>x1, y>x2) | ops.equal
eval(x) | ops.convert_to_numpy
exp(x) | ops.exp
expand_dims(x, axis=-1) | ops.expand_dims
eye(size>N, *, dtype) | ops.eye
flatten(x) | ops.ravel
floatx() | keras.config.floatx
gather(reference>x, indices, axis=0) | ops.take
get_uid(prefix) | keras.backend.get_uid
get_value(x) | ops.convert_to_numpy
greater(x>x1, y>x2) | ops.greater
greater_equal(x>x1, y>x2) | ops.greater_equal
hard_sigmoid(x) | legacy_numerics.hard_sigmoid
identity(x) | ops.copy
image_data_format() | keras.config.image_data_format
in_top_k(predictions, targets, k) | ops.in_top_k({targets}, {predictions}, {k})
in_test_phase(x, alt, training) | legacy_numerics.in_train_phase({alt}, {x}, {training})
in_train_phase(x, alt, training) | legacy_numerics.in_train_phase({x}, {alt}, {training})
int_shape(x) | tuple({x}.shape)
is_keras_tensor(x) | keras.backend.is_keras_tensor
l2_normalize(x, axis) | ops.normalize({x}, {axis}, epsilon=1e-6)
less(x>x1, y>x2) | ops.less
less_equal(x>x1, y>x2) | ops.less_equal
log(x) | ops.log
logsumexp(x, axis, keepdims) | ops.logsumexp
map_fn(fn>f, elems>xs) | ops.map
max(x, axis, keepdims) | ops.max
maximum(x>x1, y>x2) | ops.maximum
mean(x, axis, keepdims) | ops.mean
min(x, axis, keepdims) | ops.min
minimum(x>x1, y>x2) | ops.minimum
name_scope(name) | keras.name_scope
ndim(x) | len({x}.shape)
not_equal(x>x1, y>x2) | ops.not_equal
one_hot(indices>x, num_classes) | ops.one_hot
ones_like(x, dtype) | ops.ones_like
permute_dimensions(x, pattern>axes) | ops.transpose
pow(x>x1, a>x2) | ops.power
prod(x, axis, keepdims) | ops.prod
random_normal(shape, mean, stddev, dtype, seed) | keras.random.normal
random_uniform(shape, minval, maxval, dtype, seed) | keras.random.uniform
relu(x) | ops.relu
relu(x, alpha>negative_slope, max_value, threshold) | keras.activations.relu
repeat(x, n) | ops.repeat(ops.expand_dims({x}, 1), {n}, axis=1)
repeat_elements(x, rep>repeats, axis) | ops.repeat
reshape(x, shape>newshape) | ops.reshape
reverse(x, axes>axis) | ops.flip
reverse(x, axes>axis) | tf.reverse
round(x) | ops.round
set_epsilon(value) | keras.config.set_epsilon
set_floatx(value) | keras.config.set_floatx
set_image_data_format(data_format) | keras.config.set_image_data_format
set_value(x, value) | {x}.assign({value})
shape(x) | ops.shape
sigmoid(x) | ops.sigmoid
sign(x) | ops.sign
sin(x) | ops.sin
slice(x>inputs, start>start_indices, size>shape) | ops.slice
softmax(x, axis) | ops.softmax
softplus(x) | ops.softplus
softsign(x) | ops.softsign
sparse_categorical_crossentropy(target, output, from_logits, axis) | ops.sparse_categorical_crossentropy
sqrt(x) | ops.sqrt(ops.maximum({x}, 0.0))
square(x) | ops.square
squeeze(x, axis) | ops.squeeze
stack(x, axis) | ops.stack
std(x, axis, keepdims) | ops.std
stop_gradient(variables>variable) | ops.stop_gradient
sum(x, axis, keepdims) | ops.sum
switch(condition, then_expression, else_expression) | legacy_numerics.switch
tanh(x) | ops.tanh
tile(x, n>repeats) | ops.tile
transpose(x) | ops.transpose
truncated_normal(shape, mean, stddev, dtype, seed) | keras.random.truncated_normal
update(x, new_x) | {x}.assign({new_x})
update_add(x, increment) | {x}.assign_add({increment})
update_sub(x, decrement) | {x}.assign_sub({decrement})
var(x, axis, keepdims) | ops.var
variable(value>initializer, *, dtype, name) | keras.Variable
zeros_like(x, dtype) | ops.zeros_like
_get_available_gpus() | tf.config.list_physical_devices("GPU")
"""
_FUNCTIONS = """
parallel_compat.legacy.layers.output_shape(layer) | {layer}.output.shape
parallel_compat.legacy.layers.input_shape(layer) | {layer}.input.shape
parallel_compat.legacy.models.predict_classes(model, x, batch_size, verbose) | legacy_numerics.predict_classes
parallel_compat.legacy.metrics.metric_function(given) | legacy_numerics.metric_function
parallel_compat.legacy.models.predict(model, x, batch_size, verbose, steps, callbacks) | legacy_numerics.predict
parallel_compat.legacy.models.predict_proba(model, x, batch_size, verbose) | {model}.predict({x})
parallel_compat.legacy.models.save_weights(model, filepath, overwrite) | legacy_numerics.save_weights
parallel_compat.legacy.models.load_weights(model, filepath, by_name, skip_mismatch) | legacy_numerics.load_weights
parallel_compat.legacy.models.reset_states(model) | legacy_numerics.reset_states
parallel_compat.legacy.models.save_model(model, filepath, overwrite) | legacy_numerics.save_model
parallel_compat.template_of(model) | {model}
"""
# Classes that are another one today, with the arguments that say what they were.
CLASSES = {
    "parallel_compat.legacy.layers.CuDNNGRU": ("keras.layers.GRU", 'recurrent_activation="sigmoid", reset_after=True'),
    "parallel_compat.legacy.layers.CuDNNLSTM": ("keras.layers.LSTM", 'recurrent_activation="sigmoid"'),
}
# Names that are another name today wherever they stand.
_RENAMED = """
parallel_compat.legacy.activations.hard_sigmoid legacy_numerics.hard_sigmoid
parallel_compat.legacy.backend.hard_sigmoid legacy_numerics.hard_sigmoid
parallel_compat.legacy.callbacks.Callback keras.callbacks.Callback
parallel_compat.legacy.callbacks.CSVLogger legacy_numerics.CSVLogger
parallel_compat.legacy.callbacks.ModelCheckpoint legacy_numerics.ModelCheckpoint
parallel_compat.legacy.losses.cosine_proximity legacy_numerics.cosine_proximity
parallel_compat.legacy.optimizers.for_one_compile legacy_numerics.for_one_compile
parallel_compat.legacy.models.clone_model keras.models.clone_model
parallel_compat.legacy.models.load_model legacy_numerics.load_model
parallel_compat.legacy.models.model_from_json keras.models.model_from_json
parallel_compat.legacy.models.settle_trainable legacy_numerics.settle_trainable
"""

# What is called is seen to by a rule of its own.
OF_OTHER_RULES = (
    *PARALLEL_MODELS,
    *(f"parallel_compat.{method}_generator" for method in ("fit", "evaluate", "predict")),
    "parallel_compat.ParallelModelCheckpoint",
    "parallel_compat.legacy.callbacks.ModelCheckpoint",
    "parallel_compat.legacy.callbacks.AltModelCheckpoint",
    "parallel_compat.legacy.optimizers.",
    "parallel_compat.legacy.layers.",
    f"{BACKEND}.function",
    f"{BACKEND}.image_dim_ordering",
    f"{BACKEND}.set_session",
    f"{BACKEND}.zeros",
    f"{BACKEND}.ones",
)

# What is said of a name beside its new place.
NOTES = {
    "parallel_compat.legacy.models.clone_model": "It compiles the clone of a compiled model, which needs registered "
    "functions: clone before `compile`.",
    "parallel_compat.legacy.models.load_model": "It reads files of Keras 3. For files of Keras 2 some results "
    "silently differ (`hard_sigmoid`, `UpSampling2D`): run `parallel-compat recover` on it once.",
    "parallel_compat.legacy.models.model_from_json": "It reads what `to_json` of Keras 3 wrote; for JSON of Keras 2, "
    "build the model again from its code.",
}
QUESTIONS = {
    "parallel_compat.legacy.schedules.LearningRateSchedule": "Derive from `keras.optimizers.schedules."
    'LearningRateSchedule`, and begin with `step = ops.cast(step, "float32")`: Keras 3 gives an integer.',
    **dict.fromkeys(
        (f"parallel_compat.legacy.callbacks.{name}" for name in ("LearningRateScheduler", "ReduceLROnPlateau")),
        "Keras 3's logs the rate as `learning_rate`: read it by that name, and use `keras.callbacks`.",
    ),
    "parallel_compat.legacy.layers.input_tensor": "Write `model.inputs[0]`.",
    "parallel_compat.simulate_devices": "Write `tf.config.set_logical_device_configuration(...)`, or leave it out.",
    f"{BACKEND}.image_dim_ordering": "Write `keras.config.image_data_format()`, which is `channels_first` for `th` and "
    "`channels_last` for `tf`.",
    f"{BACKEND}.learning_phase": "Keras 3 has no learning phase: pass `training=` to the layer or model.",
    f"{BACKEND}.set_learning_phase": "Keras 3 has no learning phase: call models with `training=False`.",
    f"{BACKEND}.in_train_phase": "Write `x if training else alt` in a `call` that takes `training`.",
    f"{BACKEND}.in_test_phase": "Write `alt if training else x` in a `call` that takes `training`.",
    f"{BACKEND}.function": "Write `keras.Model(inputs, outputs)`, and call that on data.",
    f"{BACKEND}.get_session": "Keras 3 has no session. Leave it out.",
    f"{BACKEND}.set_session": "Keras 3 has no session. Leave it out; options of GPUs are in `tf.config`.",
    f"{BACKEND}.zeros": "Write `keras.ops.zeros(shape)` for a tensor, `keras.Variable(...)` for a variable.",
    f"{BACKEND}.ones": "Write `keras.ops.ones(shape)` for a tensor, `keras.Variable(...)` for a variable.",
    f"{BACKEND}.print_tensor": "Write `tf.print(x)` before the tensor is used.",
}


class Native(NamedTuple):
    """What a function of this package is in plain Keras.

    Attributes:
        old: its dotted path.
        arguments: its arguments in order: the name, today's name, the value to write out where it is not given.
        new: a dotted path that takes the same arguments, or an expression with `{argument}` in it.
    """

    old: str
    arguments: tuple[tuple[str, str, str | None], ...]
    new: str

    @property
    def is_expression(self) -> bool:
        """Whether `new` is an expression rather than a path."""
        return not self.new.replace(".", "").replace("_", "").isalnum()


@cache
def functions() -> dict[str, tuple[Native, ...]]:
    """Return the rows of functions, by path.

    >>> functions()["parallel_compat.legacy.backend.argmax"][0].arguments
    (('x', 'x', None), ('axis', 'axis', '-1'))
    """
    rows = [_row(line) for line in _FUNCTIONS.split("\n") if line]
    rows += [_row(f"{BACKEND}.{line}") for line in _BACKEND.split("\n") if line]
    found: dict[str, tuple[Native, ...]] = {}
    for row in rows:
        found[row.old] = (*found.get(row.old, ()), row)
    return found


def _row(line: str) -> Native:
    signature, _, new = line.partition(" | ")
    old, _, listed = signature.rstrip(")").partition("(")
    arguments = []
    for argument in listed.split(", ") if listed else ():
        names, _, value = argument.partition("=")
        name, _, today = names.partition(">")
        arguments.append((name, today or name, value or None))
    return Native(old, tuple(arguments), new)


@cache
def renamed() -> dict[str, str]:
    """Return the names that are another name today wherever they stand."""
    return dict(line.split() for line in _RENAMED.split("\n") if line)
