"""Past results as priors: against hand computation, brute force, and what a past should do."""

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special, stats

import bayeval as bv
from bayeval.plotting import priors as figures

NEW = np.array([[3, 1], [0, 4], [2, 2]])
OLD = np.array([[1, 1], [0, 6], [5, 0]])


def outcomes(counts, **labels):
    return bv.Outcomes.from_category_counts(counts, **labels)


def log_B(a):
    return special.gammaln(a).sum(axis=-1) - special.gammaln(a.sum(axis=-1))


def brute_force(new, old, w, base=1.0, function=None):
    """Mean and variance of the score (or of E f(p)), and mean discount, by adaptive quadrature."""
    def at(delta):
        alpha = base + delta * old
        nu = alpha + new
        T = nu.sum(axis=-1)
        m = nu @ w / T
        v = (nu @ w**2 / T - m**2) / (T + 1)
        if function is not None:
            m, v = function(nu)
        return np.exp((log_B(nu) - log_B(alpha)).sum() - scale), m.mean(), v.sum() / len(m) ** 2

    scale = 0.0
    scale = max(np.log(at(d)[0]) for d in np.geomspace(1e-9, 1, 200))

    def integral(f):  # in the logarithm: a long past that does not fit is worth very little
        return integrate.quad(lambda t: np.exp(t) * f(np.exp(t)), -30, 0, epsabs=1e-14,
                              epsrel=1e-11, limit=200, points=[-12, -9, -6, -3, -1])[0]

    total = integral(lambda d: at(d)[0])
    mean = integral(lambda d: at(d)[0] * at(d)[1]) / total
    square = integral(lambda d: at(d)[0] * (at(d)[2] + at(d)[1] ** 2)) / total
    return mean, square - mean**2, integral(lambda d: d * at(d)[0]) / total


# -- a fixed discount --------------------------------------------------------------------------


@pytest.mark.parametrize("discount", [0, 0.25, 1])
@pytest.mark.parametrize("base", [1.0, 0.1, (0.5, 2.0)])
def test_a_discounted_past_is_extra_counts(discount, base):
    p = bv.posterior(outcomes(NEW), prior=bv.Past(outcomes(OLD), discount=discount, base=base))
    laws = [stats.beta(*(np.broadcast_to(base, 2) + discount * x + n)[::-1])
            for n, x in zip(NEW, OLD)]
    assert p.mean == pytest.approx(np.mean([law.mean() for law in laws]), rel=1e-13)
    assert p.sd == pytest.approx(np.sqrt(sum(law.var() for law in laws)) / 3, rel=1e-13)
    assert p.question_mean == pytest.approx([law.mean() for law in laws], rel=1e-13)


def test_a_base_of_one_is_the_paper_s():
    R, R0, w = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [[0, 2], [1, 2]], [0, 0.5, 1]
    o, old = (bv.Outcomes.from_matrix(x, categories=3) for x in (R, R0))
    p = bv.posterior(o, weights=w, prior=bv.Past(old))
    assert (round(p.mean, 3), round(p.sd, 6)) == (0.575, 0.084275)
    assert p.mean == bv.posterior(o, weights=w, prior=bv.Past(old, base=(1, 1, 1))).mean
    assert bv.posterior(o, weights=w, prior=bv.Past(old, discount=0, base=0.5)).mean == \
        bv.posterior(o, weights=w, prior=bv.Dirichlet(0.5)).mean


# -- a learned discount ------------------------------------------------------------------------


@pytest.mark.parametrize("base", [1.0, 0.1, (0.5, 2.0)])
@pytest.mark.parametrize(("length", "error"), [(1, 1e-8), (30, 1e-8), (2000, 1e-7), (10**6, 2e-3)])
def test_the_discount_is_integrated_out(base, length, error):
    old = OLD * length
    p = bv.posterior(outcomes(NEW), prior=bv.Past(outcomes(old), discount="learned", base=base))
    mean, var, discount = brute_force(NEW, old, np.array([0.0, 1.0]), np.asarray(base))
    assert p.mean == pytest.approx(mean, abs=error * p.sd)
    assert p.sd == pytest.approx(np.sqrt(var), rel=error)
    assert p.discount == pytest.approx(discount, rel=10 * error)


