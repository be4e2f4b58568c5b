"""The planner against exact laws, simulation and the published pair."""

import numpy as np
import pytest
from scipy import special, stats

import bayeval as bv


def exact_right_order(a, b, n):
    """P(more successes of a than of b), half of any tie included, by convolution."""
    def law(p):
        out = np.ones(1)
        for x in p:
            out = np.convolve(out, stats.binom.pmf(np.arange(n + 1), n, x))
        return out

    f, g = law(a), law(b)
    return (f * (np.cumsum(g) - g / 2)).sum()


@pytest.fixture
def pair():
    """Two coin vectors of 30 questions, 0.0133 apart."""
    spread = 0.13 * stats.norm.ppf((np.arange(30) + 0.5) / 30)
    return 0.6213 + spread, 0.6080 + spread


@pytest.mark.parametrize("rho", [0.8, 0.95, 0.975])
def test_right_order_matches_the_exact_law(pair, rho):
    plan = bv.design.plan_trials(*pair, rho=rho)
    assert plan.right_order == pytest.approx(exact_right_order(*pair, plan.n_trials), abs=3e-4)
    assert plan.rho == plan.right_order >= rho
    fewer = special.ndtr(plan.gap / (plan.sd * np.sqrt(plan.n_trials / (plan.n_trials - 1))))
    assert fewer < rho  # one trial less would not do


def test_published_ratios(pair):
    """Against rho .837: close to three times the trials for .95, four times for .975."""
    n = [bv.design.plan_trials(*pair, rho=rho).n_trials for rho in (0.837, 0.95, 0.975)]
    assert n[1] / n[0] == pytest.approx((special.ndtri(0.95) / special.ndtri(0.837))**2, rel=0.02)
    assert [round(x / n[0], 1) for x in n] == [1.0, 2.8, 4.0]


@pytest.mark.parametrize("power", [0.5, 0.8])
def test_power_is_how_often_rho_reaches_the_level(pair, power):
    plan = bv.design.plan_trials(*pair, rho=0.95, power=power)
    a, b = (bv.posterior(bv.simulate.coin_flips(np.tile(p, (4000, 1)), plan.n_trials, rng=seed))
            for seed, p in enumerate(pair))
    z = (a.mean - b.mean) / np.hypot(a.sd, b.sd)
    assert power <= plan.power < power + 0.005
    assert (special.ndtr(z) >= 0.95).mean() == pytest.approx(power, abs=0.03)


def test_given_gap_replaces_the_difference(pair):
    a, b = pair
    assert bv.design.plan_trials(a, b, gap=abs(a.mean() - b.mean())) == bv.design.plan_trials(a, b)
    assert bv.design.plan_trials(a, a, gap=0.02).gap == 0.02
    half, whole = (bv.design.plan_trials(a, b, gap=g).n_trials for g in (0.01, 0.02))
    assert half == pytest.approx(4 * whole, abs=4)


def test_order_of_models_does_not_matter(pair):
    assert bv.design.plan_trials(*pair) == bv.design.plan_trials(*pair[::-1])


def test_certain_models_need_one_trial():
    plan = bv.design.plan_trials([1.0, 1.0], [0.0, 1.0])
    assert (plan.n_trials, plan.rho, plan.power, plan.total_runs) == (1, 1.0, 1.0, 4)


@pytest.mark.parametrize(("arguments", "options", "message"), [
    (([0.5], [0.5]), {}, "same mean"),
    (([0.5], [0.4, 0.3]), {}, "same questions"),
    (([1.5], [0.4]), {}, r"p_a must .* lie in \[0, 1\]"),
    (([0.5], [np.nan]), {}, r"p_b must .* lie in \[0, 1\]"),
    (("a", [0.4]), {}, "p_a must be an array"),
    (([0.6], [0.5]), {"rho": 0.5}, "rho must be"),
    (([0.6], [0.5]), {"power": 0.4}, "power must be"),
    (([0.6], [0.5]), {"power": 1}, "power must be"),
    (([0.6], [0.5]), {"gap": 0}, "gap must be"),
    (([0.6], [0.5]), {"gap": 1e-9}, "more than 1e[+]09"),
])
def test_errors_name_the_argument(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        bv.design.plan_trials(*arguments, **options)
