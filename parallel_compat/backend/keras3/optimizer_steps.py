"""Other steps for Keras's optimizers: where they keep their state, read in Keras 3.15.1 (`BaseOptimizer`, each class).

What is set here is set on the object, not on its class: a saved model names Keras's own class.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.assigned import variable_around
from parallel_compat.backend.keras3.layers import untracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Where the classes keep their slots, by the names that the formulas use.
_SLOTS = {
    "SGD": {"momentum": "momentums"},
    "RMSprop": {"velocity": "_velocities", "momentum": "_momentums", "mean": "_average_gradients"},
    "Adagrad": {"accumulator": "_accumulators"},
    "Adadelta": {"accumulator": "_accumulated_grads", "delta": "_accumulated_delta_vars"},
    "Adam": {"m": "_momentums", "v": "_velocities", "greatest": "_velocity_hats"},
    "Adamax": {"m": "_m", "u": "_u"},
    "Nadam": {"m": "_momentums", "v": "_velocities"},
    "Ftrl": {"accumulator": "_accumulators", "linear": "_linears"},
}
# The numbers of an optimizer that were variables in Keras 2, which callbacks set while it trains.
NUMBERS = ("momentum", "rho", "beta_1", "beta_2")
_STEP, _VARIABLES = "_parallel_compat_step", "_parallel_compat_numbers"
_UNCLIPPED = "_parallel_compat_unclipped"
_STEPPED, _SPARSE = "_parallel_compat_stepped", "_parallel_compat_sparse"
_UNUSED = "_parallel_compat_unused"
_PRODUCT = "product of momenta"  # among the numbers


def kind_of(optimizer: keras.optimizers.Optimizer) -> str:
    """Return the name of Keras's own class that an optimizer steps as, or "" for one with steps of its own."""
    for kind in type(optimizer).__mro__:
        if getattr(keras.optimizers, kind.__name__, None) is kind:
            return str(kind.__name__)
        if vars(kind).keys() & {"build", "update_step"}:
            break
    return ""


def set_step(optimizer: Any, **settings: Any) -> None:
    """Let an optimizer clip its gradients and step with other formulas.

    Args:
        optimizer: an optimizer of one of Keras's own classes.
        **settings: `formula`, called with the `Step` of each variable; `clip`, called with all gradients, `clipnorm`
            and `clipvalue`, which follow; `together`, whether that is the norm of all gradients; `rows_touched`,
            whether sparse gradients move the rows alone that they have; `schedule`, which returns Nadam's momentum
            for `(beta_1, step)`; `config`, what the optimizer's configuration says as well; `slots_by_gradient`,
            whether it has slots of those variables alone that had a gradient in a step.
    """
    vars(optimizer)[_STEP] = settings
    vars(optimizer)["update_step"] = partial(_update_step, optimizer)
    vars(optimizer)["_clip_gradients"] = partial(_clip_unless_told, optimizer)
    # Programs read them, and set them until the model trains.
    vars(optimizer).update(clipnorm=settings["clipnorm"], clipvalue=settings["clipvalue"])
    for name in NUMBERS:
        if vars(optimizer).get(name) is not None:
            number_variable(optimizer, name)
    if kind_of(optimizer) == "Nadam":
        vars(optimizer)["_backend_update_step"] = partial(_nadam_update_step, optimizer)
        vars(optimizer)["build"] = partial(_build_nadam, optimizer)
    if settings["config"] or settings["together"]:
        vars(optimizer)["get_config"] = partial(_config, optimizer)


def step_settings(optimizer: keras.optimizers.Optimizer) -> dict[str, Any] | None:
    """Return what `set_step` gave an optimizer, or None."""
    settings: dict[str, Any] | None = vars(optimizer).get(_STEP)
    return settings


def share_numbers(optimizer: Any, twin: Any) -> None:
    """Let a twin that gets a step have the optimizer's variables of `NUMBERS`, and of Nadam's product of momenta."""
    vars(twin)[_VARIABLES] = vars(optimizer).setdefault(_VARIABLES, {})


