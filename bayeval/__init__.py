"""Bayesian evaluation of language models from repeated attempts."""

from bayeval.metrics import UndefinedWarning, avg, g_pass_at_k, mg_pass_at_k, pass_at_k, pass_hat_k
from bayeval.outcomes import Outcomes
from bayeval.posterior import posterior
from bayeval.priors import Dirichlet, Past

__all__ = ["Dirichlet", "Outcomes", "Past", "UndefinedWarning", "avg", "g_pass_at_k",
           "mg_pass_at_k", "pass_at_k", "pass_hat_k", "posterior"]
