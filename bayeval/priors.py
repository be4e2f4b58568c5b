"""Priors of every question's outcome probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeval import _validate as check


@dataclass(frozen=True)
class Dirichlet:
    """Dirichlet prior of every question's outcome probabilities.

    Parameters
    ----------
    alpha : float or array_like, shape (C+1,)
        Prior counts; one number is used for every category. 1 is the uniform prior.

    Examples
    --------
    >>> import bayeval as bv
    >>> jeffreys = bv.Dirichlet(0.5)
    >>> round(bv.posterior(bv.Outcomes.from_counts([0], 10), prior=jeffreys).mean, 4)
    0.0455
    """

    alpha: float | tuple = 1.0

    def __post_init__(self):
        _positive("alpha", self.alpha)

    def prior_counts(self, o):
        """Prior counts that broadcast against (L, M, C+1)."""
        return _for_categories("alpha", self.alpha, o.n_categories)


@dataclass(frozen=True)
class Past:
    """Prior from past outcomes of the same questions (R0 of the paper), with a discount.

    Prior counts are ``base + discount * past counts``.

    Parameters
    ----------
    o : Outcomes
        Past outcomes, aligned by label. The questions must be the same set, and the categories
        the same; models are matched by label, or one past model serves every model.
    discount : float in [0, 1] or "learned", default 1
        Worth of a past attempt in new attempts (a power prior). 1 is the paper's. "learned"
        gives it a uniform prior on [0, 1] and integrates it out, model by model: a past that
        predicts the new outcomes badly is discounted.
    base : float or array_like, shape (C+1,), default 1
        Prior counts before the past, as `Dirichlet` takes them. 1 is the paper's, and pulls the
        score of a hard or an easy benchmark towards the middle, whatever the past says.

    Raises
    ------
    ValueError
        If an argument is of another kind; on use, if questions, models or categories do not match
        or `base` has the wrong length.

    References
    ----------
    Ibrahim and Chen (2000), Statistical Science 15, 46-60.

    Examples
    --------
    >>> import bayeval as bv
    >>> new = bv.Outcomes.from_matrix([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], categories=3)
    >>> old = bv.Outcomes.from_matrix([[0, 2], [1, 2]], categories=3)
    >>> p = bv.posterior(new, weights=[0, 0.5, 1], prior=bv.Past(old))
    >>> round(p.mean, 3), round(p.sd, 6)
    (0.575, 0.084275)
    """

    o: object
    discount: float | str = 1.0
    base: float | tuple = 1.0

    def __post_init__(self):
        check.outcomes("o", self.o)
        _positive("base", self.base)
        if isinstance(self.discount, str):
            check.choice("discount", self.discount, ("learned",))
        else:
            check.number("discount", self.discount, low=0, high=1)

    def prior_counts(self, o):
        """Prior counts that broadcast against (L, M, C+1), for a discount that is a number."""
        return self.base_counts(o) + self.discount * self.past_counts(o)

    def base_counts(self, o):
        """Prior counts before the past, shape (C+1,)."""
        return _for_categories("base", self.base, o.n_categories)

    def past_counts(self, o):
        """Past counts of the questions of `o`, aligned, which broadcast against (L, M, C+1)."""
        past = self.o
        if past.categories != o.categories:
            raise ValueError(f"the past outcomes have categories {past.categories}, the new ones "
                             f"{o.categories}")
        for ours, theirs, which in ((o, past, "past"), (past, o, "new")):
            known = set(theirs.questions)
            missing = [q for q in ours.questions if q not in known]
            if missing:
                raise ValueError(f"{len(missing)} questions are not among the {which} outcomes: "
                                 f"{', '.join(map(repr, missing[:5]))}"
                                 + (", ..." if len(missing) > 5 else ""))
        if past.n_models > 1:
            known = set(past.models)
            missing = [m for m in o.models if m not in known]
            if missing:
                raise ValueError(f"{len(missing)} models have no past outcomes: "
                                 f"{', '.join(map(repr, missing[:5]))} "
                                 "(or give one past model, which then serves all)")
            past = past.select(models=list(o.models), questions=list(o.questions))
        else:
            past = past.select(questions=list(o.questions))
        return past.counts


def _positive(name, value):
    """Check prior counts: one number > 0, or one for each category."""
    alpha = check.reals(name, value, "numbers > 0")
    right = np.asarray(value).dtype != bool and alpha.ndim <= 1 and alpha.size > 0
    if not right or not ((alpha > 0) & (alpha <= check.LARGEST)).all():
        raise ValueError(f"{name} must be a number > 0 and <= 2**53, or one for each category; "
                         f"found {value!r}")


def _for_categories(name, value, n):
    """Prior counts of `n` categories."""
    alpha = np.asarray(value, dtype=float)
    if alpha.ndim and alpha.shape != (n,):
        raise ValueError(f"{name} must have {n} entries, one for each category; "
                         f"found {alpha.size}")
    return np.broadcast_to(alpha, (n,))
