r"""Hierarchical models in PyMC: models, questions and benchmarks that lend each other strength.

Each function takes counts and returns a `pymc.Model` with named dimensions, ready for `sample`
and for everything in PyMC and ArviZ. This is the only module that needs PyMC, and
``import bayeval`` does not load it: ``from bayeval import hierarchical``.

PyTensor compiles with numba and without a C compiler, unless it was imported before or
``PYTENSOR_FLAGS`` says otherwise: the same draws on every machine, with or without a compiler.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd

os.environ.setdefault("PYTENSOR_FLAGS", "cxx=,linker=numba")

import arviz as az
import pymc as pm
import pytensor.tensor as pt
from pytensor.compile.mode import Mode

from bayeval import _validate as valid
from bayeval.betabinomial import HYPERPRIOR

__all__ = ["Diagnostics", "benchmarks", "beta_binomial", "check", "item_response", "predict",
           "sample", "scaling"]


# -- models ---------------------------------------------------------------------------------


def beta_binomial(o, *, pooling="partial", cells=False):
    r"""Beta-binomial law of each model's questions, partially pooled across models.

    Model l solves question m in each attempt with chance :math:`p_{lm}`, drawn from a beta law
    with mean :math:`\mathrm{expit}(\eta_l)` and concentration :math:`e^{\lambda_l}`. With partial
    pooling

    .. math:: \eta_l \sim N(\bar\eta, \sigma_\eta), \qquad
        \lambda_l \sim N(\bar\lambda, \sigma_\lambda),

    and the four parameters of that population are learned too.

    Parameters
    ----------
    o : Outcomes
        Binary, L models on M questions. Attempts may be unequal; cells without are left out.
    pooling : {"partial", "none", "complete"}
        "none" gives each model the package's hyperprior, as `bayeval.betabinomial.quadrature`
        does; "complete" takes all models for one.
    cells : bool
        One likelihood term for each model and question, for predictions and LOO. Without, one
        for each distinct pair of counts of a model, times the number of its questions that have
        it: the same posterior, several times as fast.

    Returns
    -------
    pymc.Model
        Dimensions `model` and `cell`. Variables `mean`, `eta`, `lam` and the counts `right`;
        with partial pooling also `eta_mean`, `eta_sd`, `lam_mean`, `lam_sd`.

    Raises
    ------
    ValueError
        If the outcomes are not binary, without attempts, or too few models to pool.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[4, 1, 4], [2, 0, 4]], 4, models=["A", "B"])
    >>> model = beta_binomial(o)
    >>> model.named_vars_to_dims["mean"]
    ('model',)
    """
    valid.choice("pooling", pooling, ("partial", "none", "complete"))
    t = _table(o, at_least_models=2 if pooling == "partial" else 1)
    if not cells:
        t = t.pairs()
    with pm.Model(coords=t.coords("model")) as model:
        if pooling == "partial":
            eta_mean, eta_sd = pm.Normal("eta_mean", 0, 1.5), pm.HalfNormal("eta_sd", 2)
            lam_mean, lam_sd = pm.Normal("lam_mean", 0.5, 1.5), pm.HalfNormal("lam_sd", 1)
            eta = pm.Normal("eta", eta_mean, eta_sd, dims="model")
            z = pm.Normal("lam_z", dims="model")
            lam = pm.Deterministic("lam", lam_mean + lam_sd * z, dims="model")
        else:
            dims = "model" if pooling == "none" else None
            log_a = pm.Normal("log_a", 0, HYPERPRIOR.sd, dims=dims)
            log_b = pm.Normal("log_b", 0, HYPERPRIOR.sd, dims=dims)
            eta = pm.Deterministic("eta", log_a - log_b, dims=dims)
            lam = pm.Deterministic("lam", pt.logaddexp(log_a, log_b), dims=dims)
        mean = pm.Deterministic("mean", pm.math.sigmoid(eta), dims="model" if eta.ndim else None)
        a, b = mean * pt.exp(lam), pm.math.sigmoid(-eta) * pt.exp(lam)
        if pooling != "complete":
            a, b = a[t.model], b[t.model]
        _observe(t, pm.BetaBinomial, alpha=a, beta=b, n=t.attempts)
    return model


def item_response(o, *, centered=True, overdispersed=False):
    r"""Item-response model: the ability of each model less the difficulty of each question.

    .. math:: \mathrm{logit}\, p_{lm} = \theta_l - \delta_m, \qquad
        \theta_l \sim N(\bar\theta, \sigma_\theta), \qquad
        \delta_m \sim N(0, \sigma_\delta), \quad \sum_m \delta_m = 0.

    Parameters
    ----------
    o : Outcomes
        Binary, at least two models and two questions. Attempts may be unequal; cells without
        are left out of the likelihood, and predicted like all others.
    centered : bool
        Sample abilities and difficulties as they stand, which suits many attempts and models;
        False samples standard normal variables and scales them (non-centered), which suits few.
        It is the same model either way.
    overdispersed : bool
        Let each cell depart from the sum of the two effects: its chance is beta with mean
        :math:`\mathrm{expit}(\theta_l - \delta_m)` and a learned `concentration`.

    Returns
    -------
    pymc.Model
        Dimensions `model`, `question` and `cell`. Variables `ability`, `difficulty`,
        `ability_mean`, `ability_sd`, `difficulty_sd`, the counts `right`, and `concentration`
        if overdispersed.

    Raises
    ------
    ValueError
        If the outcomes are not binary, without attempts, or have a single model or question.

    References
    ----------
    Rasch (1960), Probabilistic Models for Some Intelligence and Attainment Tests.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[4, 1, 4], [2, 0, 4]], 4, models=["A", "B"])
    >>> model = item_response(o)
    >>> model.named_vars_to_dims["difficulty"]
    ('question',)
    """
    t = _table(o, at_least_models=2, at_least_questions=2)
    known = _information(t.question, t, len(t.questions))
    with pm.Model(coords=t.coords("model", "question")) as model:
        ability_mean = pm.Normal("ability_mean", 0, 2)
        ability_sd = pm.HalfNormal("ability_sd", 3)
        difficulty_sd = pm.HalfNormal("difficulty_sd", 3)
        if centered:
            ability = pm.Normal("ability", ability_mean, ability_sd, dims="model")
            free = _zero_sum("difficulty_free", difficulty_sd, known)
            difficulty = pm.Deterministic("difficulty", free, dims="question")
        else:
            z = pm.Normal("ability_z", dims="model")
            ability = pm.Deterministic("ability", ability_mean + ability_sd * z, dims="model")
            z = _zero_sum("difficulty_z", 1, known)
            difficulty = pm.Deterministic("difficulty", difficulty_sd * z, dims="question")
        _logistic(t, ability[t.model] - difficulty[t.question], overdispersed)
    return model


def benchmarks(boards):
    r"""Abilities of models on several benchmarks, correlated across the benchmarks.

    .. math:: \mathrm{logit}\, p_{lm} = \theta_{l b(m)} - \delta_m, \qquad
        \theta_l \sim N(\bar\theta, \mathrm{diag}(\sigma)\, R\, \mathrm{diag}(\sigma)),

    where b(m) is the benchmark of question m. A model's results on one benchmark then speak about
    its ability on the others, as far as the learned correlation R says.

    Parameters
    ----------
    boards : dict of str to Outcomes
        Two benchmarks or more, all binary. A model is known by its label; it may be missing from
        a benchmark, and its ability there is predicted.

    Returns
    -------
    pymc.Model
        Dimensions `model`, `benchmark`, `question` and `cell`. Variables `ability` (model,
        benchmark), `difficulty` (question; sums to zero in each benchmark), `ability_mean`,
        `ability_sd`, `difficulty_sd` (benchmark), the matrix `correlation` and the counts
        `right`. Abilities are non-centered, and their deviations sum to zero over the models.

    Raises
    ------
    ValueError
        If there is a single benchmark, if one is not binary or has a single question, or if no
        model has been on two of them.

    References
    ----------
    Lewandowski, Kurowicka and Joe (2009), Journal of Multivariate Analysis 100.

    Examples
    --------
    >>> import bayeval as bv
    >>> spring = bv.Outcomes.from_counts([[4, 1, 4], [2, 0, 4]], 4, models=["A", "B"])
    >>> fall = bv.Outcomes.from_counts([[3, 1], [0, 0]], 4, models=["B", "C"])
    >>> model = benchmarks({"spring": spring, "fall": fall})
    >>> model.named_vars_to_dims["ability"]
    ('model', 'benchmark')
    """
    t = _stack(boards, at_least=2)
    if len(t.models) == sum(o.n_models for o in boards.values()):
        raise ValueError("boards must share models; no label stands in two of them "
                         "(are the names spelled alike?)")
    names, B = list(boards), len(boards)
    coords = t.coords("model", "question") | {"benchmark": names, "benchmark_other": names}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("ability_mean", 0, 2, dims="benchmark")
        # What the benchmarks share is sampled as it stands, on the best known one, and comes first;
        # the rest is scaled.
        tried = np.bincount(t.board[t.question], t.attempts, minlength=B)
        place = np.argsort(np.argsort(-tried, kind="stable"))
        scale, R, sd = pm.LKJCholeskyCov("ability_cov", eta=2, n=B,
                                         sd_dist=pm.HalfNormal.dist(3, shape=B))
        pm.Deterministic("ability_sd", sd[place], dims="benchmark")
        pm.Deterministic("correlation", R[place][:, place], dims=("benchmark", "benchmark_other"))
        known = _information(t.model, t, len(t.models))
        common = _zero_sum("ability_common", scale[0, 0], known)
        z = _zero_sum("ability_z", 1, known, rows=(B - 1,))
        own = pt.dot(scale[:, 1:], z) + scale[:, :1] / scale[0, 0] * common
        ability = pm.Deterministic("ability", mean + own[place].T, dims=("model", "benchmark"))
        spread = pm.HalfNormal("difficulty_sd", 3, dims="benchmark")
        known = _information(t.question, t, len(t.questions))
        parts = [_zero_sum(f"difficulty_of_{name}", spread[b], known[t.board == b])
                 for b, name in enumerate(names)]
        difficulty = pm.Deterministic("difficulty", pt.concatenate(parts), dims="question")
        _logistic(t, ability[t.model, t.board[t.question]] - difficulty[t.question])
    return model


def scaling(boards, size, tokens, *, cells=False):
    r"""Success against the size of a model and the tokens it was trained on.

    Made for very small chances and very unequal numbers of attempts. The rate of checkpoint l on
    benchmark b is :math:`e^{\rho_{lb}}`, and question m departs from it by a factor with mean 1:

    .. math::
        c_{lm} &\sim \mathrm{Poisson}(n_{lm} e^{\rho_{lb}} g_{lm}), \qquad
        g_{lm} \sim \mathrm{Gamma}(r_{lb}, r_{lb}), \\
        \rho_{lb} &\sim N(\beta_{b0} + \beta_{b1} x_l + \beta_{b2} t_l + \beta_{b3} x_l t_l
        + \beta_{b4} t_l^2, \varsigma_b), \qquad \log r_{lb} \sim N(\nu_b, \omega_b),

    with :math:`x = \log_{10}(\mathrm{size} / 10^9)` and
    :math:`t = \log_{10}(\mathrm{tokens} / 10^{10})`. The factors of the questions are integrated
    out, so that the counts are negative binomial.

    Parameters
    ----------
    boards : dict of str to Outcomes
        One benchmark or more, all binary; the models are checkpoints.
    size, tokens : mapping of label to float
        Parameters and training tokens of every checkpoint, both positive.
    cells : bool
        As in `beta_binomial`.

    Returns
    -------
    pymc.Model
        Dimensions `benchmark`, `checkpoint` (of a benchmark), `term` and `cell`. Variables
        `log_rate` and `log_shape` (checkpoint), `slope` (benchmark, term), `level`, `spread`,
        `shape_level` and `shape_spread` (benchmark) and the counts `right`.

    Raises
    ------
    ValueError
        If outcomes are not binary, or size or tokens of a checkpoint is missing or not positive.

    Notes
    -----
    The Poisson law stands for the binomial: harmless while rates are below a few percent. The
    rates of checkpoints with a success are sampled as they stand, those of the others as
    deviations from the surface (non-centered): data pin down the former only. The deviations of
    the log shapes from :math:`\nu_b` sum to zero.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[0, 1], [3, 0]], [[10_000], [128]], models=["S", "L"])
    >>> model = scaling({"MATH": o}, {"S": 7e7, "L": 7e9}, {"S": 2e9, "L": 3e11})
    >>> model.named_vars_to_dims["slope"]
    ('benchmark', 'term')
    """
    t = _stack(boards, at_least=1)
    x, k = (_covariate(name, given, t.models, unit)
            for name, given, unit in (("size", size, 1e9), ("tokens", tokens, 1e10)))
    # A checkpoint has a rate of its own on every benchmark.
    code, row = np.unique(t.board[t.question] * len(t.models) + t.model, return_inverse=True)
    of, board = code % len(t.models), code // len(t.models)
    names = list(boards)
    terms = {"size": x, "tokens": k, "size x tokens": x * k, "tokens^2": k * k}
    X = np.stack(list(terms.values()), axis=1)[of]
    t = _Table([f"{names[b]}/{t.models[i]}" for i, b in zip(of, board)], t.questions, row,
               t.question, t.right, t.attempts, t.weight, t.board)
    solved = np.bincount(t.model, t.right > 0, minlength=len(t.models))
    if not cells:
        t = t.pairs()
    coords = {"benchmark": names, "checkpoint": t.models, "term": list(terms)} | t.coords()
    with pm.Model(coords=coords) as model:
        level = pm.Normal("level", -8, 3, dims="benchmark")
        slope = pm.Normal("slope", 0, 2, dims=("benchmark", "term"))
        spread = pm.HalfNormal("spread", 2, dims="benchmark")
        surface = level[board] + (slope[board] * X).sum(axis=1)
        log_rate = _mixed("log_rate", surface, spread[board], solved > 0, dims="checkpoint")
        shape_level = pm.Normal("shape_level", -1, 1, dims="benchmark")
        shape_spread = pm.HalfNormal("shape_spread", 1, dims="benchmark")
        z = pt.concatenate([_zero_sum(f"log_shape_of_{name}", 1, solved[board == b])
                            for b, name in enumerate(names)])
        log_shape = pm.Deterministic("log_shape", shape_level[board] + shape_spread[board] * z,
                                     dims="checkpoint")
        _observe(t, pm.NegativeBinomial, mu=t.attempts * pt.exp(log_rate[t.model]),
                 alpha=pt.exp(log_shape)[t.model])
    return model


# -- sampling -------------------------------------------------------------------------------


def sample(model, *, draws=1000, tune=1000, chains=4, cores=2, target_accept=0.95, repeats=1,
           progress=False, rng=None):
    """Draw from the posterior with NUTS.

    Parameters
    ----------
    model : pymc.Model
    draws, tune : int
        Draws kept in each chain, and draws before them that adapt the sampler.
    chains, cores : int
        Independent chains, and how many run at once.
    target_accept : float, default 0.95
        Closer to 1 for smaller and safer steps, where transitions diverge.
    repeats : int, default 1
        If `check` would refuse the draws of several chains, sample again with twice the tuning
        and draws and with smaller steps, at most so often.
    progress : bool
        Show a progress bar. Off by default: a book has no use for it.
    rng : seed or numpy Generator, optional
        The same seed gives the same draws, whatever `cores` is. Another kind of processor may
        round otherwise, and the chains then take another path of the same law.

    Returns
    -------
    arviz.InferenceData
        Give it to `check` before anything else.

    Raises
    ------
    ValueError
        If `model` is no PyMC model, or a number is out of range.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as coin:
    ...     p = pm.Beta("p", 1, 1)
    ...     seen = pm.Binomial("seen", n=10, p=p, observed=7)
    >>> idata = sample(coin, draws=500, tune=200, chains=2, cores=1, rng=1)
    >>> abs(float(idata.posterior["p"].mean()) - 8 / 12) < 0.05
    True
    """
    _require_model(model)
    draws, tune, chains, cores = (valid.whole(name, x) for name, x in (
        ("draws", draws), ("tune", tune), ("chains", chains), ("cores", cores)))
    repeats = valid.whole("repeats", repeats, low=0)
    target_accept = valid.probability("target_accept", target_accept)
    seed = int(valid.generator(rng).integers(2**31))
    # The first steps of a chain may leave the floats: the sampler takes that for a wall.
    with np.errstate(invalid="ignore", over="ignore"):
        idata = pm.sample(draws, tune=tune, chains=chains, cores=min(cores, chains),
                          random_seed=seed, model=model, target_accept=target_accept,
                          progressbar=progress, quiet=not progress,
                          compute_convergence_checks=False, compile_kwargs={"mode": "NUMBA"})
    if repeats and chains > 1:
        try:
            check(idata)
        except ValueError:
            return sample(model, draws=2 * draws, tune=2 * tune, chains=chains, cores=cores,
                          target_accept=1 - (1 - target_accept) / 4, repeats=repeats - 1,
                          progress=progress, rng=seed)
    return idata


def predict(model, idata=None, *, draws=500, rng=None):
    """Draw new counts, from the prior or from the posterior.

    Parameters
    ----------
    model : pymc.Model
        One with a term for each cell (``cells=True``), for counts of every cell.
    idata : arviz.InferenceData, optional
        Posterior draws, as of `sample`. Without, parameters are drawn from the prior.
    draws : int
        How many sets of counts, in all. From the posterior at most that many: every j-th draw
        of each chain.
    rng : seed or numpy Generator, optional

    Returns
    -------
    arviz.InferenceData
        With the group `prior_predictive` (and `prior`) or `posterior_predictive`.

    Raises
    ------
    ValueError
        If `model` is no PyMC model, or `draws` no whole number >= 1.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as coin:
    ...     p = pm.Beta("p", 1, 1)
    ...     seen = pm.Binomial("seen", n=10, p=p, observed=7)
    >>> predict(coin, draws=20, rng=1).prior_predictive["seen"].shape
    (1, 20)
    """
    _require_model(model)
    draws = valid.whole("draws", draws)
    options = {"model": model, "random_seed": int(valid.generator(rng).integers(2**31)),
               # A single pass: compiling would take longer than it saves.
               "compile_kwargs": {"mode": Mode(linker="py", optimizer="fast_compile")}}
    with _quiet():
        if idata is None:
            return pm.sample_prior_predictive(draws, **options)
        step = -(-idata.posterior.sizes["chain"] * idata.posterior.sizes["draw"] // draws)
        return pm.sample_posterior_predictive(idata.sel(draw=slice(None, None, step)),
                                              progressbar=False, **options)


@contextmanager
def _quiet():
    """PyMC's log, off."""
    log = logging.getLogger("pymc")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _require_model(model):
    if not isinstance(model, pm.Model):
        raise ValueError(f"model must be a pymc.Model; found {type(model).__name__}")


