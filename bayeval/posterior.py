"""The posterior of each question's outcome probabilities, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from bayeval import _validate as check
from bayeval._special import beta_range
from bayeval.distribution import Estimate, cornish_fisher, dirichlet_score_cdf, mean_of_independent
from bayeval.functionals import GPassAtK, MGPassAtK, PassAtK, PassHatK
from bayeval.priors import Dirichlet, Past

# Four cumulants give the law of the score to about 1e-4 sd when no question holds more than
# this share of the variance and the sum is nearly symmetric; otherwise it is convolved.
SMALL_SHARE = 1 / 40
NEARLY_SYMMETRIC = 0.3
# With prior counts of 1 or more, less than 1e-5 of a question's law lies beyond this many sd.
DIRICHLET_REACH = 12
# Numbers of random values held at once while drawing.
CHUNK = 1 << 22


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
    prior : {"uniform"}, Dirichlet or Past
        The prior of each question's outcome probabilities.

    Returns
    -------
    Posterior
        Of the score on these M questions; results are scalars for a single model, else arrays
        with the model axis first.

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
    """
    check.outcomes("o", o)
    w = check.weights(weights, o.n_categories)
    if isinstance(prior, str) and prior == "uniform":
        prior = Dirichlet(1.0)
    if not isinstance(prior, Dirichlet | Past):
        raise ValueError('prior must be "uniform", bayeval.Dirichlet(alpha) or '
                         f"bayeval.Past(outcomes); found {prior!r}")
    return Posterior.from_dirichlet(o, w, o.counts + prior.prior_counts(o))


@dataclass(frozen=True, eq=False)
class Posterior(Estimate):
    """Posterior of the score on these M questions; made by `posterior`.

    Attributes
    ----------
    mean, sd : float or ndarray, shape (L,)
        Of the score.
    nu : ndarray, shape (L, M, C+1)
        Parameters of each question's Dirichlet posterior.
    outcomes : Outcomes
    weights : ndarray, shape (C+1,)
    """

    nu: np.ndarray
    outcomes: object
    weights: np.ndarray

    @classmethod
    def from_dirichlet(cls, o, w, nu):
        """Posterior of the score under independent Dirichlet(nu) laws of the questions."""
        M = o.n_questions
        mean, var, _, _ = _score_cumulants(nu, w)
        return cls(mean=o.per_model(mean.mean(axis=1)),
                   sd=o.per_model(np.sqrt(var.sum(axis=1)) / M),
                   laws=cache(lambda: [_score_law(rows, w) for rows in nu]),
                   sampler=lambda n, rng: o.per_model(_draw(nu, n, rng, lambda p: p @ w)),
                   models=o.models, nu=nu, outcomes=o, weights=w)

    @property
    def question_mean(self):
        """Posterior mean of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(_score_cumulants(self.nu, self.weights)[0])

    @property
    def question_sd(self):
        """Posterior standard deviation of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(np.sqrt(_score_cumulants(self.nu, self.weights)[1]))

    def pass_at_k(self, k):
        """Pass@k under the posterior: at least one of k further attempts is right.

        Parameters
        ----------
        k : int or array_like of int, shape (K,)
            Any k, also beyond the attempts made.

        Returns
        -------
        Estimate
            Mean over the questions of 1 - (1 - p)^k.

        Examples
        --------
        >>> import bayeval as bv
        >>> bv.posterior(bv.Outcomes.from_counts([0], 2)).pass_at_k(5).mean
        0.625
        """
        return self._functional(PassAtK, k)

    def pass_hat_k(self, k):
        """Pass^k under the posterior: all of k further attempts are right.

        Parameters
        ----------
        k : int or array_like of int, shape (K,)

        Returns
        -------
        Estimate
            Mean over the questions of p^k.

        Examples
        --------
        >>> import bayeval as bv
        >>> round(bv.posterior(bv.Outcomes.from_counts([8], 10)).pass_hat_k(2).mean, 6)
        0.576923
        """
        return self._functional(PassHatK, k)

    def g_pass_at_k(self, k, *, tau):
        """G-Pass@k under the posterior: at least ceil(tau k) of k further attempts are right.

        Parameters
        ----------
        k : int or array_like of int, shape (K,)
        tau : float in (0, 1]

        Returns
        -------
        Estimate

        Examples
        --------
        >>> import bayeval as bv
        >>> p = bv.posterior(bv.Outcomes.from_counts([8], 10))
        >>> round(p.g_pass_at_k(2, tau=1.0).mean, 6)
        0.576923
        """
        tau = check.number("tau", tau, low=0, high=1, open_low=True)
        return self._functional(lambda k: GPassAtK(k, tau), k)

    def mg_pass_at_k(self, k, *, form="sum"):
        """mG-Pass@k under the posterior; the forms are those of `bayeval.mg_pass_at_k`.

        Parameters
        ----------
        k : int or array_like of int, shape (K,)
        form : {"sum", "integral"}, default "sum"

        Returns
        -------
        Estimate

        Examples
        --------
        >>> import bayeval as bv
        >>> p = bv.posterior(bv.Outcomes.from_counts([8], 8))
        >>> p.mg_pass_at_k(1).mean, round(p.mg_pass_at_k(4, form="integral").mean, 4)
        (0.0, 0.8077)
        """
        check.choice("form", form, ("sum", "integral"))
        return self._functional(lambda k: MGPassAtK(k, form), k)

    def _functional(self, make, k):
        self.outcomes.require_binary()
        k = check.attempts("k", k)
        functions = [make(k_i) for k_i in np.atleast_1d(k).tolist()]
        a, b = self.nu[..., 1], self.nu[..., 0]
        shape = a.shape[:1] + k.shape
        per_k = [_functional_moments(f, a, b) for f in functions]
        mean = np.stack([m.mean(axis=1) for m, _ in per_k], axis=-1).reshape(shape)
        sd = np.stack([np.sqrt((s**2).sum(axis=1)) / a.shape[1] for _, s in per_k],
                      axis=-1).reshape(shape)

        def laws():
            return [_functional_law(f, a[i], b[i], m[i], s[i])
                    for i in range(len(a)) for f, (m, s) in zip(functions, per_k, strict=True)]

        def sampler(n, rng):
            # The same draws of p for every k, so that curves in k are smooth and monotone.
            draws = _draw(self.nu, n, rng, lambda p: np.stack([f(p[..., 1]) for f in functions]))
            return drop(np.moveaxis(draws, 0, 1) if k.ndim else draws[0])

        def drop(x):
            if not self.outcomes.single:
                return x
            return x[0].item() if x.ndim == 1 else x[0]

        return Estimate(mean=drop(mean), sd=drop(sd), laws=cache(laws), sampler=sampler,
                        models=self.models)


