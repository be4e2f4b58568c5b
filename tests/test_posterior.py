"""The posterior of scores and of the Pass@k family: moments, intervals, draws, priors."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import oracles
import pytest
from scipy import optimize, special

import bayeval as bv


def relative(got, exact):
    """Relative error of a float against a rational or an mpmath number."""
    with mp.workdps(60):
        exact = mp.mpf(exact.numerator) / exact.denominator if isinstance(exact, Fraction) \
            else mp.mpf(exact)
        return float(abs(mp.mpf(float(got)) - exact) / abs(exact)) if exact else float(got)


def squared(exact_variance):
    with mp.workdps(60):
        return mp.sqrt(mp.mpf(exact_variance.numerator) / exact_variance.denominator)


# -- moments of the score ---------------------------------------------------------------------


def test_worked_examples_of_the_paper():
    R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    o, old = (bv.Outcomes.from_matrix(x, categories=3) for x in (R, [[0, 2], [1, 2]]))
    p = bv.posterior(o, weights=[0, 0.5, 1])
    assert (round(p.mean, 4), round(p.sd, 6)) == (0.5625, 0.091998)
    q = bv.posterior(o, weights=[0, 0.5, 1], prior=bv.Past(old))
    assert (round(q.mean, 3), round(q.sd, 6)) == (0.575, 0.084275)
    b = bv.posterior(bv.Outcomes.from_matrix([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]))
    assert (round(b.mean, 6), round(b.sd, 6)) == (0.642857, 0.118451)


@pytest.mark.parametrize(("weights", "alpha"), [
    ([0, 1], [1, 1]), ([0, 1], [0.5, 0.5]), ([1, 0], [1, 1]), ([0, 0.5, 1], [1, 1, 1]),
    ([-2, 0.25, 1, 7], [1, 1, 1, 1]), ([0, 1, 1], [0.25, 2, 8]), ([3, 3], [1, 1])])
def test_moments_are_those_of_rational_arithmetic(weights, alpha):
    rng = np.random.default_rng(len(weights))
    for scale in (0, 3, 80, 10**4, 10**6):
        counts = rng.integers(0, scale + 1, (6, len(weights)))
        counts[0] = 0
        counts[1, 1:] = 0
        mean, var = oracles.dirichlet_score(counts.tolist(), [alpha] * 6, weights)
        p = bv.posterior(bv.Outcomes.from_category_counts(counts), weights=weights,
                         prior=bv.Dirichlet(alpha))
        assert relative(p.mean, mean) < 1e-12
        assert relative(p.sd, squared(var)) < 1e-12 or var == p.sd == 0
        assert p.question_mean.mean() == pytest.approx(p.mean, rel=1e-14)
        assert np.sqrt((p.question_sd**2).sum()) / 6 == pytest.approx(p.sd, rel=1e-14)


def test_one_success_in_a_million_attempts():
    p = bv.posterior(bv.Outcomes.from_counts([1], 10**6))
    mean, var = oracles.dirichlet_score([[10**6 - 1, 1]], [[1, 1]], [0, 1])
    assert relative(p.mean, mean) < 1e-14
    assert relative(p.sd, squared(var)) < 1e-12


def test_a_shared_past_model_serves_every_model_and_alignment_is_by_label():
    now = bv.Outcomes.from_counts([[3, 0, 4], [1, 1, 2]], 4, models=["A", "B"],
                                  questions=["x", "y", "z"])
    past = bv.Outcomes.from_counts([[2, 1, 0], [2, 2, 2]], 2, models=["B", "A"],
                                   questions=["z", "x", "y"])
    p = bv.posterior(now, prior=bv.Past(past, discount=0.5))
    aligned = np.array([[2, 2, 2], [1, 0, 2]])
    assert np.allclose(p.nu[..., 1], 1 + now.successes + 0.5 * aligned)
    one = past.select(models="B")
    shared = bv.posterior(now, prior=bv.Past(one))
    assert np.allclose(shared.nu[..., 1], 1 + now.successes + [[1, 0, 2]])
    none = bv.posterior(now, prior=bv.Past(past, discount=0))
    assert np.array_equal(none.mean, bv.posterior(now).mean)


@pytest.mark.parametrize(("past", "message"), [
    (bv.Outcomes.from_counts([1, 1], 2, questions=["x", "w"]), "not among"),
    (bv.Outcomes.from_counts([1, 1, 1], 2, questions=["x", "y", "w"]), "not among"),
    (bv.Outcomes.from_counts([[1, 1]] * 2, 2, models=["A", "C"], questions=["x", "y"]),
     "1 models have no past outcomes: 'B'"),
    (bv.Outcomes.from_category_counts([[1, 1, 0]] * 2, questions=["x", "y"]), "categories")])
def test_a_past_that_does_not_fit_is_an_error(past, message):
    now = bv.Outcomes.from_counts([[1, 0]] * 2, 2, models=["A", "B"], questions=["x", "y"])
    with pytest.raises(ValueError, match=message):
        bv.posterior(now, prior=bv.Past(past))


# -- moments of the Pass@k family --------------------------------------------------------------


def cells(size, largest, seed):
    """n, c and k over all scales; k may exceed n."""
    rng = np.random.default_rng(seed)
    for _ in range(size):
        n = round(largest ** rng.random())
        c = [round(n ** rng.random()) - 1, n - round(n ** rng.random()) + 1,
             rng.integers(0, n + 1)][rng.integers(3)]
        yield n, int(np.clip(c, 0, n)), round(largest ** rng.random())


def test_pass_moments_to_1e_12_for_n_and_k_up_to_a_million():
    for n, c, k in cells(300, 1e6, seed=3):
        p, a, b = bv.posterior(bv.Outcomes.from_counts([c], n)), c + 1, n - c + 1
        miss, hit = oracles.log_beta_ratio(a, b, k), oracles.log_beta_ratio(b, a, k)
        with mp.workdps(60):
            exact = ((p.pass_at_k(k), -mp.expm1(miss), oracles.beta_ratio_sd(a, b, k)),
                     (p.pass_hat_k(k), mp.exp(hit), oracles.beta_ratio_sd(b, a, k)))
        for got, mean, sd in exact:
            assert mean < 1e-300 or relative(got.mean, mean) < 1e-12, (n, c, k)
            assert sd < 1e-150 or relative(got.sd, sd) < 1e-12, (n, c, k)


@pytest.mark.parametrize("alpha", [Fraction(1), Fraction(1, 2), Fraction(1, 64)])
def test_g_pass_moments_are_those_of_rational_arithmetic(alpha):
    for n, c, k in ((0, 0, 3), (5, 0, 4), (5, 5, 7), (10, 3, 1), (1000, 5, 10), (1000, 500, 10),
                    (10**4, 9990, 25), (100, 3, 40)):
        p = bv.posterior(bv.Outcomes.from_counts([c], n), prior=bv.Dirichlet(float(alpha)))
        a, b = c + alpha, n - c + alpha
        families = [(p.g_pass_at_k(k, tau=tau), oracles.g_weight(k, tau)) for tau in (0.5, 0.8, 1)]
        families += [(p.mg_pass_at_k(k, form=form), oracles.mg_weight(k, form))
                     for form in ("sum", "integral")]
        for got, weight in families:
            mean, var = oracles.weight_moments(a, b, weight)
            assert relative(got.mean, mean) < 1e-12, (n, c, k)
            # The variance is a difference: what is lost is its size beside that of the squares.
            lost = 1 if var == 0 else float((mean**2 + var) / var)
            assert relative(got.sd, squared(var)) < 1e-13 * (10 + lost), (n, c, k)


@pytest.mark.parametrize("chunk", [1, 50, 1 << 15])
def test_many_pairs_at_once_give_what_each_gives(monkeypatch, chunk):
    """Chances are summed in chunks of pairs, over the numbers right that a chunk can have."""
    from bayeval import _special
    monkeypatch.setattr(_special, "CHUNK", chunk)
    n, k = 12, 9
    c = np.repeat(np.arange(n + 1), 2)
    weight = np.random.default_rng(1).random((len(c), k + 1))
    a = np.tile([1e-300, 1e-12, 0.5, 1, 30, 1e6], 6)
    b = np.repeat([1e-300, 1e-9, 0.5, 2, 7, 1e6], 6)
    drawn = _special.hypergeometric_mean(np.full(c.shape, n), c, weight)
    further = _special.beta_binomial_mean(a, b, weight[0])
    for got, x, w in zip(drawn, c.tolist(), weight):
        exact = sum(map(Fraction.__mul__, oracles.hypergeometric(x, n, k), map(Fraction, w)))
        assert relative(got, exact) < 1e-13
    for got, *pair in zip(further, a, b):
        chances = oracles.beta_binomial(*map(Fraction, pair), k)
        exact = sum(map(Fraction.__mul__, chances, map(Fraction, weight[0])))
        assert relative(got, exact) < 1e-13, pair


def test_g_pass_moments_by_quadrature_join_those_by_sums():
    from bayeval.functionals import MAX_PAIRED, GPassAtK, quadrature_moments
    a, b = np.array([3.0, 41.0, 61.0]), np.array([79.0, 41.0, 21.0])
    exact = GPassAtK(MAX_PAIRED, 0.5).moments(a, b)
    assert np.allclose(quadrature_moments(GPassAtK(MAX_PAIRED, 0.5), a, b), exact, atol=1e-7)
    beyond = GPassAtK(MAX_PAIRED + 2, 0.5).moments(a, b)
    assert np.allclose(beyond, exact, atol=2e-3)


def test_family_of_many_models_and_ks():
    o = bv.Outcomes.from_counts([[1, 2, 3], [0, 0, 4]], 4)
    p = bv.posterior(o)
    for name, options in (("pass_at_k", {}), ("pass_hat_k", {}), ("g_pass_at_k", {"tau": 0.5}),
                          ("mg_pass_at_k", {})):
        many = getattr(p, name)([1, 2, 9], **options)
        assert many.mean.shape == many.sd.shape == many.interval().low.shape == (2, 3)
        assert many.draws(5, rng=1).shape == (2, 3, 5)
        for i, model in enumerate(o.models):
            single = bv.posterior(o.select(models=model))
            for j, k in enumerate((1, 2, 9)):
                one = getattr(single, name)(k, **options)
                assert isinstance(one.mean, float)
                assert isinstance(one.interval().low, float)
                assert one.mean == pytest.approx(many.mean[i, j], rel=1e-13)
                assert one.interval().low == pytest.approx(many.interval().low[i, j], abs=1e-12)


def test_pass_at_1_is_the_score():
    p = bv.posterior(bv.Outcomes.from_counts([1, 0, 7], 8))
    for e in (p.pass_at_k(1), p.pass_hat_k(1), p.g_pass_at_k(1, tau=1)):
        assert (e.mean, e.sd) == pytest.approx((p.mean, p.sd), rel=1e-12)
        assert e.interval().low == pytest.approx(p.interval().low, abs=1e-5)
        assert e.interval(kind="hdi").high == pytest.approx(p.interval(kind="hdi").high, abs=1e-4)


# -- intervals -------------------------------------------------------------------------------


def binary(M, n, kind):
    c = {"none": [0] * M, "all": [n] * M, "ends": [n * (i % 2) for i in range(M)],
         "half": [n // 2] * M}[kind]
    return np.array([[n - x, x] for x in c]), [0, 1]


def rubric(M, n, p, seed=0):
    return np.random.default_rng(seed).multinomial(n, p, M)


COUNTS = {f"{M} questions, {n} attempts, {kind}": binary(M, n, kind)
          for M in (1, 2, 3, 4, 5) for n, kind in
          ((1, "none"), (5, "all"), (5, "ends"), (80, "ends"), (1000, "half"), (10**5, "none"))}
COUNTS |= {
    "unequal attempts": (np.array([[0, 5], [1, 0], [80, 0], [0, 1], [0, 0]]), [0, 1]),
    "30 questions": (np.stack([80 - (c := np.random.default_rng(5).binomial(80, np.tile(
        [0.02, 0.5, 0.98], 10))), c], axis=-1), [0, 1]),
    "one question open": (np.array([[1000, 0]] * 5 + [[0, 1]]), [0, 1]),
    "rubric, 1 question": (rubric(1, 6, [0.2, 0.3, 0.5]), [0, 0.5, 1]),
    "rubric, 5 questions": (rubric(5, 3, [0.7, 0.1, 0.1, 0.1]), [-1, 0, 0.2, 2]),
    "rubric, 30 questions": (rubric(30, 4, [0.2, 0.3, 0.5]), [0, 0.5, 1]),
    "rubric, extreme counts": (np.array([[20, 0, 0]] * 2), [0, 0.3, 1]),
    "rubric, equal weights": (rubric(2, 10, [0.2] * 5), [0, 0, 1, 1, 0.5]),
}


@pytest.mark.parametrize("name", COUNTS)
def test_intervals_match_a_million_exact_draws(name):
    counts, w = COUNTS[name]
    span = max(w) - min(w)
    p = bv.posterior(bv.Outcomes.from_category_counts(counts), weights=w)
    size = 10**6
    draws = oracles.score_draws(counts + 1, w, size, seed=1)
    equal, hdi = p.interval(0.95), p.interval(0.95, kind="hdi")
    assert np.allclose([equal.low, equal.high], np.quantile(draws, [0.025, 0.975]),
                       rtol=0, atol=0.002 * span)
    # The shortest interval of draws moves about where the density is flat; its width and what it
    # holds do not.
    low, high = oracles.shortest(draws, 0.95)
    assert np.allclose([hdi.low, hdi.high], [low, high], rtol=0, atol=0.004 * span)
    assert hdi.width == pytest.approx(high - low, abs=0.0015 * span)
    for interval in (equal, hdi):
        inside = ((draws >= interval.low) & (draws <= interval.high)).mean()
        assert inside == pytest.approx(0.95, abs=0.002)
        assert min(w) <= interval.low < interval.high <= max(w)
    assert hdi.width <= equal.width + 1e-9 * span


def beta_hdi(a, b, probability):
    """The shortest interval of a beta law, by its quantiles."""
    def width(tail):
        return special.betaincinv(a, b, tail + probability) - special.betaincinv(a, b, tail)
    tails = np.linspace(0, 1 - probability, 2001)
    i = np.argmin(width(tails))
    bounds = tails[max(i - 1, 0)], tails[min(i + 1, 2000)]
    tail = optimize.minimize_scalar(width, bounds=bounds, method="bounded",
                                    options={"xatol": 1e-12}).x
    best = min((tail, *bounds), key=width)
    return special.betaincinv(a, b, [best, best + probability])


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize(("c", "n"), [(0, 5), (5, 5), (1, 1), (3, 10), (19, 20), (0, 1000),
                                      (400, 1000), (1, 10**6)])
def test_intervals_of_one_question_are_those_of_the_beta_law(c, n, probability):
    p, a, b = bv.posterior(bv.Outcomes.from_counts([c], n)), c + 1, n - c + 1
    tail = (1 - probability) / 2
    equal, hdi = p.interval(probability), p.interval(probability, kind="hdi")
    assert np.allclose([equal.low, equal.high], special.betaincinv(a, b, [tail, 1 - tail]),
                       rtol=0, atol=0.001 * p.sd)
    low, high = beta_hdi(a, b, probability)
    assert hdi.width == pytest.approx(high - low, abs=0.005 * p.sd)
    assert np.allclose([hdi.low, hdi.high], [low, high], rtol=0, atol=0.03 * p.sd)


def test_five_of_five_stays_below_one():
    # The normal approximation, which is there by name, goes to 1.0996.
    p = bv.posterior(bv.Outcomes.from_counts([5], 5))
    assert p.interval().high == pytest.approx(0.9958, abs=1e-4)
    assert p.interval(kind="hdi").high <= 1
    assert p.interval(kind="normal").high == pytest.approx(1.0996, abs=1e-4)
    assert p.interval(kind="normal").kind == "normal"


@pytest.mark.parametrize("prior", ["uniform", "learned", bv.Dirichlet(0.5)], ids=str)
@pytest.mark.parametrize("one", [True, False])
def test_quantiles_are_the_ends_of_intervals_in_the_shape_of_the_mean(prior, one):
    o = bv.datasets.load("aime_2025")
    p = bv.posterior(o.select(models=o.models[0]) if one else o, prior=prior)
    for estimate in (p, p.population, p.pass_at_k(4), p.pass_at_k([1, 4])):
        interval, shape = estimate.interval(0.9), np.shape(estimate.mean)
        both, low = estimate.ppf([0.05, 0.95]), estimate.ppf(0.05)
        assert both.shape == (*shape, 2)
        np.testing.assert_allclose(both[..., 0], interval.low, rtol=1e-12)
        np.testing.assert_allclose(both[..., 1], interval.high, rtol=1e-12)
        assert np.shape(low) == shape
        assert isinstance(low, np.ndarray if shape else float)


@pytest.mark.parametrize("q", [0, 1, -0.1, float("nan"), [0.5, 1.0], [[0.5]], "x"])
def test_quantiles_need_a_probability(q):
    with pytest.raises(ValueError, match="q must"):
        bv.posterior(bv.Outcomes.from_counts([1], 2)).ppf(q)


def test_intervals_say_their_probability_and_kind():
    p = bv.posterior(bv.Outcomes.from_counts([[1, 2], [0, 4]], 4))
    for kind in ("equal-tailed", "hdi", "normal"):
        i = p.interval(0.8, kind=kind)
        assert (i.probability, i.kind, i.low.shape) == (0.8, kind, (2,))
        assert np.array_equal(i.width, i.high - i.low)


def test_a_constant_rubric_has_a_point_for_a_law():
    p = bv.posterior(bv.Outcomes.from_counts([1, 2], 4), weights=[0.7, 0.7])
    i = p.interval()
    assert (p.mean, p.sd, i.low, i.high) == pytest.approx((0.7, 0, 0.7, 0.7), abs=1e-15)


@pytest.mark.parametrize(("name", "k", "options"), [
    ("pass_at_k", 8, {}), ("pass_at_k", 30, {}), ("pass_hat_k", 4, {}),
    ("g_pass_at_k", 8, {"tau": 0.5}), ("mg_pass_at_k", 8, {}), ("mg_pass_at_k", 5, {})])
def test_family_intervals_match_exact_draws(name, k, options):
    for c in ([0], [1, 0, 5], [3] * 8):
        e = getattr(bv.posterior(bv.Outcomes.from_counts(c, 5)), name)(k, **options)
        draws = e.draws(100_000, rng=1)
        assert draws.mean() == pytest.approx(e.mean, abs=4 * e.sd / np.sqrt(1e5))
        assert draws.std() == pytest.approx(e.sd, rel=0.05)
        i, h = e.interval(0.9), e.interval(0.9, kind="hdi")
        assert np.allclose([i.low, i.high], np.quantile(draws, [0.05, 0.95]), rtol=0, atol=0.004)
        assert ((draws >= h.low) & (draws <= h.high)).mean() == pytest.approx(0.9, abs=0.004)
        assert h.width <= i.width + 1e-9


@pytest.mark.parametrize(("name", "n", "k", "options"), [
    ("pass_at_k", 4, 3, {}), ("pass_hat_k", 80, 8, {}), ("g_pass_at_k", 80, 8, {"tau": 0.5}),
    ("mg_pass_at_k", 4, 5, {"form": "integral"})])
def test_family_intervals_of_many_questions_match_exact_draws(name, n, k, options):
    """From forty questions on most laws come from four cumulants."""
    c = np.random.default_rng(2).binomial(n, np.random.default_rng(3).beta(1, 1, 100))
    e = getattr(bv.posterior(bv.Outcomes.from_counts(c, n)), name)(k, **options)
    draws = e.draws(50_000, rng=1)
    for probability in (0.5, 0.9, 0.95, 0.99):
        i, tail = e.interval(probability), (1 - probability) / 2
        tails = (draws < i.low).mean(), (draws > i.high).mean()
        assert tails == pytest.approx((tail, tail), abs=4 * np.sqrt(tail / 50_000) + 2e-4)


def test_cumulants_of_the_family_are_those_of_its_moments():
    from bayeval import functionals as f
    a, b, alpha, beta = np.array([3.0]), np.array([9.0]), Fraction(3), Fraction(9)
    for function, weight in ((f.PassAtK(3), [0, 1, 1, 1]), (f.PassHatK(2), [0, 0, 1]),
                             (f.GPassAtK(5, 0.5), oracles.g_weight(5, 0.5)),
                             (f.MGPassAtK(4, "sum"), oracles.mg_weight(4, "sum")),
                             (f.MGPassAtK(5, "integral"), oracles.mg_weight(5, "integral"))):
        exact = oracles.cumulants(oracles.power_moments(alpha, beta, weight, 6))
        got = [*function.moments(a, b), *function.cumulants(a, b)]
        assert float(got[1][0]) ** 2 == pytest.approx(float(exact[1]), rel=1e-12)
        assert [float(x[0]) for x in got[2:]] == pytest.approx(
            [float(x) for x in exact[2:]], rel=1e-6, abs=1e-14)
    assert np.isnan(f.GPassAtK(f.MAX_SIXFOLD + 1, 0.5).cumulants(a, b)).all()


def test_cumulants_of_the_score_are_those_of_its_moments():
    from bayeval.conjugate import _score_cumulants
    for nu, w in (([2, 5], [0, 1]), ([81, 1], [0, 1]), ([1, 3, 2], [0, 0.5, 1]),
                  ([4, 1, 9, 2], [-1, 2, 0, 5])):
        exact = oracles.cumulants(oracles.dirichlet_moments(nu, w, 6))
        got = _score_cumulants(np.array([nu], dtype=float), np.array(w, dtype=float))
        assert [float(x[0]) for x in got] == pytest.approx([float(x) for x in exact], rel=1e-10)


@pytest.mark.parametrize("n", [4, 80])
def test_laws_from_cumulants_are_those_by_convolution(n):
    """Of thirty questions: where the last term of the expansion is small, so is its error."""
    from bayeval import conjugate
    rng, w = np.random.default_rng(4), np.array([0.0, 1.0])
    c = rng.binomial(n, rng.beta(*rng.choice([0.3, 1.0, 3.0], (2, 40, 1)), (40, 30)))
    nu = np.stack([n - c, c], axis=-1) + 1.0
    laws = conjugate._Laws(conjugate._sums(conjugate._score_cumulants, nu, w), 30, 0.0, 1.0,
                            lambda i: None)
    assert laws.close.mean() > 0.5
    q = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    for i in np.flatnonzero(laws.close):
        convolved = conjugate._score_law(nu[i], w)
        assert laws.all[i].quantile(q) == pytest.approx(convolved.quantile(q),
                                                        abs=0.003 * laws.sd[i])


# -- draws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, [0, 0.5, 1]])
def test_draws_have_the_moments_and_repeat_with_the_seed(weights):
    shape = 2 if weights is None else 3
    counts = np.random.default_rng(2).integers(0, 6, (2, 4, shape))
    p = bv.posterior(bv.Outcomes.from_category_counts(counts), weights=weights)
    draws = p.draws(50_000, rng=7)
    assert draws.shape == (2, 50_000)
    assert np.allclose(draws.mean(axis=1), p.mean, atol=4 * p.sd.max() / np.sqrt(5e4))
    assert np.allclose(draws.std(axis=1), p.sd, rtol=0.03)
    assert np.array_equal(draws, p.draws(50_000, rng=7))
    assert np.array_equal(draws, p.draws(50_000, rng=np.random.default_rng(7)))
    assert not np.array_equal(draws, p.draws(50_000, rng=8))


def test_curves_of_draws_rise_with_k():
    draws = bv.posterior(bv.Outcomes.from_counts([0, 1, 3], 4)).pass_at_k([1, 2, 5, 50]).draws(
        100, rng=1)
    assert draws.shape == (4, 100)
    assert (np.diff(draws, axis=0) > 0).all()


def test_questions_without_attempts_keep_their_prior():
    o = bv.Outcomes.from_matrix([[1, 1, None], [None, None, None]])
    p = bv.posterior(o)
    assert p.question_mean.tolist() == [0.75, 0.5]
    empty = bv.posterior(bv.Outcomes.from_counts([0], 0)).interval()
    assert (empty.low, empty.high) == pytest.approx((0.025, 0.975), abs=1e-3)


def test_the_prior_is_named_when_it_is_none():
    with pytest.raises(ValueError, match='prior must be "uniform"'):
        bv.posterior(bv.Outcomes.from_counts([1], 2), prior="flat")
    with pytest.raises(ValueError, match="alpha must have 2 entries"):
        bv.posterior(bv.Outcomes.from_counts([1], 2), prior=bv.Dirichlet([1, 1, 1]))