@dataclass(frozen=True)
class Diagnostics:
    """Worst diagnostics over all parameters of a sample that passed `check`.

    Attributes
    ----------
    r_hat : float
        Largest rank-normalized split R-hat.
    ess : float
        Smallest effective sample size, of bulk and tails.
    divergences : int
    parameters : int
        Scalar parameters looked at.
    """

    r_hat: float
    ess: float
    divergences: int
    parameters: int

    def __str__(self):
        return (f"{self.parameters} parameters, R-hat <= {self.r_hat:.3f}, "
                f"ESS >= {self.ess:.0f}, {self.divergences} divergences")


def check(idata, *, r_hat=1.01, ess=400):
    """Refuse draws that are not to be trusted.

    Parameters
    ----------
    idata : arviz.InferenceData
        With the groups `posterior` and `sample_stats`, at least two chains.
    r_hat : float
        Largest R-hat allowed.
    ess : float
        Smallest effective sample size allowed, for the bulk and for the tails.

    Returns
    -------
    Diagnostics

    Raises
    ------
    ValueError
        If a parameter has a larger R-hat or a smaller effective sample size, or if transitions
        diverged: the message names the worst parameter.

    Notes
    -----
    Entries that never move, such as the ones on the diagonal of a correlation matrix, have no
    diagnostics and are passed over, unless nothing moves.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16.

    Examples
    --------
    >>> import arviz as az, numpy as np
    >>> draws = np.random.default_rng(1).normal(size=(4, 500))
    >>> good = az.from_dict({"x": draws}, sample_stats={"diverging": draws > 9})
    >>> check(good).r_hat < 1.01
    True
    >>> check(az.from_dict({"x": draws + [[0], [0], [0], [3]]},
    ...                    sample_stats={"diverging": draws > 9}))
    Traceback (most recent call last):
    ...
    ValueError: the draws have not converged: R-hat of x is ..., the limit is 1.01...
    """
    for group in ("posterior", "sample_stats"):
        if not hasattr(idata, group):
            raise ValueError("idata must be arviz.InferenceData with the groups posterior and "
                             f"sample_stats; found {type(idata).__name__} without {group}")
    posterior = idata.posterior
    if posterior.sizes["chain"] < 2 or posterior.sizes["draw"] < 4:
        raise ValueError("idata must have at least 2 chains of 4 draws; found "
                         f"{posterior.sizes['chain']} of {posterior.sizes['draw']}")
    finite = _names_and_values(np.isfinite(posterior).all(("chain", "draw")))
    if not all(ok for _, ok in finite):
        raise ValueError("the draws are not finite: "
                         + next(name for name, ok in finite if not ok))
    moves = [ok for _, ok in _names_and_values(posterior.std(("chain", "draw")) > 0)]
    if not any(moves):
        raise ValueError("the draws do not move: every parameter has a single value")
    with np.errstate(invalid="ignore", divide="ignore"):
        tables = [_names_and_values(x) for x in (
            az.rhat(posterior), az.ess(posterior, method="bulk"), az.ess(posterior, method="tail"))]
    hat, bulk, tail = ([row for row, moving in zip(table, moves) if moving] for table in tables)
    worst = max(hat, key=lambda row: row[1])
    fewest = min(bulk + tail, key=lambda row: row[1])
    stats = idata.sample_stats
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
    failed = []
    if not worst[1] <= r_hat:
        failed.append(f"R-hat of {worst[0]} is {worst[1]:.3f}, the limit is {r_hat:g}")
    if not fewest[1] >= ess:
        failed.append(f"the effective sample size of {fewest[0]} is {fewest[1]:.0f}, "
                      f"at least {ess:g} are wanted")
    if divergences:
        failed.append(f"{divergences} transitions diverged")
    if failed:
        raise ValueError("the draws have not converged: " + "; ".join(failed)
                         + " (more draws or another form of the model may help)")
    return Diagnostics(float(worst[1]), float(fewest[1]), divergences, len(hat))