def test_a_sharp_discount_is_found():
    """20,000 questions: the discount's posterior is far narrower than the distance of nodes."""
    rng = np.random.default_rng(8)
    p = rng.random(20_000)
    o, past = (bv.simulate.coin_flips(p, n, rng=rng) for n in (3, 6))
    fit = bv.posterior(o, prior=bv.Past(past, discount="learned", base=0.5))
    new, old = o.counts[0], past.counts[0]
    # What counts is pairs of counts with their numbers.
    pairs, times = np.unique(np.hstack([new, old]), axis=0, return_counts=True)
    delta = np.linspace(0, 1, 20_001)
    prior = 0.5 + delta[:, None, None] * pairs[:, 2:]
    evidence = (log_B(prior + pairs[:, :2]) - log_B(prior)) @ times
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    mean = weight @ delta
    assert 0.1 < mean < 0.9
    assert fit.discount == pytest.approx(mean, abs=1e-6)
    sd = np.sqrt(fit.discount_weights @ (fit.discounts - fit.discount) ** 2)
    assert sd == pytest.approx(np.sqrt(weight @ (delta - mean) ** 2), rel=1e-3)
    assert sd < 0.02


def test_the_discount_of_a_rubric():
    rng = np.random.default_rng(1)
    new, old, w = rng.multinomial(3, [0.2, 0.3, 0.5], 8), rng.multinomial(
        6, [0.3, 0.3, 0.4], 8), np.array([-1.0, 0.5, 2.0])
    p = bv.posterior(outcomes(new), weights=w, prior=bv.Past(outcomes(old), discount="learned"))
    mean, var, discount = brute_force(new, old, w)
    assert p.mean == pytest.approx(mean, abs=1e-8)
    assert p.sd == pytest.approx(np.sqrt(var), rel=1e-7)
    assert p.discount == pytest.approx(discount, abs=1e-8)


def test_the_evidence_is_that_of_exact_arithmetic():
    """One question, base 1, in 40 digits."""
    with mp.workdps(40):
        def evidence(d):
            return mp.beta(2 + 3 * d, 4 + d) / mp.beta(1 + 3 * d, 1 + d)
        total = mp.quad(evidence, [0, 1])
        mean = mp.quad(lambda d: evidence(d) * (2 + 3 * d) / (6 + 4 * d), [0, 1]) / total
        discount = mp.quad(lambda d: d * evidence(d), [0, 1]) / total
    p = bv.posterior(bv.Outcomes.from_counts([1], 4),
                     prior=bv.Past(bv.Outcomes.from_counts([3], 4), discount="learned"))
    assert (p.mean, p.discount) == pytest.approx((float(mean), float(discount)), abs=1e-13)


@pytest.mark.parametrize("k", [1, 5])
def test_pass_at_k_under_a_learned_discount(k):
    def none_right(nu):
        b, a = nu[:, 0], nu[:, 1]
        one, two = (np.exp(special.betaln(a, b + j) - special.betaln(a, b)) for j in (k, 2 * k))
        return 1 - one, two - one**2

    prior = bv.Past(outcomes(OLD), discount="learned")
    e = bv.posterior(outcomes(NEW), prior=prior).pass_at_k(k)
    mean, var, _ = brute_force(NEW, OLD, np.array([0.0, 1.0]), function=none_right)
    assert e.mean == pytest.approx(mean, abs=1e-8)
    assert e.sd == pytest.approx(np.sqrt(var), rel=1e-7)


def test_before_new_attempts_the_discount_is_uniform():
    none = outcomes(np.zeros((3, 2), int))
    p = bv.posterior(none, prior=bv.Past(outcomes(OLD), discount="learned"))
    assert p.discount == pytest.approx(0.5, abs=1e-12)
    nothing = bv.posterior(outcomes(NEW), prior=bv.Past(none, discount="learned"))
    assert nothing.discount == pytest.approx(0.5, abs=1e-12)
    assert nothing.mean == pytest.approx(bv.posterior(outcomes(NEW)).mean, rel=1e-12)


