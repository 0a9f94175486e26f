"""`fit`, `evaluate`, `predict` and their relatives of a parallel model: what Keras calls the trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from parallel_compat import callback_model
from parallel_compat.backend import keras3
from parallel_compat.batches import generator_methods
from parallel_compat.batches.generator_methods import Feed
from parallel_compat.batches.sources import is_sequence
from parallel_compat.training import in_memory
from parallel_compat.training.global_step import GlobalStep


class ParallelTrainer(keras.Model):  # type: ignore[misc]  # Keras carries no types
    """A Keras model that trains, evaluates and predicts by a `GlobalStep`."""

    _step: GlobalStep
    template: keras.Model  # the model that runs on each replica

    def make_train_function(self, force: bool = False) -> Any:
        if self.train_function is None or force:
            self._step.take_seeds()
            if self.compiled:
                # Made while a step is traced, they would not begin with the values that the optimizer gives them
                # (ScheduleFreeAdamW in Keras 3.15.1: with zeros in place of the weights).
                keras3.in_memory.build_optimizer(self)
        return super().make_train_function(force)

    def make_test_function(self, force: bool = False) -> Any:
        if self.test_function is None or force:
            self._step.take_seeds()
        return super().make_test_function(force)

    def make_predict_function(self, force: bool = False) -> Any:
        if self.predict_function is None or force:
            self._step.take_seeds()
        return super().make_predict_function(force)

    def train_step(self, data: Any) -> dict[str, Any]:
        """Train on one global batch; called by `fit` and `train_on_batch`."""
        logs: dict[str, Any] = keras3.batch_first.after_its_batch(self._step.train)(data)
        return logs

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate one global batch; called by `evaluate` and `test_on_batch`."""
        return self._step.test(data)

    def predict_step(self, data: Any) -> Any:
        """Predict one global batch; called by `predict` and `predict_on_batch`."""
        return self._step.predict(data)

    @property
    def several_workers(self) -> bool:
        """Whether some of the replicas are other processes' (MultiWorkerMirroredStrategy)."""
        return self._step.several_workers

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Train as `keras.Model.fit`; `callback_model`, if set, is the model that the callbacks get."""
        drawing = {name: kwargs.pop(name) for name in generator_methods.QUEUE_ARGUMENTS if name in kwargs}
        bound = keras3.compiled.bind("fit", args, kwargs)
        bound["callbacks"] = callback_model.with_callback_model(self, bound.get("callbacks"))
        keras_fit = super().fit

        def keras_loop(**arguments: Any) -> Any:
            return generator_methods.fit(self, self._feed_of(arguments.get("x"), drawing), arguments, keras_fit)

        with keras3.callbacks.in_fit(self, self.template, bound):
            history: keras.callbacks.History = in_memory.call("fit", self, keras_loop, bound)
        return history

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Evaluate as `keras.Model.evaluate`."""
        drawing = {name: kwargs.pop(name) for name in generator_methods.QUEUE_ARGUMENTS if name in kwargs}
        bound = {"x": x, **keras3.compiled.bind("evaluate", (x, *args), kwargs)}
        keras_evaluate = super().evaluate

        def keras_loop(**arguments: Any) -> Any:
            generator_methods.check_data_comes_alone(x, arguments)
            feed = self._feed_of(x, drawing)
            with feed.open():
                data = feed.adapter(x, "validation", arguments.get("steps"))
                return keras_evaluate(**{**arguments, "x": data})

        return in_memory.call("evaluate", self, keras_loop, bound)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Predict as `keras.Model.predict`."""
        drawing = {name: kwargs.pop(name) for name in generator_methods.QUEUE_ARGUMENTS if name in kwargs}
        bound = keras3.compiled.bind("predict", (x, *args), kwargs)
        keras_predict = super().predict

        def keras_loop(**arguments: Any) -> Any:
            feed = self._feed_of(x, drawing)
            with feed.open():
                return keras_predict(**{**arguments, "x": feed.adapter(x, "prediction", arguments.get("steps"))})

        return in_memory.call("predict", self, keras_loop, bound)

    def train_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Train on one batch as `keras.Model.train_on_batch`, and return what this batch gave."""
        return self._on_batch("train_on_batch", super().train_on_batch, args, kwargs)

    def test_on_batch(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluate one batch as `keras.Model.test_on_batch`, and return what this batch gave."""
        return self._on_batch("test_on_batch", super().test_on_batch, args, kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        """Predict one batch as `keras.Model.predict_on_batch`."""
        return in_memory.call("predict_on_batch", self, super().predict_on_batch, {"x": x})

    def _on_batch(self, name: str, of_keras: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        def keras_loop(**arguments: Any) -> Any:
            self.reset_metrics()  # Before Keras 3.15 the metrics went on from batch to batch.
            return of_keras(**arguments)

        return in_memory.call(name, self, keras_loop, keras3.compiled.bind(name, args, kwargs))

    def fit_generator(self, generator: Any, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Train on a generator or Sequence, see `parallel_compat.fit_generator`."""
        return generator_methods.fit_generator(self, generator, *args, **kwargs)

    def evaluate_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Evaluate on a generator or Sequence, see `parallel_compat.evaluate_generator`."""
        return generator_methods.evaluate_generator(self, generator, *args, **kwargs)

    def predict_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Predict on a generator or Sequence, see `parallel_compat.predict_generator`."""
        return generator_methods.predict_generator(self, generator, *args, **kwargs)

    def _feed_of(self, data: Any, drawing: dict[str, Any]) -> Feed:
        """A Sequence says by itself how it wants to be drawn, if it calls `super().__init__`."""
        own = {name: getattr(data, name, None) for name in generator_methods.QUEUE_ARGUMENTS if is_sequence(data)}
        return Feed(self, **{**{name: value for name, value in own.items() if value is not None}, **drawing})

    @property
    def stop_training(self) -> bool:
        """Whether a callback asked to stop, on this model or on the `callback_model`."""
        return self._stop_training or getattr(callback_model.of_callbacks(self), "stop_training", False)

    @stop_training.setter
    def stop_training(self, value: bool) -> None:
        self._stop_training = value
        target = callback_model.of_callbacks(self)
        if target is not None:
            target.stop_training = value