def _names_and_values(data):
    """(name with labels, value) of every scalar of a Dataset."""
    rows = []
    for name, array in data.data_vars.items():
        labels = [array[d].values if d in array.coords else range(array.sizes[d])
                  for d in array.dims]
        for at in np.ndindex(array.shape):
            where = ", ".join(str(label[i]) for label, i in zip(labels, at))
            rows.append((f"{name}[{where}]" if at else str(name), array.values[at].item()))
    return rows


# -- counts in long form ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """Counts, one row a cell or (with weights) one row a distinct pair of counts of a model."""

    models: list
    questions: list
    model: np.ndarray
    question: np.ndarray | None
    right: np.ndarray
    attempts: np.ndarray
    weight: np.ndarray | None = None
    board: np.ndarray | None = None    # of every question

    def coords(self, *dims):
        if self.question is None:
            cell = [f"{self.models[i]}: {s} of {n}"
                    for i, s, n in zip(self.model, self.right, self.attempts)]
        else:
            cell = [f"{self.models[i]}, {self.questions[m]}"
                    for i, m in zip(self.model, self.question)]
        both = {"model": list(self.models), "question": list(self.questions)}
        return {d: both[d] for d in dims} | {"cell": cell}

    def pairs(self):
        rows = np.stack([self.model, self.attempts, self.right])
        (model, attempts, right), weight = np.unique(rows, axis=1, return_counts=True)
        return _Table(self.models, self.questions, model, None, right, attempts, weight, self.board)


