"""The posterior of a score: one function, whatever the prior."""

from __future__ import annotations

from bayeval import _validate as check
from bayeval.conjugate import DirichletPosterior
from bayeval.discounted import DiscountedPosterior
from bayeval.learned import LearnedPosterior
from bayeval.priors import Dirichlet, Past


def posterior(o, weights=None, prior="uniform"):
    r"""Posterior of the weighted score, the mean over questions of :math:`\sum_k w_k p_k`.

    Each question has its own Dirichlet posterior with parameters
    :math:`\nu_k = n_k + \text{prior}_k` and :math:`T = \sum_k \nu_k`; its score has mean
    :math:`m = \sum_k w_k \nu_k / T` and variance
    :math:`v = (\sum_k w_k^2 \nu_k / T - m^2) / (T + 1)`. The score of the benchmark has the mean
    of the m and the variance :math:`\sum v / M^2` (Bayes@N).

    Parameters
    ----------
    o : Outcomes
        Counts of L models on M questions; attempts may be unequal or missing.
    weights : array_like, shape (C+1,), optional
        The rubric; (0, 1) for binary outcomes.
    prior : {"uniform", "learned"}, Dirichlet or Past
        The prior of each question's outcome probabilities. "uniform" is that of the paper.
        "learned" takes the questions of a model for draws from one Dirichlet law, whose
        parameters have the package's hyperprior and are integrated out: its intervals stay
        calibrated on hard and on easy benchmarks.

    Returns
    -------
    Posterior
        Of the score on these M questions; results are scalars for a single model, else arrays
        with the model axis first. Its ``population`` is the score for the population that the
        questions were drawn from: under a learned prior, the law that was learned; under any
        other, the questions seen, reweighted by the Bayesian bootstrap.

    Raises
    ------
    ValueError
        If weights or prior do not fit the outcomes.

    References
    ----------
    Hariri et al. (2026), "Don't Pass@k", arXiv:2510.04265, Algorithm 1.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_matrix([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], categories=3)
    >>> p = bv.posterior(o, weights=[0, 0.5, 1])
    >>> round(p.mean, 4), round(p.sd, 6)
    (0.5625, 0.091998)
    >>> hard = bv.Outcomes.from_counts([0, 0, 0, 1, 0, 0, 3, 0, 0, 0], 4)
    >>> round(bv.posterior(hard).mean, 2), round(bv.posterior(hard, prior="learned").mean, 2)
    (0.23, 0.1)
    """
    check.outcomes("o", o)
    w = check.weights(weights, o.n_categories)
    if isinstance(prior, str) and prior == "learned":
        return LearnedPosterior.of(o, w)
    if isinstance(prior, str) and prior == "uniform":
        prior = Dirichlet(1.0)
    if not isinstance(prior, Dirichlet | Past):
        raise ValueError('prior must be "uniform", "learned", bayeval.Dirichlet(alpha) or '
                         f"bayeval.Past(outcomes); found {prior!r}")
    if isinstance(prior, Past) and prior.discount == "learned":
        return DiscountedPosterior.of(o, w, prior.past_counts(o), prior.base_counts(o))
    return DirichletPosterior.of(o, w, o.counts + prior.prior_counts(o))
