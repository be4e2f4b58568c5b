"""The unbiased Pass@k family and avg@N against exact rational arithmetic."""

import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import oracles
import pytest

import bayeval as bv

TAUS = (0.25, 0.28, 0.5, 0.75, 1.0)


def close(got, exact, rel=1e-12):
    """Whether a float agrees with a rational or an mpmath number."""
    if exact == 0:
        return got == 0
    if isinstance(exact, Fraction):
        return abs(Fraction(float(got)) - exact) <= Fraction(rel) * abs(exact)
    with mp.workdps(40):
        return abs(mp.mpf(float(got)) - exact) <= rel * abs(exact)


@pytest.mark.parametrize("n", range(1, 11))
def test_every_small_case_is_exact(n):
    o = bv.Outcomes.from_counts(np.arange(n + 1), n)
    ks = list(range(1, n + 1))
    estimates = {
        "pass": bv.pass_at_k(o, ks, per_question=True),
        "hat": bv.pass_hat_k(o, ks, per_question=True),
        "sum": bv.mg_pass_at_k(o, ks, per_question=True),
        "integral": bv.mg_pass_at_k(o, ks, form="integral", per_question=True),
    } | {tau: bv.g_pass_at_k(o, ks, tau=tau, per_question=True) for tau in TAUS}
    for c in range(n + 1):
        for k in ks:
            pmf = oracles.hypergeometric(c, n, k)
            exact = {
                "pass": oracles.pass_at_k(c, n, k),
                "hat": oracles.pass_hat_k(c, n, k),
                "sum": oracles.mg_pass(pmf, "sum"),
                "integral": oracles.mg_pass(pmf, "integral"),
            } | {tau: oracles.g_pass(pmf, oracles.least_right(k, tau)) for tau in TAUS}
            for name, value in exact.items():
                assert close(estimates[name][c, k - 1], value), (name, n, c, k)


def triples(size, largest, seed):
    """n, c, k over all scales, with c near both ends as well as inside."""
    rng = np.random.default_rng(seed)
    for _ in range(size):
        n = round(largest ** rng.random())
        c = [round(n ** rng.random()) - 1, n - round(n ** rng.random()) + 1,
             rng.integers(0, n + 1)][rng.integers(3)]
        k = rng.integers(1, n + 1) if rng.random() < 0.4 else round(n ** rng.random())
        yield int(n), int(np.clip(c, 0, n)), int(np.clip(k, 1, n))


def test_large_cases_to_1e_12_for_n_up_to_a_million_and_any_k():
    tried = 0
    for n, c, k in triples(400, 1e6, seed=1):
        o = bv.Outcomes.from_counts([c], n)
        for got, right, one_minus in ((bv.pass_at_k(o, k), n - c, True),
                                      (bv.pass_hat_k(o, k), c, False)):
            if right < k or right == n:
                assert got == (one_minus if right < k else not one_minus), (n, c, k)
                continue
            log = oracles.log_choose_ratio(right, n, k)
            with mp.workdps(60):
                exact = -mp.expm1(log) if one_minus else mp.exp(log)
            if exact > 1e-300:
                tried += 1
                assert close(got, exact), (n, c, k, got, exact)
    assert tried > 400


def test_large_cases_of_g_pass_to_1e_12():
    for n, c, k in triples(60, 3000, seed=2):
        if k > 400:
            continue
        pmf = oracles.hypergeometric(c, n, k)
        o = bv.Outcomes.from_counts([c], n)
        for tau in TAUS:
            exact = oracles.g_pass(pmf, oracles.least_right(k, tau))
            if exact == 0 or exact > Fraction(1, 10**300):
                assert close(bv.g_pass_at_k(o, k, tau=tau), exact), (n, c, k, tau)
        for form in ("sum", "integral"):
            exact = oracles.mg_pass(pmf, form)
            if exact == 0 or exact > Fraction(1, 10**300):
                assert close(bv.mg_pass_at_k(o, k, form=form), exact), (n, c, k, form)


def test_one_success_in_a_million():
    o = bv.Outcomes.from_counts([1], 10**6)
    assert close(bv.pass_at_k(o, 1), Fraction(1, 10**6), rel=1e-14)
    assert close(bv.pass_hat_k(o, 1), Fraction(1, 10**6), rel=1e-14)


def test_no_overflow_at_two_thousand_attempts():
    # C(2000, 1000) has 601 digits; warnings are errors here.
    c = np.arange(0, 2001, 40)
    o = bv.Outcomes.from_counts(c, 2000)
    got = bv.pass_at_k(o, 1000, per_question=True)
    assert all(close(g, oracles.pass_at_k(int(x), 2000, 1000)) for g, x in zip(got, c))


@pytest.mark.parametrize(("n", "k"), [(4, 4), (7, 3), (10**6, 1), (10**6, 10**6)])
def test_no_success_is_exactly_zero_and_all_successes_exactly_one(n, k):
    none, every = bv.Outcomes.from_counts([0], n), bv.Outcomes.from_counts([n], n)
    for metric in (bv.pass_at_k, bv.pass_hat_k, lambda o, k: bv.g_pass_at_k(o, k, tau=0.6)):
        assert (metric(none, k), metric(every, k)) == (0, 1)


