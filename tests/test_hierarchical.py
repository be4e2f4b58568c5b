"""Hierarchical models: densities against scipy, draws against quadrature, diagnostics that bite."""

import warnings

import arviz as az
import numpy as np
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy import special, stats

import bayeval as bv
from bayeval import betabinomial, hierarchical

MODELS, N = ["A", "B", "C"], 4
# Densities at single points: cheaper in plain Python than after compilation.
PLAIN = Mode(linker="py", optimizer="fast_compile")


@pytest.fixture(scope="module")
def o():
    """Three models on twelve questions; one cell without attempts."""
    rng = np.random.default_rng(4)
    p = special.expit(np.array([[-1.0], [0.0], [1.5]]) + rng.normal(0, 1.5, 12))
    trials = np.full(p.shape, N)
    trials[1, 3] = 0
    return bv.Outcomes.from_counts(rng.binomial(trials, p), trials, models=MODELS)


@pytest.fixture(scope="module")
def boards(o):
    fall = bv.Outcomes.from_counts([[3, 1, 0], [0, 0, 2]], N, models=["C", "D"])
    return {"spring": o, "fall": fall}


@pytest.fixture(scope="module")
def checkpoints():
    rng = np.random.default_rng(5)
    trials = rng.choice([128, 10_112, 3_720_320], size=(4, 9))
    rates = np.array([[0.0], [0.0], [1e-4], [0.02]]) * rng.gamma(0.4, 2.5, 9)
    return bv.Outcomes.from_counts(rng.binomial(trials, rates), trials, models=list("abcd"))


SIZE = {"a": 7e7, "b": 4e8, "c": 1e9, "d": 7e9}
TOKENS = {"a": 2e6, "b": 2e9, "c": 2e10, "d": 3e11}


@pytest.fixture(scope="module")
def separate(o):
    """A fit without pooling, whose posterior is known by quadrature."""
    model = hierarchical.beta_binomial(o, pooling="none")
    return hierarchical.sample(model, draws=700, tune=500, rng=1)


# --- Dimensions --------------------------------------------------------------------------------


def dims(model):
    return {name: tuple(d) for name, d in model.named_vars_to_dims.items()}


def test_beta_binomial_has_a_law_for_each_model(o):
    model = hierarchical.beta_binomial(o, cells=True)
    found = dims(model)
    assert found["eta"] == found["lam"] == found["mean"] == ("model",)
    assert found["right"] == ("cell",)
    assert list(model.coords["model"]) == MODELS
    assert len(model.coords["cell"]) == 35
    assert model.coords["cell"][0] == "A, q1"
    assert not {"B, q4"} & set(model.coords["cell"])
    assert {"eta_mean", "eta_sd", "lam_mean", "lam_sd"} <= set(model.named_vars)
    assert "eta" not in dims(hierarchical.beta_binomial(o, pooling="complete"))


def test_item_response_crosses_models_and_questions(o):
    for options in ({}, {"centered": False}, {"overdispersed": True}):
        model = hierarchical.item_response(o, **options)
        found = dims(model)
        assert (found["ability"], found["difficulty"]) == (("model",), ("question",))
        assert list(model.coords["question"]) == list(o.questions)
        assert ("concentration" in model.named_vars) == ("overdispersed" in options)


def test_benchmarks_joins_models_by_label(boards):
    model = hierarchical.benchmarks(boards)
    found = dims(model)
    assert found["ability"] == ("model", "benchmark")
    assert found["correlation"] == ("benchmark", "benchmark_other")
    assert list(model.coords["model"]) == ["A", "B", "C", "D"]
    assert model.coords["question"][-1] == "fall/q3"
    assert "D, fall/q1" in model.coords["cell"]
    assert "D, spring/q1" not in model.coords["cell"]


def test_scaling_has_a_rate_for_each_checkpoint_of_each_benchmark(checkpoints):
    other = checkpoints.select(models=["d", "c"])
    model = hierarchical.scaling({"X": checkpoints, "Y": other}, SIZE, TOKENS)
    found = dims(model)
    assert found["log_rate"] == ("checkpoint",)
    assert found["slope"] == ("benchmark", "term")
    assert list(model.coords["checkpoint"]) == ["X/a", "X/b", "X/c", "X/d", "Y/c", "Y/d"]


# --- Densities ---------------------------------------------------------------------------------


def loglik(model, **values):
    """Log-likelihood of the counts, with the named variables held at these values."""
    held = pm.do(model, values)
    logp = held.compile_logp(vars=[held["right"]], mode=PLAIN, on_unused_input="ignore")
    return float(logp(held.initial_point()))


