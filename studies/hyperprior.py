"""Which hyperprior? Candidates for the law of (a, b), judged by the intervals that they give.

The score of a set of questions has a 95% interval under every candidate. It is judged on
simulated shapes of difficulty, where each replicate draws new questions, and on real counts, of
which each replicate keeps a few attempts, the truth being the share of all recorded ones. All
candidates see the same counts, and a cell has the same numbers whatever else is computed.

    nice python studies/hyperprior.py [replicates]

writes hyperprior.csv and hyperprior_aside.csv (about half an hour on one core with the default
1000) and prints the bars.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy import stats

import bayeval as bv
from bayeval import betabinomial as bb
from bayeval.simulate import Mixture

TAILS = 0.025, 0.975
CHUNK = 250


class MeanAndSize:
    """Uniform mean a / (a + b), and a law of the size log(a + b) given by its log-density."""

    def __init__(self, log_density):
        self.log_density = log_density

    def logpdf(self, log_a, log_b):
        size = np.logaddexp(log_a, log_b)
        return log_a + log_b - 2 * size + self.log_density(size)


def log_normal(size):
    return -((size - 1) ** 2) / (2 * 2**2)


def half_cauchy(size):
    """a + b half-Cauchy with scale 2."""
    return size - np.logaddexp(0, 2 * (size - np.log(2)))


def inverse_root(size):
    """(a + b)^(-1/2) half-normal with sd 3: flat, as often advised, but proper."""
    return -size / 2 - np.exp(-size) / (2 * 3**2)


HYPERPRIORS = {
    **{f"N(0, {sd:g})": bb.Hyperprior(sd) for sd in (1, 1.5, 2, 2.5, 3)},
    "log-normal a+b": MeanAndSize(log_normal),
    "half-Cauchy a+b": MeanAndSize(half_cauchy),
    "flat (a+b)^-1/2": MeanAndSize(inverse_root),
}

# Laws of the success probabilities. A number in a mixture is a probability that all share.
SHAPES = {
    "even": stats.beta(1, 1),
    "hard": stats.beta(0.5, 2),
    "easy": stats.beta(2, 0.3),
    "U-shaped": stats.beta(0.3, 0.3),
    "all hard": stats.beta(0.1, 2),
    "all easy": stats.beta(5, 0.2),
    "all at .3": Mixture([1], [0.3]),
    "all at .02": Mixture([1], [0.02]),
    "half at 0, half at .6": Mixture([0.5, 0.5], [0, 0.6]),
    "at .05, .5 or .95": Mixture([0.6, 0.2, 0.2], [0.05, 0.5, 0.95]),
    "two humps": Mixture([0.5, 0.5], [stats.beta(2, 30), stats.beta(30, 2)]),
}
QUESTIONS = 5, 30, 150, 1000
ATTEMPTS = 2, 4, 16, 80

REAL = "codecontests", "pythia_math"
# Kept aside: they judge the choice and its rivals. At least so many attempts at a question.
ASIDE = {"pythia_checkpoints_math": 1000, "pythia_checkpoints_gsm8k": 1000,
         "bon_jailbreak_text": 1000, "livecodebench_v1": 10, "terminal_bench_trials": 5,
         "hmmt_feb_2025": 4}
REAL_ATTEMPTS = 1, 4, 16, 64
ASIDE_ATTEMPTS = 1, 4, 16
RIVALS = "N(0, 1.5)", "N(0, 2)", "N(0, 2.5)", "half-Cauchy a+b"


# -- cells ----------------------------------------------------------------------------------


def _seed(rng, *key):
    """Stream of a cell, which depends on its labels alone."""
    return np.random.SeedSequence(rng, spawn_key=[zlib.crc32(str(x).encode()) for x in key])


def _from_law(law, M, n, size, rng):
    p = law.rvs(size=(size, M), random_state=rng)
    return p.mean(axis=1), rng.binomial(n, p)


def _from_counts(s, tried, n, size, rng):
    """Without replacement where a thousand attempts or more are recorded; else at their rate."""
    shape = (size, len(s))
    kept = (rng.hypergeometric(s, tried - s, n, shape) if tried.min() >= 1000
            else rng.binomial(n, s / tried, shape))
    return np.full(size, (s / tried).mean()), kept


def _oracle_width(a, b, s, n):
    """Width of the interval of who knows a and b."""
    size = a + b + n
    m = (a + s) / size
    mean, var = m.mean(axis=1), (m * (1 - m) / (size + 1)).mean(axis=1) / s.shape[1]
    low, high = bb.BetaMixture.matching(np.ones((len(s), 1)), mean[:, None],
                                        var[:, None]).ppf(TAILS).T
    return high - low


def _cell(label, n, draw, beta, hyperpriors, replicates, seed):
    rng = np.random.default_rng(seed)
    values, oracle = {name: [] for name in hyperpriors}, []
    for start in range(0, replicates, CHUNK):
        truth, s = draw(n, min(CHUNK, replicates - start), rng)
        if beta:
            oracle.append(_oracle_width(*beta, s, n))
        for name, hyperprior in hyperpriors.items():
            score = bb.quadrature(s, n, hyperprior=hyperprior).score()
            # Four components as one move the ends by a few thousandths of a standard deviation.
            ends = score.merge(4).ppf(TAILS).T
            values[name].append([truth, score.mean, *ends, s.mean(axis=1) / n])
    rows = []
    for name, pieces in values.items():
        truth, center, low, high, plain = np.concatenate(pieces, axis=1)
        width = (high - low).mean()
        rows.append(label | {
            "attempts": n, "hyperprior": name,
            "coverage": ((low <= truth) & (truth <= high)).mean(), "width": width,
            "width_ratio": width / np.concatenate(oracle).mean() if beta else np.nan,
            "limit": np.sqrt(1 + sum(beta) / n) if beta else np.nan,
            "rmse_ratio": np.sqrt(((center - truth) ** 2).mean() / ((plain - truth) ** 2).mean())})
    return rows


def _run(cells, hyperpriors, replicates, n_jobs):
    rows = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_cell)(*cell[:-1], hyperpriors, replicates, cell[-1]) for cell in cells)
    return pd.DataFrame([row for part in rows for row in part])


# -- studies --------------------------------------------------------------------------------


def simulated(shapes=SHAPES, questions=QUESTIONS, attempts=ATTEMPTS, *, hyperpriors=HYPERPRIORS,
              replicates=1000, n_jobs=1, rng=0):
    """Intervals on simulated questions.

    Parameters
    ----------
    shapes : mapping of name to distribution
        Laws of the success probabilities.
    questions, attempts : sequence of int
    hyperpriors : mapping of name to hyperprior
    replicates, n_jobs : int
    rng : int
        Seed.

    Returns
    -------
    pandas.DataFrame
        One row for each cell and hyperprior: ``coverage`` and mean ``width`` of the 95%
        interval; ``width_ratio``, to the interval of who knows (a, b), where there is such, and
        its ``limit`` for many questions; ``rmse_ratio``, of the posterior mean to avg@N.

    Notes
    -----
    Who knows (a, b) knows the mean over all questions, which others must learn from the n
    attempts at each. The variance of the score, given the counts, is then greater by the factor
    1 + (a + b) / n, however many the questions: 3 for even rates and one attempt, 1.03 for 80.
    """
    cells = []
    for shape in shapes:
        beta = getattr(shapes[shape], "args", None)
        for M in questions:
            for n in attempts:
                def draw(n, size, stream, law=shapes[shape], M=M):
                    return _from_law(law, M, n, size, stream)
                cells.append(({"shape": shape, "questions": M}, n, draw, beta,
                              _seed(rng, shape, M, n)))
    return _run(cells, hyperpriors, replicates, n_jobs)


def real(data=REAL, attempts=REAL_ATTEMPTS, *, models=None, hyperpriors=HYPERPRIORS,
         replicates=1000, n_jobs=1, rng=0):
    """Intervals on subsamples of recorded attempts, model by model.

    Parameters
    ----------
    data : sequence of str, or mapping of str to int
        Data sets, and the fewest attempts a question must have.
    attempts : sequence of int
    models : sequence of str, optional
        Only these.
    hyperpriors, replicates, n_jobs, rng
        As in `simulated`.

    Returns
    -------
    pandas.DataFrame
        Columns as in `simulated`, with ``data``, ``model`` and the ``truth`` (share of the
        recorded attempts). Models with fewer than 30 such questions, and those with a truth
        below 1e-4 or above 1 - 1e-4, are left out.
    """
    fewest = data if hasattr(data, "items") else dict.fromkeys(data, 1000)
    cells = []
    for name, least in fewest.items():
        o = bv.datasets.load(name)
        for model, s, tried in zip(o.models, o.successes, o.n_trials):
            enough = tried >= least
            if enough.sum() < 30 or (models is not None and model not in models):
                continue
            s, tried = s[enough], tried[enough]
            truth = (s / tried).mean()
            if not 1e-4 < truth < 1 - 1e-4:
                continue
            for n in attempts:
                def draw(n, size, stream, s=s, tried=tried):
                    return _from_counts(s, tried, n, size, stream)
                label = {"data": name, "model": model, "questions": len(s), "truth": truth}
                cells.append((label, n, draw, None, _seed(rng, name, model, n)))
    return _run(cells, hyperpriors, replicates, n_jobs)


def by_data(table):
    """Rows of `real` in one row for each data set, number of attempts and hyperprior.

    The worst ratio of errors leaves out models whose every recorded rate is 0 or 1: avg@N has no
    error there.
    """
    table = table.assign(rmse_ratio=table["rmse_ratio"].replace(np.inf, np.nan))
    parts = table.groupby(["data", "attempts", "hyperprior"], sort=False)
    return parts.agg(models=("model", "size"), median=("coverage", "median"),
                     lowest=("coverage", "min"), worst_rmse=("rmse_ratio", "max")).reset_index()


def bars(table):
    """What the choice is made by: one row for each hyperprior.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of `simulated` and `real`.
    """
    rows = {}
    for name, part in table.groupby("hyperprior", sort=False):
        simulation, counts = part[part["shape"].notna()], part[part["shape"].isna()]
        row = {}
        for label, cells in (("M = 5", simulation["questions"] == 5),
                             ("M = 30, 150", simulation["questions"].between(30, 150)),
                             ("M = 1000", simulation["questions"] == 1000)):
            here = simulation[cells]
            row |= {f"lowest coverage, {label}": here["coverage"].min(),
                    f"highest coverage, {label}": here["coverage"].max(),
                    f"widest to oracle, {label}": here["width_ratio"].max(),
                    f"widest to limit, {label}": (here["width_ratio"] / here["limit"]).max(),
                    f"worst RMSE to avg@N, {label}": here["rmse_ratio"].max()}
        row["median coverage, real"] = counts["coverage"].median()
        once = counts["attempts"] == 1
        for label, here in (("N = 1", counts[once]), ("N >= 4", counts[~once])):
            row |= {f"lowest coverage, real, {label}": here["coverage"].min(),
                    f"worst RMSE to avg@N, real, {label}": here["rmse_ratio"].max()}
        rows[name] = row
    return pd.DataFrame(rows).T.rename_axis("hyperprior")


def main(replicates=1000):
    path = Path(__file__)
    pd.set_option("display.width", 200)
    table = pd.concat([simulated(replicates=replicates), real(replicates=replicates)])
    table.to_csv(path.with_suffix(".csv"), index=False, float_format="%.5g")
    print(bars(table).round(3).T.to_string(), flush=True)
    aside = by_data(real(ASIDE, ASIDE_ATTEMPTS, replicates=replicates // 4,
                         hyperpriors={name: HYPERPRIORS[name] for name in RIVALS}))
    aside.to_csv(path.with_name("hyperprior_aside.csv"), index=False, float_format="%.5g")
    print(aside.pivot_table(index=["data", "attempts"], columns="hyperprior", sort=False,
                            values=["median", "lowest"]).round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