def _table(o, *, at_least_models=1, at_least_questions=1, name="o"):
    valid.outcomes(name, o).require_binary()
    if o.n_models < at_least_models or o.n_questions < at_least_questions:
        raise ValueError(f"{name} must have at least {at_least_models} models and "
                         f"{at_least_questions} questions; found {o.n_models} and "
                         f"{o.n_questions}")
    model, question = np.nonzero(o.n_trials)
    if not len(model):
        raise ValueError(f"{name} must have at least one attempt; found none")
    return _Table(list(o.models), list(o.questions), model, question,
                  o.successes[model, question], o.n_trials[model, question])


def _stack(boards, *, at_least):
    """The cells of several benchmarks under one another."""
    if not isinstance(boards, Mapping) or len(boards) < at_least:
        found = f"{len(boards)}" if isinstance(boards, Mapping) else type(boards).__name__
        raise ValueError(f"boards must map at least {at_least} benchmark name"
                         f"{'s' * (at_least > 1)} to Outcomes; found {found}")
    tables = {name: _table(o, at_least_questions=2, name=f"boards[{name!r}]")
              for name, o in boards.items()}
    models = list(dict.fromkeys(m for t in tables.values() for m in t.models))
    place = {m: i for i, m in enumerate(models)}
    sizes = [len(t.questions) for t in tables.values()]
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rows = tables.values()
    return _Table(
        models, [f"{name}/{q}" for name, t in tables.items() for q in t.questions],
        np.concatenate([[place[t.models[i]] for i in t.model] for t in rows]),
        np.concatenate([t.question + first for t, first in zip(rows, start)]),
        np.concatenate([t.right for t in rows]), np.concatenate([t.attempts for t in rows]),
        board=np.repeat(np.arange(len(sizes)), sizes))


