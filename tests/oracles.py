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


def log_choose_ratio(a, n, k):
    """log of C(a, k) / C(n, k) for a >= k, in high precision where the product is too long."""
    with mp.workdps(60):
        return (mp.loggamma(a + 1) - mp.loggamma(a - k + 1)
                - mp.loggamma(n + 1) + mp.loggamma(n - k + 1))


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


def beta_ratio_sd(a, b, k):
    """Standard deviation of q^k, q = 1 - p with p ~ Beta(a, b), from two moments."""
    with mp.workdps(60):
        first, second = (mp.exp(log_beta_ratio(a, b, j)) for j in (k, 2 * k))
        return mp.sqrt(second - first**2)


def weight_moments(a, b, weight):
    """Mean and variance, for p ~ Beta(a, b), of the mean weight of X right among k attempts.

    The square of that mean is the mean product over two independent sets of k attempts.
    """
    k = len(weight) - 1
    once, twice = beta_binomial(a, b, k), beta_binomial(a, b, 2 * k)
    mean = sum(w * p for w, p in zip(weight, once, strict=True))
    square = sum(
        twice[s] * sum(weight[x] * weight[s - x] * comb(k, x) * comb(k, s - x)
                       for x in range(max(0, s - k), min(s, k) + 1)) / comb(2 * k, s)
        for s in range(2 * k + 1))
    return mean, square - mean**2


def power_moments(a, b, weight, highest):
    """Moments about 0, for p ~ Beta(a, b), of the mean weight of X right among k attempts.

    As a polynomial in p, whose powers have the means of a beta law.
    """
    k = len(weight) - 1
    mean = [Fraction(0)] * (k + 1)
    for x, w in enumerate(weight):
        for i in range(k - x + 1):
            mean[x + i] += Fraction(w) * comb(k, x) * comb(k - x, i) * (-1) ** i
    power, moments = [Fraction(1)], []
    for _ in range(highest):
        power = [sum(power[i] * mean[j - i] for i in range(len(power)) if 0 <= j - i <= k)
                 for j in range(len(power) + k)]
        moments.append(sum(p * prod((Fraction(a + i) / (a + b + i) for i in range(j)),
                                    start=Fraction(1)) for j, p in enumerate(power)))
    return moments


def dirichlet_moments(nu, w, highest):
    """Moments about 0 of sum w_k p_k for p ~ Dirichlet(nu): all terms of the power, one by one."""
    def rising(x, j):
        return prod((Fraction(x) + i for i in range(j)), start=Fraction(1))

    def total(rest, k):
        if k == len(nu) - 1:
            return Fraction(w[k]) ** rest * rising(nu[k], rest)
        return sum(comb(rest, i) * Fraction(w[k]) ** i * rising(nu[k], i) * total(rest - i, k + 1)
                   for i in range(rest + 1))
    return [total(j, 0) / rising(sum(nu), j) for j in range(1, highest + 1)]


def cumulants(moments):
    """Cumulants from moments about 0, by their recurrence."""
    out = []
    for n, moment in enumerate(moments, start=1):
        out.append(moment - sum(comb(n - 1, j - 1) * out[j - 1] * moments[n - j - 1]
                                for j in range(1, n)))
    return out


def g_weight(k, tau):
    """Weights of G-Pass: at least ceil(tau k) right."""
    return [Fraction(int(x >= least_right(k, tau))) for x in range(k + 1)]


def mg_weight(k, form):
    """Weights of mG-Pass, from its definition at each number right."""
    return [mg_pass([Fraction(int(x == right)) for x in range(k + 1)], form)
            for right in range(k + 1)]


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
    w = np.asarray(weights, dtype=float)
    for row in np.asarray(nu, dtype=float):
        if len(row) == 2:
            total += w[0] + (w[1] - w[0]) * rng.beta(row[1], row[0], size=n)
        else:
            total += rng.dirichlet(row, size=n) @ w
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