def test_pairs_and_cells_are_one_posterior(o, checkpoints):
    for build in (lambda **k: hierarchical.beta_binomial(o, **k),
                  lambda **k: hierarchical.scaling({"X": checkpoints}, SIZE, TOKENS, **k)):
        pairs, cells = build(), build(cells=True)
        assert len(pairs.coords["cell"]) < len(cells.coords["cell"])
        point = cells.initial_point(random_seed=1)
        rng = np.random.default_rng(2)
        point = {name: x + rng.normal(0, 0.5, np.shape(x)) for name, x in point.items()}
        one, other = (float(m.compile_logp(mode=PLAIN)(point)) for m in (pairs, cells))
        assert one == pytest.approx(other, rel=1e-10)


def test_beta_binomial_likelihood(o):
    model = hierarchical.beta_binomial(o)
    eta, lam = np.array([-1.0, 0.3, 2.0]), np.array([-0.5, 0.0, 1.0])
    a, b = special.expit(eta) * np.exp(lam), special.expit(-eta) * np.exp(lam)
    exact = stats.betabinom.logpmf(o.successes, o.n_trials, a[:, None], b[:, None]).sum()
    assert loglik(model, eta=eta, lam=lam) == pytest.approx(exact, rel=1e-9)


def test_item_response_likelihood_in_every_form(o):
    ability = np.array([-1.0, 0.3, 2.0])
    difficulty = np.linspace(-2, 2, 12)
    p = special.expit(ability[:, None] - difficulty)
    given = {"ability": ability, "difficulty": difficulty}
    binomial = stats.binom.logpmf(o.successes, o.n_trials, p).sum()
    for centered in (True, False):
        model = hierarchical.item_response(o, centered=centered)
        assert loglik(model, **given) == pytest.approx(binomial, rel=1e-9)
    model = hierarchical.item_response(o, overdispersed=True)
    wide = stats.betabinom.logpmf(o.successes, o.n_trials, 3 * p, 3 * (1 - p)).sum()
    assert loglik(model, **given, concentration=3.0) == pytest.approx(wide, rel=1e-9)


def test_benchmarks_likelihood(boards):
    model = hierarchical.benchmarks(boards)
    ability = np.arange(8.0).reshape(4, 2) / 4 - 1
    difficulty = np.linspace(-2, 2, 15)
    exact = 0.0
    for b, (o, rows) in enumerate(zip(boards.values(), ([0, 1, 2], [2, 3]))):
        own = difficulty[:12] if b == 0 else difficulty[12:]
        p = special.expit(ability[rows, b][:, None] - own)
        exact += stats.binom.logpmf(o.successes, o.n_trials, p).sum()
    assert loglik(model, ability=ability, difficulty=difficulty) == pytest.approx(exact, rel=1e-9)


def test_scaling_likelihood_and_surface(checkpoints):
    model = hierarchical.scaling({"X": checkpoints}, SIZE, TOKENS)
    log_rate, log_shape = np.array([-20.0, -15.0, -9.0, -4.0]), np.array([0.0, -0.5, -1.0, 0.4])
    r, mean = np.exp(log_shape)[:, None], np.exp(log_rate)[:, None] * checkpoints.n_trials
    exact = stats.nbinom.logpmf(checkpoints.successes, r, r / (r + mean)).sum()
    assert loglik(model, log_rate=log_rate, log_shape=log_shape) == pytest.approx(exact, rel=1e-9)
    # Without spread the rates lie on the surface, in the order of the checkpoints.
    slope = np.array([[1.0, 2.0, 0.5, -0.25]])
    held = pm.do(model, {"level": np.array([-8.0]), "slope": slope, "log_shape": log_shape,
                         "spread": np.array([0.0])})
    x, t = np.log10([[given[m] for m in "abcd"] for given in (SIZE, TOKENS)]) - [[9], [10]]
    surface = -8 + np.stack([x, t, x * t, t * t], axis=1) @ slope[0]
    without = (checkpoints.successes == 0).all(axis=1)
    assert without.tolist() == [True, True, False, False]
    assert held["log_rate"].eval(mode=PLAIN)[without] == pytest.approx(surface[without])


def test_prior_predictive_counts_stay_within_the_attempts(o):
    for cells in (False, True):
        model = hierarchical.beta_binomial(o, cells=cells)
        right = hierarchical.predict(model, draws=50, rng=1).prior_predictive["right"].values
        assert right.min() == 0
        assert right.max() == N


