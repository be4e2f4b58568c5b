"""Bayesian evaluation of language models from repeated attempts."""

from bayeval.metrics import (UndefinedWarning, avg, g_pass_at_k, mg_pass_at_k, pass_at_k,
                             pass_hat_k)
from bayeval.outcomes import Outcomes

__all__ = ["Outcomes", "UndefinedWarning", "avg", "g_pass_at_k", "mg_pass_at_k", "pass_at_k",
           "pass_hat_k"]
