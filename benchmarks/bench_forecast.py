"""Time of a forecast for one model with 128 questions.

    OPENBLAS_NUM_THREADS=1 python -m pytest benchmarks/bench_forecast.py

Processor time, and the fastest of many rounds, so that a busy machine disturbs little. The bars
are 2 ms for the fit by maximum likelihood and 20 ms for the Bayesian forecast with its interval.
"""

import time

import numpy as np
import pytest

import bayeval as bv
from bayeval.forecast import METHODS, POSTERIOR_METHODS

pytestmark = [pytest.mark.filterwarnings("ignore::bayeval.ForecastWarning"),
              pytest.mark.benchmark(timer=time.process_time)]
BARS = {"mle": 2e-3, "mle-boxed": 2e-3, "bayes": 20e-3}


@pytest.fixture(scope="module", params=[10, 100, 300])
def sample(request):
    """Attempts of one model at 128 problems of MATH."""
    o = bv.datasets.load("pythia_math")
    return bv.simulate.subsample(o.select(models=o.models[0]), request.param, rng=0)


@pytest.mark.parametrize("method", METHODS)
def test_forecast(benchmark, method, sample):
    def run():
        f = bv.forecast(sample, 1000, method=method)
        return f.interval(0.9) if method in POSTERIOR_METHODS else f.mean

    benchmark(run)
    if method in BARS:
        assert benchmark.stats.stats.min < BARS[method]


def test_many_k_cost_no_loop(benchmark, sample):
    """A curve of 100 k by maximum likelihood stays in the bar of one k."""
    k = np.unique(np.geomspace(1, 10**9, 100).astype(int))
    curve = benchmark(lambda: bv.forecast(sample, k, method="mle").mean)
    assert (np.diff(curve) >= 0).all()
    assert benchmark.stats.stats.min < BARS["mle"]
