"""scikit-learn: estimators with decorated methods, and decorated functions where it takes functions."""

from __future__ import annotations

import pickle

import autoloop as al
import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore:.* was traced (for|[0-9]+ times):UserWarning")]
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = X @ np.array([1.0, 2, 3]) + 0.1
CLASSES = (Y > 0).astype(int)


class Plain(RegressorMixin, BaseEstimator):
    def __init__(self, rate=0.1, steps=20):
        self.rate, self.steps = rate, steps

    def fit(self, X, y):
        w = np.zeros(X.shape[1])
        for _ in range(self.steps):
            w = w - self.rate * (X.T @ (X @ w - y)) / len(y)
        self.coef_ = w
        return self

    def predict(self, X):
        return X @ self.coef_


class Decorated(RegressorMixin, BaseEstimator):
    def __init__(self, rate=0.1, steps=20):
        self.rate, self.steps = rate, steps

    @al.function
    def fit(self, X, y):
        w = np.zeros(X.shape[1])
        for _ in range(self.steps):
            w = w - self.rate * (X.T @ (X @ w - y)) / len(y)
        self.coef_ = w
        return self

    @al.function
    def predict(self, X):
        return X @ self.coef_


@al.function
def distance(u, v):
    total = 0.0
    for i in range(len(u)):
        total += (u[i] - v[i]) ** 2
    return total**0.5


@al.function
def logs(x):
    return np.log1p(np.abs(x))


@al.function
def kernel(a, b):
    return a @ b.T + 1


@al.function
def score(a, b):
    return -np.mean((a - b) ** 2)


GRID = {"rate": [0.01, 0.1], "steps": [10, 20]}
ESTIMATORS = {
    "fit": lambda E: E().fit(X, Y).predict(X[:3]),
    "clone": lambda E: [clone(E(rate=0.2)).get_params(), clone(E().fit(X, Y)).rate],
    "cross validation": lambda E: cross_val_score(E(), X, Y, cv=3),
    "grid": lambda E: GridSearchCV(E(), GRID, cv=3).fit(X, Y).cv_results_["mean_test_score"],
    "grid in processes": lambda E: (
        GridSearchCV(E(), GRID, cv=3, n_jobs=2, scoring=make_scorer(score)).fit(X, Y).cv_results_["mean_test_score"]
    ),
    "pipeline": lambda E: make_pipeline(StandardScaler(), FunctionTransformer(logs), E()).fit(X, Y).score(X, Y),
    "pickle": lambda E: pickle.loads(pickle.dumps(E().fit(X, Y))).predict(X[:2]),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_with_decorated_methods(name):
    found, wanted = ESTIMATORS[name](Decorated), ESTIMATORS[name](Plain)
    if name == "clone":
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


FUNCTIONS = [
    (logs, lambda f: FunctionTransformer(f).fit_transform(X)),
    (score, lambda f: cross_val_score(Ridge(), X, Y, scoring=make_scorer(f))),
    (kernel, lambda f: SVC(kernel=f).fit(X, CLASSES).predict(X)),
    (kernel, lambda f: GridSearchCV(SVC(kernel=f), {"C": [0.1, 1]}, cv=3).fit(X, CLASSES).best_score_),
    (distance, lambda f: pairwise_distances(X, metric=f)),
    (distance, lambda f: pairwise_distances(X, metric=f, n_jobs=2)),
    (distance, lambda f: KNeighborsClassifier(3, metric=f).fit(X, CLASSES).predict(X)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "use"), FUNCTIONS)
def test_functions_that_sklearn_calls(f, use):
    np.testing.assert_allclose(use(f), use(f.python_function), rtol=1e-9)
