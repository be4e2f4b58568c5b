"""Scores of forecasts against closed forms and brute force."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from bayeval import scoring
from bayeval.distribution import Interval


def test_squared_and_log_error_broadcast():
    mean, truth = np.array([[0.1], [0.4]]), np.array([0.1, 0.2, 0.4])
    squared, log = scoring.squared_error(mean, truth), scoring.log_error(mean, truth)
    assert squared.shape == log.shape == (2, 3)
    assert squared[1, 1] == pytest.approx(0.04)
    assert log[1, 0] == pytest.approx(np.log(4) ** 2)
    assert log[0, 0] == 0.0


def test_log_error_is_about_factors():
    assert scoring.log_error(0.02, 0.01) == pytest.approx(scoring.log_error(0.005, 0.01))
    assert scoring.log_error(0.02, 0.01) == pytest.approx(scoring.log_error(0.4, 0.2))


def test_log_error_of_nothing():
    np.testing.assert_array_equal(scoring.log_error([0, 0, 0.1], [0, 0.1, 0]), [0, np.inf, np.inf])
    with pytest.raises(ValueError, match=r"truth must be at least 0; found -0\.1"):
        scoring.log_error(0.1, -0.1)
    with pytest.raises(ValueError, match=r"mean must be at least 0"):
        scoring.log_error(-1, 0.1)


def test_covers_includes_the_ends():
    i = Interval(np.array([0.1, 0.5]), np.array([0.3, 0.6]), 0.9, "equal-tailed")
    np.testing.assert_array_equal(scoring.covers(i, [0.1, 0.7]), [True, False])
    np.testing.assert_array_equal(scoring.covers(i, [0.3, 0.5]), [True, True])


@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_interval_score_of_a_normal_forecast(probability):
    # Closed form of the expectation, for the interval m +- z of a standard normal truth.
    for m, z in ((0.0, 1.0), (0.4, 2.0), (-1.0, 0.3)):
        fine = sum(stats.norm.pdf(z + s * m) - (z + s * m) * stats.norm.sf(z + s * m)
                   for s in (1, -1))
        expected = 2 * z + 2 / (1 - probability) * fine
        i = Interval(m - z, m + z, probability, "equal-tailed")
        got = integrate.quad(lambda y, i=i: stats.norm.pdf(y) * scoring.interval_score(i, y),
                             -12, 12, points=[m - z, m + z], limit=200)[0]
        assert got == pytest.approx(expected, rel=1e-8)


def test_interval_score_is_least_at_the_quantiles():
    law = stats.beta(2, 5)
    truth = law.ppf((np.arange(4000) + 0.5) / 4000)
    grid = np.linspace(0.01, 0.9, 90)
    best = min(((low, high) for low in grid for high in grid if low < high), key=lambda ends:
               scoring.interval_score(Interval(*ends, 0.8, "equal-tailed"), truth).mean())
    np.testing.assert_allclose(best, law.ppf([0.1, 0.9]), atol=0.01)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_crps_is_the_sum_over_all_pairs(n):
    rng = np.random.default_rng(n)
    draws, truth = rng.normal(size=(4, n)), rng.normal(size=4)
    for x, y, got in zip(draws, truth, scoring.crps(draws, truth), strict=True):
        pairs = [abs(x[i] - x[j]) for i in range(n) for j in range(n) if i != j]
        assert got == pytest.approx(np.abs(x - y).mean() - np.mean(pairs) / 2)


def test_crps_of_a_normal_forecast():
    draws = special.ndtri(np.random.default_rng(0).random(200_000))
    for y in (0.0, 0.7, -2.0):
        exact = y * (2 * stats.norm.cdf(y) - 1) + 2 * stats.norm.pdf(y) - 1 / np.sqrt(np.pi)
        assert scoring.crps(draws, y) == pytest.approx(exact, abs=0.005)


def test_crps_of_a_point_is_the_absolute_error():
    assert scoring.crps([0.3, 0.3, 0.3], 0.5) == pytest.approx(0.2)
    with pytest.raises(ValueError, match="last axis of draws must be a whole number from 2"):
        scoring.crps([0.3], 0.5)