def test_many_questions_tell_a_good_past_from_a_bad_one():
    rng = np.random.default_rng(2)
    p, unrelated = rng.random((2, 2000))
    now, good, bad = (bv.simulate.coin_flips(x, 8, rng=rng) for x in (p, p, unrelated))
    fits = [bv.posterior(now, prior=bv.Past(past, discount="learned")) for past in (good, bad)]
    assert fits[0].discount > 0.9
    assert fits[1].discount < 0.02
    full, none = bv.posterior(now, prior=bv.Past(good)), bv.posterior(now)
    assert fits[0].question_mean == pytest.approx(full.question_mean, abs=0.02)
    assert fits[1].question_mean == pytest.approx(none.question_mean, abs=0.02)


def test_a_small_base_distrusts_a_past_that_only_beats_one_half():
    rng = np.random.default_rng(3)
    now = bv.simulate.coin_flips(np.repeat([0.0, 1.0], 40), 2, rng=rng)
    old = bv.simulate.coin_flips(np.repeat([0.25, 0.75], 40), 8, rng=rng)
    one, small = (bv.posterior(now, prior=bv.Past(old, discount="learned", base=b)).discount
                  for b in (1, 0.05))
    assert small < 0.15 < 0.3 < one


@pytest.mark.parametrize("part", ["score", "population", "pass_at_k", "pass_hat_k"])
@pytest.mark.parametrize("discount", [0.5, "learned"])
def test_draws_agree_with_moments_and_interval(part, discount):
    rng = np.random.default_rng(4)
    o, old = (bv.simulate.coin_flips(rng.beta(2, 1, (2, 12)), n, rng=rng) for n in (3, 5))
    p = bv.posterior(o, prior=bv.Past(old, discount=discount))
    e = {"score": lambda: p, "population": lambda: p.population,
         "pass_at_k": lambda: p.pass_at_k(4), "pass_hat_k": lambda: p.pass_hat_k(3)}[part]()
    size = 20_000
    x = e.draws(size, rng=5)
    assert x.shape == (2, size)
    assert x.mean(axis=1) == pytest.approx(e.mean, abs=5 * e.sd.max() / np.sqrt(size))
    assert x.std(axis=1) == pytest.approx(e.sd, rel=0.03)
    i = e.interval(0.9)
    inside = ((x >= i.low[:, None]) & (x <= i.high[:, None])).mean(axis=1)
    assert inside == pytest.approx(0.9, abs=0.015)


def test_intervals_cover_when_the_prior_is_true():
    rng = np.random.default_rng(6)
    past = bv.simulate.coin_flips(rng.random(20), 8, rng=rng)
    delta = rng.random((1500, 1))
    p = rng.beta(1 + delta * past.successes, 1 + delta * (8 - past.successes))
    i = bv.posterior(bv.simulate.coin_flips(p, 3, rng=rng),
                     prior=bv.Past(past, discount="learned")).interval(0.9)
    covered = ((i.low <= p.mean(axis=1)) & (p.mean(axis=1) <= i.high)).mean()
    assert abs(covered - 0.9) < 3 * np.sqrt(0.9 * 0.1 / 1500)


# -- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("discount", [0.5, "learned"])
def test_alignment_is_by_label(discount):
    old = outcomes([OLD, NEW], models=["b", "a"], questions=["x", "y", "z"])
    new = outcomes([NEW, OLD], models=["a", "b"], questions=["x", "y", "z"])
    turned = new.select(models=["b", "a"], questions=["z", "x", "y"])
    p, q = (bv.posterior(o, prior=bv.Past(old, discount=discount)) for o in (new, turned))
    assert p.mean == pytest.approx(q.mean[::-1], rel=1e-12)
    for label, row in (("a", 0), ("b", 1)):
        alone = bv.posterior(new.select(models=label),
                             prior=bv.Past(old.select(models=label), discount=discount))
        assert alone.mean == pytest.approx(p.mean[row], rel=1e-12)
        if discount == "learned":
            assert alone.discount == pytest.approx(p.discount[row], rel=1e-12)


def test_one_past_model_serves_all_whatever_its_name():
    new = outcomes([NEW, OLD], models=["a", "b"])
    p = bv.posterior(new, prior=bv.Past(outcomes(OLD), discount="learned"))
    assert p.discount.shape == p.mean.shape == (2,)
    assert p.discount[1] > p.discount[0]


