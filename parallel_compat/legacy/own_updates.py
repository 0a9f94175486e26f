"""The updates of a step of Keras 2's optimizers (`get_updates`), for classes of users that derive from them.

A class may put functions of its own in the place of `K.update` and `K.update_add` while it asks its base or another
optimizer, to change what is assigned.
"""

from __future__ import annotations

import sys
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.legacy import backend, graph


def _of_backend(name: str, ours: Any) -> Any:
    """Return what a program put in the place of a function of the backend, or ours."""
    return vars(sys.modules["keras.backend"]).get(name, ours)


def _update(variable: Any, value: Any) -> Any:
    return _of_backend("update", graph.update)(variable, value)


def _counted(optimizer: Any) -> Any:
    return _of_backend("update_add", graph.update_add)(optimizer.iterations, 1)


def _assigned(param: Any, value: Any) -> Any:
    constraint = getattr(param, "constraint", None)
    return _update(param, value if constraint is None else constraint(value))


def _rate(optimizer: Any) -> Any:
    rate = optimizer.lr
    if optimizer.initial_decay > 0:
        rate = rate / (1.0 + optimizer.decay * tf.cast(optimizer.iterations, "float32"))
    return rate


def _zeros(params: Any) -> list[Any]:
    return [backend.zeros(tuple(each.shape), dtype=keras.backend.standardize_dtype(each.dtype)) for each in params]


def _sgd(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    self.updates = [_counted(self)]
    rate, moments = _rate(self), _zeros(params)
    self.weights = [self.iterations, *moments]
    for param, gradient, moment in zip(params, gradients, moments, strict=True):
        velocity = self.momentum * moment - rate * gradient
        self.updates.append(_update(moment, velocity))
        step = self.momentum * velocity - rate * gradient if self.nesterov else velocity
        self.updates.append(_assigned(param, param + step))
    return list(self.updates)


def _rmsprop(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    accumulators = _zeros(params)
    self.weights = accumulators
    self.updates = [_counted(self)]
    rate = _rate(self)
    for param, gradient, accumulator in zip(params, gradients, accumulators, strict=True):
        mean = self.rho * accumulator + (1.0 - self.rho) * tf.square(gradient)
        self.updates.append(_update(accumulator, mean))
        self.updates.append(_assigned(param, param - rate * gradient / (tf.sqrt(mean) + self.epsilon)))
    return list(self.updates)


def _adam(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    self.updates = [_counted(self)]
    count = tf.cast(self.iterations, "float32") + 1.0
    rate = _rate(self) * tf.sqrt(1.0 - tf.pow(self.beta_2, count)) / (1.0 - tf.pow(self.beta_1, count))
    ms, vs = _zeros(params), _zeros(params)
    greatest = _zeros(params) if self.amsgrad else [backend.zeros((1,)) for _ in params]
    self.weights = [self.iterations, *ms, *vs, *greatest]
    for param, gradient, m, v, largest in zip(params, gradients, ms, vs, greatest, strict=True):
        m_now = self.beta_1 * m + (1.0 - self.beta_1) * gradient
        v_now = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(gradient)
        bound = v_now
        if self.amsgrad:
            bound = tf.maximum(largest, v_now)
            self.updates.append(_update(largest, bound))
        self.updates += [_update(m, m_now), _update(v, v_now)]
        self.updates.append(_assigned(param, param - rate * m_now / (tf.sqrt(bound) + self.epsilon)))
    return list(self.updates)


def _adagrad(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    accumulators = _zeros(params)
    self.weights = accumulators
    self.updates = [_counted(self)]
    rate = _rate(self)
    for param, gradient, accumulator in zip(params, gradients, accumulators, strict=True):
        total = accumulator + tf.square(gradient)
        self.updates.append(_update(accumulator, total))
        self.updates.append(_assigned(param, param - rate * gradient / (tf.sqrt(total) + self.epsilon)))
    return list(self.updates)


def _adadelta(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    accumulators, deltas = _zeros(params), _zeros(params)
    self.weights = [*accumulators, *deltas]
    self.updates = [_counted(self)]
    rate = _rate(self)
    for param, gradient, accumulator, delta in zip(params, gradients, accumulators, deltas, strict=True):
        mean = self.rho * accumulator + (1.0 - self.rho) * tf.square(gradient)
        step = gradient * tf.sqrt(delta + self.epsilon) / tf.sqrt(mean + self.epsilon)
        self.updates.append(_update(accumulator, mean))
        self.updates.append(_assigned(param, param - rate * step))
        self.updates.append(_update(delta, self.rho * delta + (1.0 - self.rho) * tf.square(step)))
    return list(self.updates)


def _adamax(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    self.updates = [_counted(self)]
    rate = _rate(self) / (1.0 - tf.pow(self.beta_1, tf.cast(self.iterations, "float32") + 1.0))
    ms, us = _zeros(params), _zeros(params)
    self.weights = [self.iterations, *ms, *us]
    for param, gradient, m, u in zip(params, gradients, ms, us, strict=True):
        m_now = self.beta_1 * m + (1.0 - self.beta_1) * gradient
        u_now = tf.maximum(self.beta_2 * u, tf.abs(gradient))
        self.updates += [_update(m, m_now), _update(u, u_now)]
        self.updates.append(_assigned(param, param - rate * m_now / (u_now + self.epsilon)))
    return list(self.updates)


def _nadam(self: Any, loss: Any, params: Any) -> list[Any]:
    gradients = self.get_gradients(loss, params)
    self.updates = [_counted(self)]
    count = tf.cast(self.iterations, "float32") + 1.0
    now, after = (
        self.beta_1 * (1.0 - 0.5 * tf.pow(0.96, at * getattr(self, "schedule_decay", 0.004)))
        for at in (count, count + 1.0)
    )
    schedule = backend.variable(1.0)
    self.updates.append(_update(schedule, schedule * now))
    ms, vs = _zeros(params), _zeros(params)
    self.weights = [self.iterations, *ms, *vs]
    for param, gradient, m, v in zip(params, gradients, ms, vs, strict=True):
        m_now = self.beta_1 * m + (1.0 - self.beta_1) * gradient
        v_now = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(gradient)
        mean = (1.0 - now) * gradient / (1.0 - schedule * now) + after * m_now / (1.0 - schedule * now * after)
        bound = v_now / (1.0 - tf.pow(self.beta_2, count))
        self.updates += [_update(m, m_now), _update(v, v_now)]
        self.updates.append(_assigned(param, param - self.lr * mean / (tf.sqrt(bound) + self.epsilon)))
    return list(self.updates)


FORMULAS = {
    "SGD": _sgd,
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Adadelta": _adadelta,
    "Adam": _adam,
    "Adamax": _adamax,
    "Nadam": _nadam,
}
