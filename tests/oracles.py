"""Slow, obvious and exact: what the package computes, by fractions, mpmath and simple loops."""

from __future__ import annotations

from fractions import Fraction
from math import comb, prod

import mpmath as mp
import numpy as np

# -- the unbiased family, in exact rational arithmetic ---------------------------------------


def choose_ratio(a, n, k):
    """C(a, k) / C(n, k); the terms of the shorter product, so that n = 1e6 takes no time."""
    if a < k:
        return Fraction(0)
    d = n - a
    if d <= k:
        top, bottom = (prod(range(x - d + 1, x + 1)) for x in (n - k, n))
    else:
        top, bottom = (prod(range(x - k + 1, x + 1)) for x in (a, n))
    return Fraction(top, bottom)


def pass_at_k(c, n, k):
    return 1 - choose_ratio(n - c, n, k)


def pass_hat_k(c, n, k):
    return choose_ratio(c, n, k)


def hypergeometric(c, n, k):
    """Chances of x = 0..k right among k drawn."""
    return [Fraction(comb(c, x) * comb(n - c, k - x), comb(n, k)) for x in range(k + 1)]


def least_right(k, tau):
    """ceil(tau k) of the decimal number that `tau` is written as."""
    return max(1, -(-Fraction(str(tau)) * k // 1))


def g_pass(pmf, least):
    return sum(pmf[least:])


def mg_pass(pmf, form):
    """Both forms by their definitions: a sum of tails; an integral over the steps of tau."""
    k = len(pmf) - 1
    if form == "sum":
        return Fraction(2, k) * sum(g_pass(pmf, i) for i in range(-(-k // 2) + 1, k + 1))
    # G-Pass at tau is constant on ((i - 1)/k, i/k], where at least i must be right.
    return 2 * sum(g_pass(pmf, i) * (Fraction(i, k) - max(Fraction(i - 1, k), Fraction(1, 2)))
                   for i in range(k // 2 + 1, k + 1))


# -- posterior laws of one question ----------------------------------------------------------


def beta_binomial(a, b, k):
    """Chances of x = 0..k right among k further attempts, for whole or rational a, b."""
    def rising(x, j):
        return prod((Fraction(x) + i for i in range(j)), start=Fraction(1))
    return [comb(k, x) * rising(a, x) * rising(b, k - x) / rising(a + b, k)
            for x in range(k + 1)]


def log_beta_ratio(a, b, k):
    with mp.workdps(60):
        a, b, k = map(mp.mpf, (a, b, k))
        return mp.loggamma(b + k) - mp.loggamma(b) - mp.loggamma(a + b + k) + mp.loggamma(a + b)


def beta_moments(function, a, b, dps=30):
    """Mean and sd of a function of p ~ Beta(a, b), by quadrature in high precision."""
    with mp.workdps(dps):
        a, b = mp.mpf(a), mp.mpf(b)
        mode = a / (a + b)
        sd = mp.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
        cuts = sorted({mp.mpf(0), mp.mpf(1), *(min(max(mode + j * sd, 0), 1)
                                               for j in (-20, -8, -3, -1, 0, 1, 3, 8, 20))})

        def density(p):
            return p ** (a - 1) * (1 - p) ** (b - 1)

        def integral(f):
            return mp.quad(f, cuts)
        mass = integral(density)
        mean = integral(lambda p: function(p) * density(p)) / mass
        var = integral(lambda p: (function(p) - mean) ** 2 * density(p)) / mass
        return float(mean), float(mp.sqrt(var))


def binomial_tail(p, k, least):
    return mp.fsum(mp.binomial(k, x) * p**x * (1 - p) ** (k - x) for x in range(least, k + 1))


def g_pass_of_p(k, tau):
    return lambda p: binomial_tail(p, k, least_right(k, tau))


def mg_pass_of_p(k, form):
    def f(p):
        pmf = [mp.binomial(k, x) * p**x * (1 - p) ** (k - x) for x in range(k + 1)]
        if form == "sum":
            return 2 * mp.fsum(mp.fsum(pmf[i:]) for i in range(-(-k // 2) + 1, k + 1)) / k
        return mp.fsum(pmf[x] * max(mp.mpf(2 * x) / k - 1, 0) for x in range(k + 1))
    return f


def dirichlet_score(counts, prior, weights):
    """Bayes@N in rational arithmetic: mean and variance of the mean over questions."""
    M = len(counts)
    mean, var = Fraction(0), Fraction(0)
    for row, prior_row in zip(counts, prior, strict=True):
        nu = [Fraction(n) + Fraction(a) for n, a in zip(row, prior_row, strict=True)]
        T = sum(nu)
        m = sum(Fraction(w) * x for w, x in zip(weights, nu, strict=True)) / T
        m2 = sum(Fraction(w) ** 2 * x for w, x in zip(weights, nu, strict=True)) / T
        mean += m / M
        var += (m2 - m**2) / (T + 1) / M**2
    return mean, var


# -- draws -----------------------------------------------------------------------------------


def score_draws(nu, weights, n, seed):
    """Draws of the mean over questions of the weighted score, p ~ Dirichlet(nu)."""
    rng = np.random.default_rng(seed)
    total = np.zeros(n)
    for row in np.asarray(nu, dtype=float):
        total += rng.dirichlet(row, size=n) @ np.asarray(weights, dtype=float)
    return total / len(nu)


def shortest(draws, probability):
    """Ends and width of the shortest interval that holds `probability` of the draws."""
    x = np.sort(draws)
    inside = int(np.ceil(probability * len(x)))
    width = x[inside - 1:] - x[:len(x) - inside + 1]
    i = int(np.argmin(width))
    return x[i], x[i + inside - 1]


# -- orders ----------------------------------------------------------------------------------


def competition_ranks(scores):
    return [1 + sum(other > s for other in scores) for s in scores]


def rank_sets(low, high):
    L = len(low)
    return ([1 + sum(low[j] > high[i] for j in range(L)) for i in range(L)],
            [L - sum(high[j] < low[i] for j in range(L)) for i in range(L)])


def convergence_at_n(track, reference=None):
    """The first n from which every later order is that of the reference."""
    orders = [competition_ranks(row) for row in track]
    wanted = orders[-1] if reference is None else competition_ranks(reference)
    for n in range(len(orders)):
        if all(order == wanted for order in orders[n:]):
            return float(n + 1)
    return float("nan")