@pytest.mark.parametrize("discount", [1, "learned"])
@pytest.mark.parametrize(("past", "message"), [
    (outcomes(OLD, questions=["x", "y", "w"]), "1 questions are not among the past outcomes: 'z'"),
    (outcomes([*OLD, [1, 1]], questions=["x", "y", "z", "w"]),
     "1 questions are not among the new outcomes: 'w'"),
    (outcomes(np.ones((9, 2), int)), r"3 questions are not among the past outcomes: 'x', 'y', 'z'"),
    (outcomes([OLD] * 2, models=["c", "d"], questions=["x", "y", "z"]),
     r"2 models have no past outcomes: 'a', 'b' \(or give one past model"),
    (outcomes([[1, 1, 0]] * 3, questions=["x", "y", "z"]), "categories")])
def test_what_does_not_match_is_named(discount, past, message):
    new = outcomes([NEW] * 2, models=["a", "b"], questions=["x", "y", "z"])
    with pytest.raises(ValueError, match=message):
        bv.posterior(new, prior=bv.Past(past, discount=discount))


def test_many_mismatches_are_cut_short():
    hmmt, aime = bv.datasets.load("hmmt_feb_2025"), bv.datasets.load("aime_2025")
    with pytest.raises(ValueError, match=r"^30 questions .*'1', '2', '3', '4', '5', \.\.\.$"):
        bv.posterior(hmmt, prior=bv.Past(aime.select(models="DeepSeek-R1")))


# -- hostile input -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), [
    ("o", {"o": [[1, 2]]}), ("o", {"o": None}), ("o", {"o": "aime_2025"}),
    *(("discount", {"discount": x}) for x in (-0.1, 1.1, np.nan, np.inf, None, "all", [0.5], True)),
    *(("base", {"base": x}) for x in (
        0, -1, np.nan, np.inf, None, "flat", [], [1, 0], [[1, 1]], 1e300))])
def test_nonsense_is_refused_by_name(name, options):
    with pytest.raises(ValueError, match=f"^{name}"):
        bv.Past(**{"o": outcomes(OLD)} | options)


@pytest.mark.parametrize("discount", [1, "learned"])
def test_a_base_of_the_wrong_length_is_refused(discount):
    with pytest.raises(ValueError, match=r"^base must have 2 entries, one for each category"):
        bv.posterior(outcomes(NEW), prior=bv.Past(outcomes(OLD), discount=discount,
                                                  base=[1, 1, 1]))


@pytest.mark.parametrize(("new", "old"), [
    ([[10**6, 0]], [[0, 10**6]]), ([[0, 1]], [[10**9, 0]]), ([[0, 0]], [[0, 0]]),
    ([[10**9, 10**9]], [[10**9, 10**9]])])
def test_extreme_counts_stay_finite(new, old):
    p = bv.posterior(outcomes(new), prior=bv.Past(outcomes(old), discount="learned", base=0.05))
    i = p.interval(0.95)
    assert 0 <= i.low <= p.mean <= i.high <= 1
    assert 0 < p.sd < 0.5
    assert 0 <= p.discount <= 1


# -- figures -----------------------------------------------------------------------------------


def test_figures_show_what_they_are_given():
    pd = pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    table = pd.DataFrame({"mean": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.7]},
                         index=["uniform", "past × 1"])
    panels = {"one": (table, {"all": 0.55}), "two": (table, {"all": 0.5})}
    left, right = figures.sensitivity(panels)
    assert [t.get_text() for t in left.get_yticklabels()] == ["uniform", "past × 1"]
    assert left.lines[-1].get_xdata()[0] == 0.55
    assert right.get_title(loc="left") == "two"
    pairs = pd.DataFrame([{"new": n, "prior": p, "log loss": 0.1 * i, "error": 0.2 * i}
                          for i, n in enumerate("AB") for p in ("u", "l")])
    axs = figures.gains(pairs)
    assert [len(ax.lines) for ax in axs] == [2, 2]
    assert list(axs[1].lines[0].get_xdata()) == [0, 0.2]
    study = pd.DataFrame([{"correlation": r, "N": n, "D": d, "tau": 0.5, "rmse": 0.1}
                          for r in (0.5, 0.9) for n in (1, 4) for d in (0, 1, 2)])
    assert figures.old_and_new(study).shape == (2, 2)
    plt.close("all")
