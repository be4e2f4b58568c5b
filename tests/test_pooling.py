"""Pooled scores: against draws, at both limits, and where pooling must help."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayeval as bv
from bayeval import pooling


def posterior_of(mean, sd, **more):
    models = tuple(f"m{i}" for i in range(len(mean)))
    return SimpleNamespace(mean=np.array(mean), sd=np.array(sd), models=models, **more)


def by_draws(mean, sd, size, rng):
    """Spread and scores drawn one after the other, the weights of the spreads by integration."""
    mean, sd = np.array(mean), np.array(sd)
    center = np.linspace(-3, 4, 7001)
    log_weight = []
    for omega in pooling.SPREADS:
        s = np.hypot(omega, sd)
        log_f = -0.5 * (((mean[:, None] - center) / s[:, None]) ** 2).sum(axis=0) - np.log(s).sum()
        log_weight.append(np.log(np.exp(log_f - log_f.max()).sum()) + log_f.max())
    weight = np.exp(np.array(log_weight) - max(log_weight))
    omega = rng.choice(pooling.SPREADS, size=size, p=weight / weight.sum())[:, None]
    precision = 1 / (omega**2 + sd**2)
    common = (precision * mean).sum(axis=1) / precision.sum(axis=1) \
        + rng.normal(size=size) / np.sqrt(precision.sum(axis=1))
    share = omega**2 / (omega**2 + sd**2)
    scores = share * mean + (1 - share) * common[:, None] \
        + np.sqrt(share) * sd * rng.normal(size=(size, len(mean)))
    return omega[:, 0], scores


@pytest.mark.parametrize(("mean", "sd"), [
    ([0.5, 0.52, 0.55], [0.04, 0.03, 0.05]), ([0.2, 0.5, 0.8, 0.81], [0.03, 0.1, 0.03, 0.01]),
    ([0.5] * 5, [0.02] * 5)])
def test_against_draws(mean, sd):
    size = 400_000
    omega, scores = by_draws(mean, sd, size, np.random.default_rng(1))
    p = bv.pooled(posterior_of(mean, sd))
    close = 5 / np.sqrt(size)
    assert p.spread == pytest.approx(omega.mean(), abs=close * omega.std())
    np.testing.assert_allclose(p.mean, scores.mean(axis=0), atol=close * scores.std(axis=0).max())
    np.testing.assert_allclose(p.sd, scores.std(axis=0), rtol=0.01)
    wins = (scores[:, :, None] > scores[:, None]).mean(axis=0)
    np.fill_diagonal(wins, 0.5)
    np.testing.assert_allclose(p.superiority, wins, atol=close)


def test_models_far_apart_are_left_alone():
    o = bv.datasets.load("hmmt_feb_2025")
    p = bv.posterior(o, prior="learned")
    far = bv.pooled(posterior_of(p.mean, p.sd / 100))
    np.testing.assert_allclose(far.mean, p.mean, atol=1e-4)
    np.testing.assert_allclose(far.sd, p.sd / 100, rtol=1e-3)


def test_close_models_are_rarely_told_apart():
    """Twenty boards of ten equal models: pooling claims less, and its errors are those stated."""
    rng = np.random.default_rng(3)
    alone = together = 0
    for _ in range(20):
        o = bv.simulate.coin_flips(np.tile(rng.beta(1, 1, 30), (10, 1)), 4, rng=rng)
        p = bv.posterior(o, prior="learned")
        alone += (bv.superiority(o, paired=False, prior="learned").to_numpy() > 0.95).sum()
        together += (bv.pooled(p).superiority.to_numpy() > 0.95).sum()
    assert alone > 20
    assert together < alone / 4


def test_a_matrix_that_discoveries_takes():
    o = bv.datasets.load("hmmt_feb_2025")
    p = bv.pooled(bv.posterior(o, prior="learned"))
    S = p.superiority.to_numpy()
    np.testing.assert_allclose(S + S.T, 1, atol=1e-15)
    assert tuple(p.superiority.index) == tuple(p.superiority.columns) == o.models
    assert 0 < len(bv.discoveries(p.superiority)) < 64 * 63 / 2


def test_a_rubric_is_pooled_on_its_own_scale():
    o = bv.Outcomes.from_category_counts(
        np.random.default_rng(0).multinomial(6, [0.2, 0.3, 0.5], (4, 20)))
    one, ten = (bv.pooled(bv.posterior(o, weights=np.array([0, 0.5, 1]) * scale))
                for scale in (1, 10))
    np.testing.assert_allclose(ten.mean, 10 * one.mean)
    np.testing.assert_allclose(ten.superiority, one.superiority)
    assert ten.spread == pytest.approx(10 * one.spread)


@pytest.mark.parametrize(("p", "message"), [
    (posterior_of([0.5, 0.6], [0.1, 0.1]), "at least 3 models"),
    (SimpleNamespace(mean=0.5, sd=0.1, models=("A",)), "at least 3 models"),
    (None, "p must be a posterior of several models; found NoneType"),
    (posterior_of([0.5, 0.6, 0.7], [0.1, 0.0, 0.1]), "standard deviation of 0 for 'm1'")])
def test_what_cannot_be_pooled(p, message):
    with pytest.raises(ValueError, match=message):
        bv.pooled(p)
