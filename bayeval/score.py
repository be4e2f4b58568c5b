"""What every posterior of a score answers, whatever its prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeval import _validate as check
from bayeval.distribution import Estimate
from bayeval.functionals import GPassAtK, MGPassAtK, PassAtK, PassHatK


@dataclass(frozen=True, eq=False)
class Posterior(Estimate):
    """Posterior of the score on these M questions; made by `posterior`.

    Attributes
    ----------
    mean, sd : float or ndarray, shape (L,)
        Of the score.
    outcomes : Outcomes
    weights : ndarray, shape (C+1,)
    question_mean, question_sd : ndarray, shape (M,) or (L, M)
        Posterior mean and standard deviation of each question's score.
    population : Estimate
        The score for the population that the questions were drawn from.
    """

    outcomes: object
    weights: np.ndarray

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
        return self._family(PassAtK, k)

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
        return self._family(PassHatK, k)

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
        return self._family(lambda k: GPassAtK(k, tau), k)

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
        return self._family(lambda k: MGPassAtK(k, form), k)

    def _family(self, make, k):
        self.outcomes.require_binary()
        k = check.attempts("k", k)
        return self._functional([make(k_i) for k_i in np.atleast_1d(k).tolist()], k.ndim > 0)

    def _functional(self, functions, many):
        """Estimate of the mean over the questions of each function; an axis for them if `many`."""
        raise NotImplementedError