# -- moments, laws and draws ---------------------------------------------------------------


def _score_cumulants(nu, w):
    """Mean and the second to fourth cumulants of every question's score, shape (..., M)."""
    T = nu.sum(axis=-1)
    m = nu @ w / T
    d = w - m[..., None]
    # For p ~ Dirichlet(nu) the moments of sum d_k p_k follow from prod (1 - d_k t)^(-nu_k);
    # with the mean at 0 they are these power sums over rising factorials of T.
    q2, q3, q4 = ((nu * d**j).sum(axis=-1) for j in (2, 3, 4))
    T2 = T * (T + 1)
    T3 = T2 * (T + 2)
    var = q2 / T2
    return m, var, 2 * q3 / T3, (3 * q2**2 + 6 * q4) / (T3 * (T + 3)) - 3 * var**2


def _score_law(nu, w):
    """Law of one model's score, with nu of shape (M, C+1)."""
    M = len(nu)
    low, high = w.min(), w.max()
    m, k2, k3, k4 = _score_cumulants(nu, w)
    total = k2.sum()
    if total > 0 and k2.max() <= SMALL_SHARE * total and \
            abs(k3.sum()) <= NEARLY_SYMMETRIC * total**1.5:
        return cornish_fisher(m.mean(), total / M**2, k3.sum() / M**3, k4.sum() / M**4, low, high)
    rows, first, count = np.unique(nu, axis=0, return_index=True, return_counts=True)
    if len(w) == 2:
        up = int(np.argmax(w))

        def cdf(u, y):
            p = np.clip((y - low) / (high - low), 0, 1)
            return special.betainc(rows[u, up], rows[u, 1 - up], p)
        left, right = (low + (high - low) * p for p in beta_range(rows[:, up], rows[:, 1 - up]))
    else:
        def cdf(u, y):
            return dirichlet_score_cdf(rows[u], w, y)
        reach = DIRICHLET_REACH * np.sqrt(k2[first]) if nu.min() >= 1 else np.inf
        left, right = np.maximum(m[first] - reach, low), np.minimum(m[first] + reach, high)
    return mean_of_independent(cdf, m[first], np.sqrt(k2[first]), count, left, right)


def _functional_moments(function, a, b):
    """Mean and sd of the function at every question, on unique (a, b)."""
    pairs, back = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1, return_inverse=True)
    mean, sd = function.moments(*pairs)
    back = back.ravel()
    return mean[back].reshape(a.shape), sd[back].reshape(a.shape)


def _functional_law(function, a, b, mean, sd):
    pairs, first, count = np.unique(np.stack([a, b]), axis=1, return_index=True,
                                    return_counts=True)

    def cdf(u, y):
        return special.betainc(pairs[0, u], pairs[1, u], function.inverse(np.clip(y, 0, 1)))
    left, right = (function(p) for p in beta_range(*pairs))
    return mean_of_independent(cdf, mean[first], sd[first], count, left, right)


def _draw(nu, n, rng, function):
    """Draw every question's probabilities and average `function` of them over questions.

    `function` maps (M, chunk, C+1) to (..., M, chunk); the result has shape (..., L, n).
    """
    _, M, K = nu.shape
    chunk = max(1, CHUNK // (M * K))
    models = []
    for rows in nu:
        parts = []
        for start in range(0, n, chunk):
            size = (M, min(chunk, n - start))
            if K == 2:  # a Beta draw keeps tiny probabilities that 1 - p would lose
                p = rng.beta(rows[:, 1, None], rows[:, 0, None], size)
                p = np.stack([1 - p, p], axis=-1)
            else:
                p = rng.standard_gamma(rows[:, None, :], (*size, K))
                p /= p.sum(axis=-1, keepdims=True)
            parts.append(function(p).mean(axis=-2))
        models.append(np.concatenate(parts, axis=-1))
    return np.stack(models, axis=-2)
