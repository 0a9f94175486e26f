"""Keras models as estimators of scikit-learn: untrained ones get plain folds, trained ones are classifiers."""

from __future__ import annotations

import keras
import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv, cross_val_score

from parallel_compat.legacy.scikit_learn import KerasClassifier

X = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
Y = (X[:, 0] > 0).astype(int)


def make() -> keras.Model:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def test_a_search_cuts_plain_folds_as_with_keras_2():
    folds = check_cv(4, Y, classifier=is_classifier(KerasClassifier(make)))
    assert type(folds).__name__ == "KFold"


def test_a_script_can_ask_for_stratified_folds():
    estimator = KerasClassifier(make)
    estimator._estimator_type = "classifier"
    assert type(check_cv(4, Y, classifier=is_classifier(estimator))).__name__ == "StratifiedKFold"


def test_metrics_of_probabilities_take_a_trained_one():
    estimator = KerasClassifier(make, epochs=1, verbose=0)
    assert not is_classifier(estimator)
    estimator.fit(X, Y)
    assert is_classifier(estimator)
    assert 0 <= get_scorer("roc_auc")(estimator, X, Y) <= 1
    assert len(cross_val_score(KerasClassifier(make, epochs=1, verbose=0), X, Y, scoring="roc_auc", cv=2)) == 2
