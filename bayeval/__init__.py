"""Bayesian evaluation of language models from repeated attempts."""

from bayeval import datasets, design, readers, simulate, tracks
from bayeval.forecast import ForecastWarning, forecast
from bayeval.metrics import (
    UndefinedWarning,
    avg,
    g_pass_at_k,
    mg_pass_at_k,
    pass_at_k,
    pass_hat_k,
)
from bayeval.multiplicity import discoveries, rank_probabilities, rank_summary, superiority
from bayeval.outcomes import Outcomes
from bayeval.pooling import pooled
from bayeval.posterior import posterior
from bayeval.priors import Dirichlet, Past
from bayeval.ranking import compare, convergence_at_n, kendall_tau, leaderboard
from bayeval.readers import read
from bayeval.report import report

__all__ = [
    "Dirichlet",
    "ForecastWarning",
    "Outcomes",
    "Past",
    "UndefinedWarning",
    "avg",
    "compare",
    "convergence_at_n",
    "datasets",
    "design",
    "discoveries",
    "forecast",
    "g_pass_at_k",
    "kendall_tau",
    "leaderboard",
    "mg_pass_at_k",
    "pass_at_k",
    "pass_hat_k",
    "pooled",
    "posterior",
    "rank_probabilities",
    "rank_summary",
    "read",
    "readers",
    "report",
    "simulate",
    "superiority",
    "tracks",
]
