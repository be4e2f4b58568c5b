"""The law of a score: a mean of independent, bounded question scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy
from scipy import fft, special

from bayeval import _validate as check
from bayeval.mixture import BetaMixture

# Lattice cells in one standard deviation of the mean. The error of a quantile is of the order
# of the square of a cell: below 1e-4 standard deviations.
CELLS_PER_SD = 50
MAX_CELLS = 1 << 21


@dataclass(frozen=True)
class Interval:
    """An interval that says its probability and its kind.

    Attributes
    ----------
    low, high : float or ndarray
        Ends, in the shape of the estimate.
    probability : float
    kind : {"equal-tailed", "hdi", "normal"}
    """

    low: float | np.ndarray
    high: float | np.ndarray
    probability: float
    kind: str

    @property
    def width(self):
        """high - low."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution on the line by its cumulative probabilities, linear between the points.

    Attributes
    ----------
    x : ndarray, shape (G,)
        Increasing points.
    cdf : ndarray, shape (G,)
        Probability up to each point, from 0 to 1.
    """

    x: np.ndarray
    cdf: np.ndarray

    def quantile(self, p):
        """Points below which the probabilities `p` lie."""
        return np.interp(p, self.cdf, self.x)

    def probability_below(self, x):
        """Probability of values up to `x`."""
        return np.interp(x, self.x, self.cdf, left=0.0, right=1.0)

    def shortest(self, probability):
        """Low and high end of the shortest interval."""
        tail = 1 - probability
        lower = np.linspace(0, tail, 257)

        def width(p):
            return self.quantile(np.minimum(p + probability, 1)) - self.quantile(p)

        i = int(np.argmin(width(lower)))
        left, right = lower[max(i - 1, 0)], lower[min(i + 1, 256)]
        best = scipy.optimize.minimize_scalar(width, bounds=(left, right), method="bounded").x
        p = min((best, left, right, lower[i], tail / 2), key=width)
        return self.quantile(p), self.quantile(min(p + probability, 1))

    def superiority(self, other):
        """Probability that this exceeds an independent `other`, half of any tie included."""
        x = np.union1d(self.x, other.x)
        f, g = self.probability_below(x), other.probability_below(x)
        return float(np.clip((np.diff(f) * (g[1:] + g[:-1]) / 2).sum(), 0, 1))


def point(x):
    """The law of a constant."""
    return Law(np.array([x, x]), np.array([0.0, 1.0]))


def laws_of_mixtures(mixture, low=0.0, high=1.0):
    """The laws of low + (high - low) x, x being each of the mixtures of betas, as a list.

    The density is summed on a grid in logit x, which is dense at both ends of [0, 1]. Neighbors
    in the mixture are merged: two hundred components show no less of its shape.
    """
    parts = mixture.weights.shape[-1]
    flat = BetaMixture(*(x.reshape(-1, parts) for x in (mixture.weights, mixture.a, mixture.b)))
    flat = flat.merge(-(-parts // 256))
    ends = flat.merge(8).ppf(np.array([1e-7, 1 - 1e-7]))
    y = np.linspace(*special.logit(np.clip(ends, 1e-300, 1 - 1e-16)).T, 601, axis=-1)
    laws = []
    for y_l, w, a, b in zip(y, flat.weights, flat.a, flat.b):
        log_density = (np.multiply.outer(special.log_expit(y_l), a)
                       + np.multiply.outer(special.log_expit(-y_l), b) - special.betaln(a, b))
        density = np.exp(log_density) @ w
        cdf = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
        x, cdf = low + (high - low) * special.expit(y_l), cdf / cdf[-1]
        laws.append(Law(x, cdf) if high >= low else Law(x[::-1], 1 - cdf[::-1]))
    return laws


def mean_of_independent(cdf, mean, sd, count, left, right):
    """Law of the mean of independent bounded variables, by convolution on a common lattice.

    Parameters
    ----------
    cdf : callable
        ``cdf(u, y)``: probability that component u lies below each of the points y.
    mean, sd : ndarray, shape (U,)
        Of each different component.
    count : ndarray of int, shape (U,)
        How many times each component occurs.
    left, right : ndarray, shape (U,)
        Range of each component; mass beyond it is moved to its ends.

    Returns
    -------
    Law
    """
    total = count.sum()
    exact_mean = (count * mean).sum() / total
    sum_sd = np.sqrt((count * sd**2).sum())
    span = (right - left).max()
    if not sum_sd > 0 or not span > 0:
        return point(float(exact_mean))
    cell = max(sum_sd / CELLS_PER_SD, (count * (right - left)).sum() / MAX_CELLS)
    # The widest question spans at least 50 cells, or its shape would be lost when M is small.
    cell = min(cell, span / 50)
    first = np.floor(left / cell)
    cells = np.maximum(np.ceil(right / cell) - first, 1).astype(int)
    parts = []
    for u in range(len(count)):
        below = cdf(u, cell * (first[u] + np.arange(1, cells[u])))
        parts.append(_self_convolve(np.diff(below, prepend=0.0, append=1.0), count[u]))
    while len(parts) > 1:  # pairwise, so that short laws meet short laws
        parts = [_convolve(p, q) for p, q in zip(parts[::2], parts[1::2])] \
            + parts[len(parts) // 2 * 2:]
    pmf = np.maximum(parts[0], 0)
    cumulative = np.concatenate([[0.0], np.cumsum(pmf)])
    cumulative /= cumulative[-1]
    # Entry j of the sum stands for midpoints of cells, spread over the cell around them.
    x = cell * ((count * first).sum() + (total - 1) / 2 + np.arange(len(pmf) + 1)) / total
    # The lattice puts mean and variance off, each question by up to a cell; both are known.
    mass = np.diff(cumulative)
    lattice_mean = (mass * (x[1:] + x[:-1])).sum() / 2
    x -= lattice_mean
    lattice_sd = np.sqrt((mass * (x[1:]**2 + x[1:] * x[:-1] + x[:-1]**2)).sum() / 3)
    x = exact_mean + x * (sum_sd / total / lattice_sd if lattice_sd > 0 else 0)
    return Law(np.clip(x, left.min(), right.max()), cumulative)


def _convolve(p, q):
    """The pmf of a sum of two."""
    length = len(p) + len(q) - 1
    size = fft.next_fast_len(length, real=True)
    return fft.irfft(fft.rfft(p, size) * fft.rfft(q, size), size)[:length]


def _self_convolve(pmf, times):
    """The pmf of a sum of `times` independent copies."""
    if times == 1:
        return pmf
    length = int(times) * (len(pmf) - 1) + 1
    size = fft.next_fast_len(length, real=True)
    return fft.irfft(fft.rfft(pmf, size) ** times, size)[:length]


def dirichlet_score_cdf(nu, w, y):
    """CDF of the weighted score of one question, sum of w_k p_k with p ~ Dirichlet(nu).

    The event that the score is at most y is the event that a weighted sum of independent gamma
    variables is at most 0, whose probability is a one-dimensional integral (Imhof 1961).
    """
    edge = w[nu > 0]
    y = np.asarray(y, dtype=float)
    inside = (y > edge.min()) & (y < edge.max())
    out = np.where(y >= edge.max(), 1.0, 0.0)
    d = (w[None, :] - y[inside, None]) / (w.max() - w.min())
    # On the scale of log t the integrand dies exponentially on both sides.
    scale = 1 / np.sqrt((nu * d**2).sum(axis=1, keepdims=True))
    # Up there it falls like t to minus the counts off the heaviest category.
    top = max(12.0, 36 / (nu.sum() - nu.max()))
    step = 0.1
    t = scale * np.exp(np.arange(-36.0, top, step))[None, :]
    angle, log_size = np.zeros_like(t), np.zeros_like(t)
    for k in range(len(w)):
        td = t * d[:, k:k + 1]
        angle += nu[k] * np.arctan(td)
        log_size += nu[k] / 2 * np.log1p(td**2)
    integral = (np.sin(angle) * np.exp(-log_size)).sum(axis=1) * step
    out[inside] = np.clip(0.5 - integral / np.pi, 0, 1)
    return out


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the posterior says of one quantity: mean, sd, intervals, draws.

    Attributes
    ----------
    mean, sd : float or ndarray
        Scalars for one model; else shape (L,), or (L, K) for K values of k.
    laws : callable
        Returns the list of `Law`, one an entry of `mean` in C order.
    sampler : callable
        ``sampler(n, generator)`` returns draws, shape ``mean.shape + (n,)``.
    models : tuple
        Labels along the first axis.
    quantiles : callable, optional
        ``quantiles(q)`` returns those at the array `q`, shape ``mean.shape + q.shape``, where
        they are known without the laws.
    other : callable, optional
        Returns the estimate for the population of questions.
    """

    mean: float | np.ndarray
    sd: float | np.ndarray
    laws: callable
    sampler: callable
    models: tuple
    quantiles: callable = field(default=None, kw_only=True, repr=False)
    other: callable = field(default=None, kw_only=True, repr=False)

    @property
    def population(self):
        """The same quantity for the population that these questions were drawn from.

        With few questions its interval is the wider one: it stays wide however many attempts
        are made. See `posterior` for what each prior takes that population to be.

        Examples
        --------
        >>> import bayeval as bv
        >>> p = bv.posterior(bv.Outcomes.from_counts([3, 0, 9, 5], 10), prior="learned")
        >>> round(p.sd, 3), round(p.population.sd, 3)
        (0.062, 0.149)
        """
        return self.other() if self.other else self

    def ppf(self, q):
        """Quantiles: the value below which the quantity is with probability `q`.

        Parameters
        ----------
        q : float or array_like of float, shape (Q,)
            Strictly between 0 and 1.

        Returns
        -------
        float or ndarray
            Shape ``mean.shape + q.shape``.

        Raises
        ------
        ValueError
            If `q` is not inside (0, 1).

        Examples
        --------
        >>> import bayeval as bv
        >>> never = bv.posterior(bv.Outcomes.from_counts([0], 20))
        >>> round(never.ppf(0.95), 3)       # a bound for a question that was never solved
        0.133
        """
        q = check.reals("q", q)
        if q.ndim > 1 or not ((q > 0) & (q < 1)).all():
            raise ValueError(f"q must lie strictly between 0 and 1; found {q}")
        x = self._quantiles(q.ravel()).reshape(np.shape(self.mean) + q.shape)
        return x if x.ndim else float(x)

    def _quantiles(self, q):
        """Quantiles at an array, shape ``mean.shape + q.shape``."""
        if self.quantiles:
            return self.quantiles(q)
        x = np.array([law.quantile(q) for law in self.laws()])
        return x.reshape(np.shape(self.mean) + q.shape)

    def interval(self, probability=0.95, *, kind="equal-tailed"):
        """Credible interval.

        Parameters
        ----------
        probability : float, default 0.95
        kind : {"equal-tailed", "hdi", "normal"}
            "normal" is mean plus or minus z times sd, which may leave the possible range.

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            If `probability` is not inside (0, 1) or `kind` is unknown.

        Examples
        --------
        >>> import bayeval as bv
        >>> p = bv.posterior(bv.Outcomes.from_counts([5], 5))
        >>> i = p.interval(0.95)
        >>> round(i.low, 4), round(i.high, 4), i.kind
        (0.5407, 0.9958, 'equal-tailed')
        """
        probability = check.probability("probability", probability)
        check.choice("kind", kind, ("equal-tailed", "hdi", "normal"))
        shape = np.shape(self.mean)
        if kind == "normal":
            z = special.ndtri((1 + probability) / 2)
            low, high = self.mean - z * self.sd, self.mean + z * self.sd
        elif kind == "equal-tailed":
            ends = self._quantiles(np.array([(1 - probability) / 2, (1 + probability) / 2]))
            low, high = ends[..., 0], ends[..., 1]
        else:
            ends = np.array([law.shortest(probability) for law in self.laws()])
            low, high = ends[:, 0].reshape(shape), ends[:, 1].reshape(shape)
        if shape == ():
            low, high = float(low), float(high)
        return Interval(low, high, probability, kind)

    def draws(self, n=1000, *, rng=None):
        """Independent draws.

        Parameters
        ----------
        n : int
            Draws.
        rng : optional
            Anything that `numpy.random.default_rng` takes.

        Returns
        -------
        ndarray
            Shape ``mean.shape + (n,)``.

        Examples
        --------
        >>> import bayeval as bv
        >>> bv.posterior(bv.Outcomes.from_counts([5], 5)).draws(3, rng=1).shape
        (3,)
        """
        return self.sampler(check.whole("n", n), check.generator(rng))