def replace_variable(optimizer: Any, name: str, common: keras.Variable) -> None:
    """Let an optimizer use another variable for one of its own, such as `_iterations`."""
    own = getattr(optimizer, name)
    if own is common:
        return
    place = next(place for place, each in enumerate(optimizer._variables) if each is own)
    optimizer._variables[place] = common  # in its place: TensorFlow compares the values of lists that are set
    # Keras knows by their ids which variables it keeps: a later one may have that of one that is gone.
    known = optimizer._tracker.stored_ids["variables"]
    known.discard(id(own))
    known.add(id(common))
    with untracked():
        setattr(optimizer, name, common)


def step_with_own(twin: Any, name: str, value: Any) -> None:
    """Let a twin step with a rate, or another number, of its own.

    Args:
        twin: an optimizer that is not built.
        name: "lr", or one of `NUMBERS`.
        value: the number.
    """
    with tf.init_scope():
        if name == "lr":
            replace_variable(twin, "_learning_rate", keras.Variable(value, trainable=False, name="learning_rate"))
            return
        vars(twin)[_VARIABLES] = {key: each for key, each in vars(twin).get(_VARIABLES, {}).items() if key != name}
        vars(twin)[name] = value
        number_variable(twin, name)


def start_slot_at(optimizer: Any, name: str, value: float) -> None:
    """Let a slot of an optimizer that is not built start at another value (`build`)."""
    build = optimizer.build

    def build_and_fill(variables: Any) -> None:
        fresh = not optimizer.built
        build(variables)
        with tf.init_scope():
            for slot in slots(optimizer, name) if fresh else ():
                slot.assign(tf.fill(slot.shape, tf.cast(value, slot.dtype)))

    vars(optimizer)["build"] = build_and_fill


def slots(optimizer: Any, name: str) -> list[Any]:
    """Return one slot of all variables of a built optimizer; none where it does not keep that."""
    return list(getattr(optimizer, _SLOTS[kind_of(optimizer)][name], None) or ())


def idle(optimizer: Any) -> set[int]:
    """Return the places of the variables that `slots_by_gradient` makes no slots of: no step had a gradient of them."""
    if not (step_settings(optimizer) or {}).get("slots_by_gradient") or _STEPPED not in vars(optimizer):
        return set()
    stepped: set[int] = vars(optimizer)[_STEPPED]
    return set(range(len(optimizer._trainable_variables))) - stepped


def sparse(optimizer: Any) -> set[int]:
    """Return the places of the variables that a step had sparse gradients of: an Embedding's rows."""
    places: set[int] = vars(optimizer).get(_SPARSE, set())
    return places


def make_all_slots(optimizer: Any, variables: Any) -> None:
    """Let an optimizer of `slots_by_gradient` have slots of all these variables from now on, as one that was loaded."""
    if not (step_settings(optimizer) or {}).get("slots_by_gradient"):
        return
    if not optimizer.built:
        optimizer.build(variables)
    vars(optimizer)[_STEPPED] = set(range(len(optimizer._trainable_variables)))


@contextlib.contextmanager
def without_idle_slots(optimizer: Any) -> Iterator[None]:
    """Let an optimizer list its variables for a while without the slots of those that are `idle`."""
    places = idle(optimizer)
    if not places:
        yield
        return
    names = _SLOTS.get(kind_of(optimizer), {})
    left_out = {id(kept[place]) for kept in (slots(optimizer, name) for name in names) if kept for place in places}
    before = optimizer._variables
    with untracked():
        optimizer._variables = [each for each in before if id(each) not in left_out]
    try:
        yield
    finally:
        with untracked():
            optimizer._variables = before