def _covariate(name, given, models, unit):
    """log10 of a positive covariate of every model, in units of `unit`."""
    if not isinstance(given, Mapping | pd.Series):
        raise ValueError(f"{name} must map every model to a number; found {type(given).__name__}")
    missing = [m for m in models if m not in given]
    if missing:
        raise ValueError(f"{name} is missing for {len(missing)} models, the first {missing[0]!r}")
    return np.log10([valid.number(f"{name} of {m!r}", given[m], low=0, open_low=True)
                     for m in models]) - np.log10(unit)


def _information(index, t, size):
    """How well the counts tell the effect of each unit: zero if they tell nothing."""
    right = np.bincount(index, t.right, minlength=size)
    attempts = np.bincount(index, t.attempts, minlength=size)
    share = (right + 0.5) / (attempts + 1)
    return attempts * share * (1 - share)


def _zero_sum(name, sd, information, rows=()):
    """Normal variables that sum to zero over the last axis.

    PyMC samples all but the last as they stand; the last follows. Were it a question that nobody
    solves, its wide posterior would drag all others with it: so the best known comes last.
    """
    order = np.argsort(information, kind="stable")
    return pm.ZeroSumNormal(name, sd, shape=(*rows, len(order)))[..., np.argsort(order)]


def _mixed(name, mean, sd, centered, dims):
    """Normal variables, sampled as they stand where `centered`, else as scaled standard ones."""
    parts = []
    if centered.any():
        parts.append(pm.Normal(f"{name}_known", mean[centered], sd[centered]))
    if not centered.all():
        z = pm.Normal(f"{name}_z", shape=int((~centered).sum()))
        parts.append(mean[~centered] + sd[~centered] * z)
    order = np.argsort(np.argsort(~centered, kind="stable"))
    return pm.Deterministic(name, pt.concatenate(parts)[order], dims=dims)


def _logistic(t, logit, overdispersed=False):
    if not overdispersed:
        return _observe(t, pm.Binomial, n=t.attempts, logit_p=logit)
    size = pm.LogNormal("concentration", 1, 1.5)
    return _observe(t, pm.BetaBinomial, alpha=size * pm.math.sigmoid(logit),
                    beta=size * pm.math.sigmoid(-logit), n=t.attempts)


def _observe(t, law, **parameters):
    """The likelihood of the counts `right`."""
    if t.weight is None:
        return law("right", **parameters, observed=t.right, dims="cell")
    names = list(parameters)

    def draw(*values):
        *values, _, size = values
        return law.dist(**dict(zip(names, values)), size=size)

    def logp(value, *values):
        *values, weight = values
        return weight * pm.logp(law.dist(**dict(zip(names, values))), value)

    return pm.CustomDist("right", *parameters.values(), t.weight.astype(float), dist=draw,
                         logp=logp, observed=t.right, dims="cell")