# --- Draws -------------------------------------------------------------------------------------


def test_draws_without_pooling_are_those_of_the_quadrature(o, separate):
    found = hierarchical.check(separate)
    assert (found.parameters, found.divergences) == (15, 0)
    exact = betabinomial.quadrature(o.successes, o.n_trials)
    for name, node in (("eta", exact.eta), ("lam", exact.lam[..., None])):
        mean = (exact.weights * node).sum((1, 2))
        sd = np.sqrt((exact.weights * (node - mean[:, None, None]) ** 2).sum((1, 2)))
        drawn = separate.posterior[name]
        error = az.mcse(separate, var_names=[name])[name].values
        assert (np.abs(drawn.mean(("chain", "draw")) - mean) < 4 * error).all()
        assert drawn.std(("chain", "draw")).values == pytest.approx(sd, rel=0.15)


def test_the_seed_fixes_the_draws_whatever_the_cores():
    with pm.Model() as coin:
        pm.Beta("p", 1, 1)
    run = [hierarchical.sample(coin, draws=20, tune=20, chains=2, cores=cores, repeats=0, rng=seed)
           for cores, seed in ((1, 1), (2, 1), (1, 2))]
    one, two, other = (idata.posterior["p"].values for idata in run)
    assert (one == two).all()
    assert (one != other).any()
    assert (one[0] != one[1]).any()


def test_sampling_writes_nothing(capfd):
    with pm.Model() as coin:
        pm.Beta("p", 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hierarchical.sample(coin, draws=10, tune=10, chains=2, cores=1, repeats=0, rng=1)
    assert capfd.readouterr() == ("", "")


def test_refused_draws_are_made_again_longer(monkeypatch):
    def refuse(idata):
        raise ValueError("not converged")

    monkeypatch.setattr(hierarchical, "check", refuse)
    with pm.Model() as coin:
        pm.Beta("p", 1, 1)
    lengths = [hierarchical.sample(coin, draws=10, tune=10, chains=2, cores=1, repeats=repeats,
                                   rng=1).posterior.sizes["draw"] for repeats in (0, 1, 2)]
    assert lengths == [10, 20, 40]


# --- Diagnostics ---------------------------------------------------------------------------------


def chains(**shift):
    rng = np.random.default_rng(3)
    draws = {"x": rng.normal(size=(4, 500)), "y": rng.normal(size=(4, 500, 2))}
    for name, by in shift.items():
        draws[name] = draws[name] + by
    return draws


def idata(draws, divergent=0):
    diverging = np.arange(2000).reshape(4, 500) < divergent
    return az.from_dict(draws, sample_stats={"diverging": diverging}, dims={"y": ["question"]},
                        coords={"question": ["q1", "q2"]})


def test_check_passes_good_chains():
    found = hierarchical.check(idata(chains()))
    assert found.parameters == 3
    assert found.r_hat < 1.01
    assert found.ess > 1500


def test_check_names_the_chain_that_stands_apart():
    apart = chains(y=np.array([0, 0, 0, 2])[:, None, None] * np.array([0, 1]))
    with pytest.raises(ValueError, match=r"R-hat of y\[q2\] is 1\.\d+, the limit is 1.01"):
        hierarchical.check(idata(apart))


def test_check_refuses_sticky_chains():
    draws = chains()
    draws["x"] = np.repeat(draws["x"][:, ::50], 50, axis=1)
    with pytest.raises(ValueError, match=r"effective sample size of x is \d+, at least 400"):
        hierarchical.check(idata(draws), r_hat=2)


def test_check_counts_divergences_and_heeds_its_limits():
    with pytest.raises(ValueError, match="3 transitions diverged"):
        hierarchical.check(idata(chains(), divergent=3))
    with pytest.raises(ValueError, match="at least 1e\\+06 are wanted"):
        hierarchical.check(idata(chains()), ess=1e6)


def test_check_passes_over_constants_but_not_over_nothing_else():
    draws = chains() | {"one": np.ones((4, 500))}
    assert hierarchical.check(idata(draws)).parameters == 3
    with pytest.raises(ValueError, match="do not move"):
        hierarchical.check(az.from_dict({"one": np.ones((4, 500))}, sample_stats={
            "diverging": np.zeros((4, 500), dtype=bool)}))


def test_check_refuses_what_it_cannot_judge():
    broken = chains()
    broken["y"][2, 7, 1] = np.nan
    with pytest.raises(ValueError, match=r"not finite: y\[q2\]"):
        hierarchical.check(idata(broken))
    with pytest.raises(ValueError, match="at least 2 chains of 4 draws; found 1 of 500"):
        hierarchical.check(idata(chains()).isel(chain=[0]))
    with pytest.raises(ValueError, match="found dict without posterior"):
        hierarchical.check(chains())
    with pytest.raises(ValueError, match="without sample_stats"):
        hierarchical.check(az.from_dict(chains()))


# --- Hostile input -------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [
    hierarchical.beta_binomial, hierarchical.item_response,
    lambda o: hierarchical.benchmarks({"x": o, "y": o}),
    lambda o: hierarchical.scaling({"x": o}, SIZE, TOKENS)])