def of_unknown_variables(takes_them: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a built optimizer refuses variables that it was not built with (`_check_variables_are_known`).

    Args:
        takes_them: says whether an optimizer makes slots for them instead, as tf.keras did.
    """

    def wrap(original: Any) -> Any:
        def _check_variables_are_known(self: Any, variables: Any) -> None:
            if takes_them(self):
                extend(self, [v for v in variables if self._var_key(v) not in self._trainable_variables_indices])
            original(self, variables)

        return _check_variables_are_known

    yield keras.optimizers.Optimizer, "_check_variables_are_known", wrap


def can_be_extended(optimizer: Any) -> bool:
    """Say whether an optimizer is of a kind whose slots are known here, as `extend` needs them."""
    return kind_of(optimizer) in _SLOTS


def extend(optimizer: Any, variables: list[Any]) -> None:
    """Build an optimizer that is built for more variables: those it has keep their slots and their number of steps.

    Args:
        optimizer: the optimizer.
        variables: that it does not know yet.
    """
    if not variables:
        return
    lists = ("_trainable_variables", *_SLOTS.get(kind_of(optimizer), {}).values(), "_model_variables_moving_average")
    before = {
        name: list(getattr(optimizer, name)) for name in lists if isinstance(getattr(optimizer, name, None), list)
    }
    with tf.init_scope(), keras.name_scope(optimizer.name):
        optimizer.built = False
        optimizer.build(variables)
    optimizer.built = True
    for name, values in before.items():
        setattr(optimizer, name, [*values, *getattr(optimizer, name)])
    keys = [optimizer._var_key(each) for each in optimizer._trainable_variables]
    optimizer._trainable_variables_indices = {key: i for i, key in enumerate(keys)}


def index_of(optimizer: Any, variable: Any) -> int:
    """Return at which place a built optimizer has a variable (`_get_variable_index`)."""
    return int(optimizer._get_variable_index(variable))


def product_of_momenta(optimizer: Any) -> Any:
    """Return Nadam's variable for the product of its momenta (`_u_product`)."""
    return optimizer._u_product


def shapes_of_variables(optimizer: Any) -> list[tuple[int, ...]]:
    """Return the shapes of the variables that a built optimizer updates (`_trainable_variables`)."""
    return [tuple(variable.shape) for variable in optimizer._trainable_variables]


def number_variable(optimizer: Any, name: str) -> Any:
    """Return the variable that holds one of an optimizer's `NUMBERS`, made of the number when it is first asked for.

    An optimizer that was given a step, or a decay, has them from the start, and steps with their values.
    """
    made = vars(optimizer).setdefault(_VARIABLES, {})
    if callable(made.get(name)):
        return made[name]()
    if name not in made:
        with tf.init_scope():
            value = float(vars(optimizer).get(name) or 0.0)
            made[name] = tf.Variable(value, trainable=False, name=name, dtype="float32")
        if name == "momentum" and not value:
            setattr(made[name], _UNUSED, True)  # the optimizer keeps no moments
    return made[name]


def is_unused_momentum(variable: Any) -> bool:
    """Say whether a variable is the momentum of an optimizer that was made without, whose steps do not ask for it."""
    return hasattr(variable, _UNUSED)


def number_variables(optimizer: Any) -> dict[str, Any]:
    """Return the variables that hold an optimizer's numbers, by name."""
    made = vars(optimizer).get(_VARIABLES, {})
    return {name: variable for name, variable in made.items() if name != _PRODUCT and not callable(variable)}


def number(optimizer: Any, name: str) -> Any:
    """Return the variable of `number_variable`, or what the function of `number_from` returns, or the number."""
    made = vars(optimizer).get(_VARIABLES, {})
    if callable(made.get(name)):
        return made[name]()
    return made[name] if name in made else vars(optimizer)[name]


def number_from(optimizer: Any, name: str, function: Callable[[], Any]) -> None:
    """Let an optimizer take one of its `NUMBERS` from a function, anew in each step.

    Args:
        optimizer: an optimizer that was given a step.
        name: of the number.
        function: without arguments.
    """
    vars(optimizer).setdefault(_VARIABLES, {})[name] = function


def set_number(optimizer: Any, name: str, value: Any) -> None:
    """Set one of an optimizer's `NUMBERS`, its variable too."""
    vars(optimizer)[name] = value
    made = vars(optimizer).get(_VARIABLES, {})
    if callable(made.get(name)):
        made.pop(name)
        number_variable(optimizer, name)
    elif name in made:
        made[name].assign(value)


def count_with(optimizer: Any, variable: Any) -> None:
    """Let an optimizer count its steps with another variable: `optimizer.iterations = tf.Variable(0)`.

    Args:
        optimizer: an optimizer that is not built.
        variable: a variable of TensorFlow or Keras, of one whole number.
    """
    if not isinstance(variable, (tf.Variable, keras.Variable)):
        raise TypeError(f"Expected `iterations` to be set to a variable. Received: {variable!r}")
    if optimizer.built:
        raise RuntimeError(
            "Expected `iterations` to be set before the first step. Received: an optimizer that is built."
        )
    count = variable if isinstance(variable, keras.Variable) else variable_around(variable, False, "iteration")
    replace_variable(optimizer, "_iterations", count)


def dense(gradient: Any) -> Any:
    """Return a gradient as a tensor: the parts of a row added up."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = gradient.dense_shape[0] if gradient.dense_shape is not None else None
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)


def _config(optimizer: Any) -> dict[str, Any]:
    config: dict[str, Any] = type(optimizer).get_config(optimizer)
    settings = vars(optimizer)[_STEP]
    config.update(settings["config"])
    if settings["together"] and "global_clipnorm" in config:  # what Keras 3 calls it; a script gets what its era said
        config.update(clipnorm=None, global_clipnorm=config["clipnorm"])
    return config


def clips_of(optimizer: Any) -> dict[str, float | None]:
    """Return the `clipnorm` and `clipvalue` of an optimizer that `set_step` was given, as they are now."""
    return {name: vars(optimizer).get(name) for name in ("clipnorm", "clipvalue")}


def clipped(optimizer: Any, gradients: list[Any]) -> list[Any]:
    """Return gradients, some of which may be None, clipped as `set_step` says."""
    if "_clip_gradients" not in vars(optimizer):
        return gradients
    present = iter(_clip(optimizer, [each for each in gradients if each is not None]))
    return [None if each is None else next(present) for each in gradients]


@contextlib.contextmanager
def unclipped(optimizer: Any) -> Iterator[None]:
    """Let an optimizer apply gradients as they are for a while, where `set_step` says how they are clipped."""
    vars(optimizer)[_UNCLIPPED] = True  # on the object: on replicas another thread applies them
    try:
        yield
    finally:
        vars(optimizer).pop(_UNCLIPPED, None)


def _clip_unless_told(optimizer: Any, gradients: Any) -> list[Any]:
    return list(gradients) if _UNCLIPPED in vars(optimizer) else _clip(optimizer, gradients)


def _clip(optimizer: Any, gradients: Any) -> list[Any]:
    clipped: list[Any] = vars(optimizer)[_STEP]["clip"](gradients, **clips_of(optimizer))
    return clipped


class Step:
    """One step of one variable.

    Args:
        optimizer: the optimizer.
        gradient: the gradient of the variable, dense or sparse.
        variable: the variable.
        rate: the learning rate, decayed.
    """

    def __init__(self, optimizer: Any, gradient: Any, variable: Any, rate: Any) -> None:
        self._optimizer = optimizer
        self._settings = vars(optimizer)[_STEP]
        self._variable = variable
        self._touched: Any = None
        dtype = variable.dtype
        if isinstance(gradient, tf.IndexedSlices):
            rows = variable.shape[0]
            if self._settings["rows_touched"]:
                ones = tf.ones_like(gradient.indices, tf.int32)
                counts = tf.math.unsorted_segment_sum(ones, gradient.indices, rows)
                self._touched = tf.reshape(counts > 0, [rows] + [1] * (variable.shape.rank - 1))
            gradient = tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)
        self.gradient = tf.cast(gradient, dtype)
        self.rate = tf.cast(rate, dtype)
        self.count = tf.cast(optimizer.iterations + 1, dtype)
        self.epsilon = tf.cast(getattr(optimizer, "epsilon", 0.0), dtype)
        self.schedule = self._settings["schedule"]

    @property
    def value(self) -> Any:
        """The variable's value."""
        return tf.convert_to_tensor(self._variable)

    @property
    def product(self) -> Any:
        """The product of Nadam's momenta up to this step (`_u_product`)."""
        return tf.cast(self._optimizer._u_product.value, self._variable.dtype)

    def number(self, name: str) -> Any:
        """One of the optimizer's `NUMBERS`, as a tensor."""
        return tf.cast(number(self._optimizer, name), self._variable.dtype)

    def option(self, name: str) -> Any:
        """One of the optimizer's other arguments."""
        return getattr(self._optimizer, name)

    def has(self, slot: str) -> bool:
        """Whether the optimizer keeps this slot."""
        return bool(getattr(self._optimizer, _SLOTS[kind_of(self._optimizer)][slot], None))

    def slot(self, slot: str) -> Any:
        """The value of a slot."""
        return tf.convert_to_tensor(self._slot(slot))

    def keep(self, slot: str, value: Any, *, everywhere: bool = False) -> Any:
        """Write a slot, and return its value; rows that have no gradient are left alone unless `everywhere`."""
        if self._touched is not None and not everywhere:
            value = tf.where(self._touched, value, self.slot(slot))
        self._slot(slot).assign(value)
        return value

    def move(self, by: Any, *, everywhere: bool = False) -> None:
        """Move the variable; rows that have no gradient are left alone unless `everywhere`."""
        if self._touched is not None and not everywhere:
            by = tf.where(self._touched, by, tf.zeros_like(by))
        self._variable.assign_add(by)

    def become(self, value: Any) -> None:
        """Write the variable's value; rows that have no gradient are left alone."""
        self._variable.assign(value if self._touched is None else tf.where(self._touched, value, self.value))

    def _slot(self, slot: str) -> Any:
        optimizer = self._optimizer
        slots = getattr(optimizer, _SLOTS[kind_of(optimizer)][slot])
        return slots[optimizer._get_variable_index(self._variable)]


def _update_step(optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    step = Step(optimizer, gradient, variable, learning_rate)
    vars(optimizer).setdefault(_STEPPED, set()).add(index_of(optimizer, variable))
    if isinstance(gradient, tf.IndexedSlices):
        vars(optimizer).setdefault(_SPARSE, set()).add(index_of(optimizer, variable))
    formula: Callable[[Step], None] = step._settings["formula"]
    formula(step)


def _build_nadam(optimizer: Any, variables: Any) -> None:
    fresh = not optimizer.built
    type(optimizer).build(optimizer, variables)
    if fresh:  # those of several models, which have moments each, have one product
        common = vars(optimizer).setdefault(_VARIABLES, {}).setdefault(_PRODUCT, optimizer._u_product)
        replace_variable(optimizer, "_u_product", common)


def _nadam_update_step(optimizer: Any, gradients: Any, variables: Any, learning_rate: Any) -> None:
    multiply_momenta(optimizer)
    # Past Nadam's own, which would multiply by its momentum as well.
    super(keras.optimizers.Nadam, optimizer)._backend_update_step(gradients, variables, learning_rate)


def multiply_momenta(optimizer: Any) -> None:
    """Multiply Nadam's product of momenta by that of the step which comes (`_u_product`)."""
    product = optimizer._u_product
    count = tf.cast(optimizer.iterations + 1, product.dtype)
    beta_1 = tf.cast(number(optimizer, "beta_1"), product.dtype)
    product.assign(product.value * vars(optimizer)[_STEP]["schedule"](beta_1, count))


def name_as_then(name: str, kind: str) -> str:
    """Return an optimizer's name as `tf.keras` had it: where none was given that of its class, without a number.

    >>> name_as_then("sgd_1", "SGD"), name_as_then("of_the_critic", "SGD")
    ('SGD', 'of_the_critic')

    Args:
        name: its name in Keras 3.
        kind: the name of its class.
    """
    is_automatic = name.rstrip("0123456789").rstrip("_").replace("_", "") == kind.lower()
    return kind if is_automatic else name