def test_the_least_number_right_is_that_of_the_decimal_tau():
    # 0.28 * 25 is 7.000000000000001 in floats: seven right must do.
    o = bv.Outcomes.from_counts([7], 25)
    assert bv.g_pass_at_k(o, 25, tau=0.28) == 1
    assert bv.g_pass_at_k(o, 25, tau=0.281) == 0


def test_g_pass_runs_from_pass_at_k_to_pass_hat_k():
    o = bv.Outcomes.from_counts([0, 3, 7, 20], 20)
    for k in (1, 4, 20):
        assert bv.g_pass_at_k(o, k, tau=1e-6) == pytest.approx(bv.pass_at_k(o, k), rel=1e-12)
        assert bv.g_pass_at_k(o, k, tau=1) == pytest.approx(bv.pass_hat_k(o, k), rel=1e-12)


# -- the mean over questions and models ------------------------------------------------------


def test_shapes_follow_models_questions_and_k():
    one = bv.Outcomes.from_counts([1, 2, 3], 4)
    two = bv.Outcomes.from_counts([[1, 2, 3], [0, 0, 4]], 4)
    assert isinstance(bv.pass_at_k(one, 2), float)
    assert bv.pass_at_k(one, [1, 2]).shape == (2,)
    assert bv.pass_at_k(two, 2).shape == (2,)
    assert bv.pass_at_k(two, [1, 2, 4]).shape == (2, 3)
    assert bv.pass_at_k(one, 2, per_question=True).shape == (3,)
    assert bv.pass_at_k(two, [1, 2, 4], per_question=True).shape == (2, 3, 3)
    assert isinstance(bv.avg(one), float)
    assert bv.avg(two, per_question=True).shape == (2, 3)


def test_the_mean_is_over_questions_whatever_their_attempts():
    o = bv.Outcomes.from_counts([4, 0, 1], [4, 1, 2])
    exact = (Fraction(1) + 0 + Fraction(1, 2)) / 3
    assert close(bv.avg(o), exact)
    assert close(bv.pass_at_k(o, 1), exact)
    assert bv.avg(o, [-1, 3]) == pytest.approx(float(exact) * 4 - 1, rel=1e-14)


def test_avg_takes_rubric_weights():
    o = bv.Outcomes.from_matrix([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], categories=3)
    assert close(bv.avg(o, [0, 0.5, 1]), Fraction(3, 5))
    with pytest.raises(ValueError, match="weights are needed: the outcomes have 3 categories"):
        bv.avg(o)
    with pytest.raises(ValueError, match=r"weights must have shape \(3,\)"):
        bv.avg(o, [0, 1])


@pytest.mark.parametrize("metric", [
    bv.pass_at_k, bv.pass_hat_k, bv.mg_pass_at_k,
    lambda o, k, **options: bv.g_pass_at_k(o, k, tau=0.5, **options)])
def test_too_few_attempts_are_nan_with_a_count(metric):
    o = bv.Outcomes.from_counts([[2, 0, 1], [3, 1, 4]], [[2, 5, 5], [3, 5, 5]])
    with pytest.warns(bv.UndefinedWarning, match="2 of 6 model-question cells"):
        per_question = metric(o, 4, per_question=True)
    assert np.isnan(per_question).tolist() == [[True, False, False]] * 2
    with pytest.warns(bv.UndefinedWarning, match="2 of 6"):
        assert np.isnan(metric(o, 4)).all()
    with pytest.warns(bv.UndefinedWarning, match="2 of 6"):
        skipped = metric(o, 4, undefined="skip")
    assert np.allclose(skipped, np.nanmean(per_question, axis=1), rtol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(metric(o, 2)).all()


def test_only_the_ks_beyond_the_attempts_are_nan():
    o = bv.Outcomes.from_counts([2, 0], [5, 3])
    with pytest.warns(bv.UndefinedWarning, match="needs k = 5 or more scored attempts; 1 of 2"):
        curve = bv.pass_at_k(o, [1, 3, 5])
    assert np.isnan(curve).tolist() == [False, False, True]


def test_no_question_left_is_nan_not_zero():
    o = bv.Outcomes.from_counts([0], 2)
    with pytest.warns(bv.UndefinedWarning, match="1 of 1"):
        assert np.isnan(bv.pass_at_k(o, 5, undefined="skip"))


def test_avg_without_an_attempt_is_nan_with_a_count():
    o = bv.Outcomes.from_matrix([[1, 0], [None, None]])
    with pytest.warns(bv.UndefinedWarning, match="avg needs an attempt"):
        assert np.isnan(bv.avg(o))
    with pytest.warns(bv.UndefinedWarning):
        assert bv.avg(o, undefined="skip") == 0.5


def test_several_categories_must_be_reduced_first():
    o = bv.Outcomes.from_category_counts([[1, 2, 3]])
    for call in (bv.pass_at_k, bv.pass_hat_k, bv.mg_pass_at_k):
        with pytest.raises(ValueError, match=r"3 categories.*binary\(success="):
            call(o, 1)
    assert bv.pass_at_k(o.binary(success=[1, 2]), 2) == pytest.approx(1.0)