def test_models_refuse_what_is_no_binary_outcome(build):
    rubric = bv.Outcomes.from_category_counts(np.ones((2, 3, 3), dtype=int), models=["a", "b"])
    with pytest.raises(ValueError, match="3 categories"):
        build(rubric)
    with pytest.raises(ValueError, match=r"must be bayeval\.Outcomes; found list"):
        build([[1, 0]])
    with pytest.raises(ValueError, match="at least one attempt; found none"):
        build(bv.Outcomes.from_counts(np.zeros((2, 3), dtype=int), 0, models=["a", "b"]))


def test_models_need_something_to_pool(o):
    alone = o.select(models="A")
    with pytest.raises(ValueError, match="at least 2 models"):
        hierarchical.beta_binomial(alone)
    assert hierarchical.beta_binomial(alone, pooling="none").coords["model"] == ("A",)
    with pytest.raises(ValueError, match="at least 2 models and 2 questions; found 3 and 1"):
        hierarchical.item_response(o.select(questions=["q1"]))
    with pytest.raises(ValueError, match="pooling must be one of"):
        hierarchical.beta_binomial(o, pooling="full")


def test_benchmarks_need_two_boards_with_a_model_in_common(o, boards):
    with pytest.raises(ValueError, match="at least 2 benchmark names to Outcomes; found 1"):
        hierarchical.benchmarks({"spring": o})
    with pytest.raises(ValueError, match="found list"):
        hierarchical.benchmarks([o, o])
    strangers = boards["fall"].select(models=["D"])
    with pytest.raises(ValueError, match="must share models"):
        hierarchical.benchmarks({"spring": o, "fall": strangers})
    with pytest.raises(ValueError, match=r"boards\['fall'\] must have at least"):
        hierarchical.benchmarks({"spring": o, "fall": o.select(questions=["q1"])})


@pytest.mark.parametrize(("size", "words"), [
    ({"a": 1e9}, "size is missing for 3 models, the first 'b'"),
    (SIZE | {"b": 0}, "size of 'b' must be a finite number in"),
    (SIZE | {"b": float("nan")}, "size of 'b' must be a finite number in"),
    (SIZE | {"b": "7B"}, "size of 'b' must be a number"),
    ([1e9] * 4, "size must map every model to a number; found list")])
def test_scaling_needs_a_size_for_every_checkpoint(checkpoints, size, words):
    with pytest.raises(ValueError, match=words):
        hierarchical.scaling({"X": checkpoints}, size, TOKENS)


def test_sample_refuses_numbers_that_are_none(o):
    with pytest.raises(ValueError, match=r"model must be a pymc.Model; found Outcomes"):
        hierarchical.sample(o)
    model = hierarchical.beta_binomial(o)
    for bad in ({"draws": 0}, {"tune": 1.5}, {"chains": -1}, {"cores": True}, {"repeats": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be a whole number"):
            hierarchical.sample(model, **bad)
    with pytest.raises(ValueError, match="target_accept must be"):
        hierarchical.sample(model, target_accept=1)
    with pytest.raises(ValueError, match="rng must be"):
        hierarchical.sample(model, rng="seed")


def test_predictions_are_thinned_draws_of_every_cell(o, separate):
    model = hierarchical.beta_binomial(o, pooling="none", cells=True)
    drawn = hierarchical.predict(model, separate, draws=100, rng=1).posterior_predictive["right"]
    assert drawn.sizes == {"chain": 4, "draw": 25, "cell": 35}
    share = drawn.sel(cell=[c for c in drawn.cell.values if c.startswith("C,")]).mean() / N
    assert float(share) == pytest.approx(float(separate.posterior["mean"].sel(model="C").mean()),
                                         abs=0.05)
    with pytest.raises(ValueError, match="draws must be a whole number"):
        hierarchical.predict(model, separate, draws=0)
