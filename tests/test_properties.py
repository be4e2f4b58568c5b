"""What must hold for any outcomes: orders, symmetries, bounds, monotone curves, affine weights."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bayeval as bv

few = settings(max_examples=60, deadline=None)


@st.composite
def matrices(draw, models=(1, 4), questions=(1, 5), trials=(1, 8), top=1, missing=False):
    """Outcome codes of shape (L, M, N), as floats with NaN if some are missing."""
    shape = tuple(draw(st.integers(*sides)) for sides in (models, questions, trials))
    R = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, top)))
    if not missing:
        return R
    return np.where(draw(hnp.arrays(bool, shape)), R, np.nan)


@st.composite
def counts(draw, models=(1, 3), questions=(1, 4), categories=(2, 2), largest=60):
    """Counts by category of shape (L, M, C+1)."""
    shape = tuple(draw(st.integers(*sides)) for sides in (models, questions, categories))
    return draw(hnp.arrays(np.int64, shape, elements=st.integers(0, largest)))


def permutation(data, size):
    return np.array(data.draw(st.permutations(range(size))))


# -- the order of the uniform prior ------------------------------------------------------------


@few
@given(matrices(models=(2, 6), top=2), st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_the_uniform_prior_orders_models_as_avg_does(R, weights):
    o = bv.Outcomes.from_matrix(R, categories=3)
    N, T = R.shape[2], R.shape[2] + 3
    mean, avg = bv.posterior(o, weights=weights).mean, bv.avg(o, weights)
    assert np.allclose(mean, (np.sum(weights) + N * avg) / T, rtol=1e-12, atol=1e-12)
    assert np.array_equal(bv.ranking.ranks(mean + 10), bv.ranking.ranks(avg + 10))


@few
@given(matrices(models=(1, 1)))
def test_the_sd_on_the_scale_of_avg_is_that_of_the_paper(R):
    o = bv.Outcomes.from_matrix(R)
    N, p = R.shape[2], (R.sum(axis=2) + 1) / (R.shape[2] + 2)
    variance = (p * (1 - p) / (N + 3)).sum() / R.shape[1] ** 2
    assert np.isclose(bv.posterior(o).sd[0], np.sqrt(variance), rtol=1e-12)


# -- symmetries ------------------------------------------------------------------------------


@few
@given(matrices(missing=True), st.data())
def test_the_order_of_attempts_does_not_matter(R, data):
    shuffled = R[:, :, permutation(data, R.shape[2])]
    a, b = bv.Outcomes.from_matrix(R), bv.Outcomes.from_matrix(shuffled)
    assert np.array_equal(a.counts, b.counts)
    assert np.array_equal(a.planned, b.planned)


@few
@given(counts(models=(2, 4), questions=(2, 5)), st.data())
def test_the_order_of_questions_does_not_matter(c, data):
    shuffled = c[:, permutation(data, c.shape[1])]
    a, b = (bv.posterior(bv.Outcomes.from_category_counts(x)) for x in (c, shuffled))
    assert np.allclose(a.mean, b.mean, rtol=1e-13)
    assert np.allclose(a.sd, b.sd, rtol=1e-13)
    for kind in ("equal-tailed", "hdi"):
        i, j = a.interval(0.9, kind=kind), b.interval(0.9, kind=kind)
        assert np.allclose(i.low, j.low, atol=1e-6)
        assert np.allclose(i.high, j.high, atol=1e-6)
    assert np.allclose(a.pass_at_k(3).mean, b.pass_at_k(3).mean, rtol=1e-13)


@few
@given(counts(models=(2, 4)), st.data())
def test_the_order_of_models_does_not_matter(c, data):
    order = permutation(data, len(c))
    labels = [f"model {i}" for i in range(len(c))]
    a = bv.leaderboard(bv.Outcomes.from_category_counts(c, models=labels))
    b = bv.leaderboard(bv.Outcomes.from_category_counts(
        c[order], models=[labels[i] for i in order]))
    assert a.sort_index().equals(b.sort_index())


@few
@given(counts(), st.data())
def test_names_of_labels_do_not_matter(c, data):
    names = data.draw(st.lists(st.text() | st.integers() | st.tuples(st.text()), unique=True,
                               min_size=c.shape[1], max_size=c.shape[1]))
    a, b = bv.Outcomes.from_category_counts(c), bv.Outcomes.from_category_counts(c, questions=names)
    assert b.questions == tuple(names)
    assert np.array_equal(bv.posterior(a).mean, bv.posterior(b).mean)
    assert np.array_equal(b.select(questions=names[::-1]).counts, a.counts[:, ::-1])


# -- batches ---------------------------------------------------------------------------------


@few
@given(matrices(trials=(2, 9), top=2, missing=True), st.data())
def test_two_batches_merge_to_one(R, data):
    cut = data.draw(st.integers(1, R.shape[2] - 1))
    whole, first, second = (bv.Outcomes.from_matrix(x, categories=3)
                            for x in (R, R[:, :, :cut], R[:, :, cut:]))
    merged = first.merge(second)
    assert np.array_equal(merged.counts, whole.counts)
    assert np.array_equal(merged.planned, whole.planned)
    assert np.array_equal(merged.coverage, whole.coverage)
    w = [0, 0.5, 1]
    after = bv.posterior(second, weights=w, prior=bv.Past(first))
    assert np.allclose(after.mean, bv.posterior(whole, weights=w).mean, rtol=1e-14)


@few
@given(matrices(top=2, missing=True))
def test_a_frame_of_the_attempts_gives_the_same_counts(R):
    import pandas as pd
    l, m, _ = np.indices(R.shape)
    df = pd.DataFrame({"l": l.ravel(), "m": m.ravel(), "y": R.ravel()})
    o = bv.Outcomes.from_frame(df, model="l", question="m", outcome="y", categories=3)
    same = bv.Outcomes.from_matrix(R, categories=3)
    assert np.array_equal(o.counts, same.counts)
    assert np.array_equal(o.planned, same.planned)


# -- bounds and monotone curves ------------------------------------------------------------------


@few
@given(counts(categories=(2, 4), largest=12), st.data())
def test_scores_and_intervals_stay_in_the_range_of_the_weights(c, data):
    w = data.draw(st.lists(st.integers(-5, 5), min_size=c.shape[2], max_size=c.shape[2]))
    p = bv.posterior(bv.Outcomes.from_category_counts(c), weights=w)
    slack = 1e-12 * (1 + np.abs(w).max())
    for kind in ("equal-tailed", "hdi"):
        i = p.interval(0.95, kind=kind)
        assert (np.min(w) <= i.low).all()
        assert (i.low <= i.high).all()
        assert (i.high <= np.max(w)).all()
    for x in (p.mean, p.draws(20, rng=0)):
        assert (x >= np.min(w) - slack).all()
        assert (x <= np.max(w) + slack).all()
    assert (p.sd <= (np.max(w) - np.min(w)) / 2 + slack).all()


@few
@given(counts(categories=(2, 3), largest=12))
def test_the_hdi_is_no_wider_than_the_equal_tailed_interval(c):
    w = [0, 0.4, 1][-c.shape[2]:] if c.shape[2] == 3 else None
    p = bv.posterior(bv.Outcomes.from_category_counts(c), weights=w)
    for probability in (0.5, 0.95, 0.999):
        widths = [p.interval(probability, kind=kind).width for kind in ("hdi", "equal-tailed")]
        assert (widths[0] <= widths[1] + 1e-5).all()


@few
@given(counts(largest=12))
def test_intervals_are_nested(c):
    p = bv.posterior(bv.Outcomes.from_category_counts(c))
    inner, outer = p.interval(0.8), p.interval(0.9)
    assert (outer.low <= inner.low).all()
    assert (inner.high <= outer.high).all()


@few
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.lists(
    st.integers(0, n), min_size=1, max_size=5))))
def test_unbiased_curves_are_monotone_in_k_and_bounded_by_each_other(case):
    n, c = case
    o = bv.Outcomes.from_counts(c, n)
    k = np.arange(1, n + 1)
    some, every = bv.pass_at_k(o, k), bv.pass_hat_k(o, k)
    half = bv.g_pass_at_k(o, k, tau=0.5)
    slack = 1e-13
    assert (np.diff(some) >= -slack).all()
    assert (np.diff(every) <= slack).all()
    assert (every - slack <= half).all()
    assert (half <= some + slack).all()
    assert (every >= 0).all()
    assert (some <= 1).all()
    assert np.isclose(some[0], bv.avg(o), rtol=1e-12)
    assert np.isclose(every[0], bv.avg(o), rtol=1e-12)
    for form in ("sum", "integral"):
        mean = bv.mg_pass_at_k(o, k, form=form)
        assert (mean >= 0).all()
        assert (mean <= half + slack).all()


@few
@given(st.integers(1, 30), st.data())
def test_more_successes_are_never_worse(n, data):
    c = data.draw(st.integers(0, n - 1))
    k = data.draw(st.integers(1, n))
    tau = data.draw(st.sampled_from([0.25, 0.5, 0.75, 1]))
    less, more = (bv.Outcomes.from_counts([x], n) for x in (c, c + 1))
    for metric in (bv.avg, lambda o: bv.pass_at_k(o, k), lambda o: bv.pass_hat_k(o, k),
                   lambda o: bv.g_pass_at_k(o, k, tau=tau), lambda o: bv.mg_pass_at_k(o, k),
                   lambda o: bv.posterior(o).mean, lambda o: bv.posterior(o).interval().low,
                   lambda o: bv.posterior(o).pass_at_k(k).mean,
                   lambda o: bv.posterior(o).g_pass_at_k(k, tau=tau).mean):
        assert metric(less) <= metric(more) + 1e-12


@few
@given(counts(models=(1, 1), largest=30))
def test_posterior_curves_are_monotone_for_any_k(c):
    p = bv.posterior(bv.Outcomes.from_category_counts(c))
    k = [1, 2, 3, 10, 100, 10**4, 10**6]
    some, every = p.pass_at_k(k).mean, p.pass_hat_k(k).mean
    assert (np.diff(some) >= 0).all()  # from about 1 - 1e-16 on the floats are used up
    assert (np.diff(every) < 0).all()
    assert np.isclose(some[0, 0], p.mean[0], rtol=1e-12)
    assert ((every > 0) & (some <= 1)).all()


# -- weights ---------------------------------------------------------------------------------


@few
@given(counts(categories=(2, 4), largest=12), st.integers(-4, 4), st.integers(1, 5), st.data())
def test_affine_weights_move_the_answers_with_them(c, shift, scale, data):
    w = np.array(data.draw(st.lists(st.integers(0, 4), min_size=c.shape[2],
                                    max_size=c.shape[2])))
    o = bv.Outcomes.from_category_counts(c)
    p, q = bv.posterior(o, weights=w), bv.posterior(o, weights=shift + scale * w)
    size = np.abs(shift) + scale * 5
    assert np.allclose(q.mean, shift + scale * p.mean, rtol=0, atol=1e-13 * size)
    assert np.allclose(q.sd, scale * p.sd, rtol=1e-11, atol=1e-13 * size)
    # Quantiles are exact to about 1e-4 of the scale, and the lattice falls differently.
    i, j = p.interval(), q.interval()
    assert np.allclose(j.low, shift + scale * i.low, rtol=0, atol=1e-3 * scale)
    assert np.allclose(j.high, shift + scale * i.high, rtol=0, atol=1e-3 * scale)
    # A flat density has many shortest intervals, all of one width.
    i, j = p.interval(kind="hdi"), q.interval(kind="hdi")
    assert np.allclose(j.width, scale * i.width, rtol=0, atol=1e-3 * scale)


@few
@given(counts(largest=12))
def test_swapping_right_and_wrong_mirrors_the_answers(c):
    p, q = (bv.posterior(bv.Outcomes.from_category_counts(x)) for x in (c, c[..., ::-1]))
    assert np.allclose(q.mean, 1 - p.mean, rtol=1e-13)
    assert np.allclose(q.sd, p.sd, rtol=1e-12)
    assert np.allclose(q.interval().low, 1 - p.interval().high, rtol=0, atol=1e-4)
    assert np.allclose(q.pass_at_k(4).mean, 1 - p.pass_hat_k(4).mean, rtol=1e-12)


@few
@given(counts(categories=(3, 4), largest=20), st.data())
def test_equal_weights_make_one_category(c, data):
    joined = np.stack([c[..., :-2].sum(axis=-1), c[..., -2:].sum(axis=-1)], axis=-1)
    w = [0] * (c.shape[2] - 2) + [1, 1]
    prior = bv.Dirichlet([c.shape[2] - 2, 2])
    p = bv.posterior(bv.Outcomes.from_category_counts(c), weights=w)
    q = bv.posterior(bv.Outcomes.from_category_counts(joined), prior=prior)
    assert np.allclose(p.mean, q.mean, rtol=1e-13)
    assert np.allclose(p.sd, q.sd, rtol=1e-12)
    assert np.allclose(p.interval().low, q.interval().low, atol=1e-4)


# -- comparisons -----------------------------------------------------------------------------


@few
@given(counts(models=(2, 2), largest=20))
def test_comparisons_are_antisymmetric(c):
    o = bv.Outcomes.from_category_counts(c)
    a, b = (bv.posterior(o.select(models=m)) for m in o.models)
    there, back = bv.compare(a, b), bv.compare(b, a)
    assert (there.difference, there.z) == (-back.difference, back.z)
    assert np.isclose(there.superiority + back.superiority, 1, atol=1e-9)
    assert 0.5 <= there.rho <= 1


@few
@given(hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(2, 5)),
                  elements=st.integers(0, 4).map(float)))
def test_tau_and_ranks_know_only_the_order(scores):
    reference = scores[-1]
    tau = bv.kendall_tau(scores, reference)
    assert np.array_equal(tau, bv.kendall_tau(np.exp(scores), 3 * reference + 1), equal_nan=True)
    assert (np.isnan(tau) | (np.abs(tau) <= 1 + 1e-15)).all()
    assert np.array_equal(bv.ranking.ranks(scores), bv.ranking.ranks(np.exp(scores)))
    assert bv.convergence_at_n(scores) <= len(scores)
