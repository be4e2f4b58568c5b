"""Labelled counts: what every evaluation with repeated attempts reduces to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayeval import _validate as check
from bayeval._tally import as_array, as_categories, tally

WRONG_RIGHT = ("wrong", "right")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Counts of L models on M questions with outcomes in C+1 categories.

    Build one with `from_matrix`, `from_counts`, `from_category_counts` or `from_frame`.

    Attributes
    ----------
    counts : ndarray of int64, shape (L, M, C+1)
        How many scored attempts of each model at each question fell into each category.
    planned : ndarray of int64, shape (L, M)
        Attempts planned, whether they were scored or not.
    models, questions, categories : tuple
        The labels, in the order of the axes. Binary outcomes are ``("wrong", "right")``.
    single : bool
        True if built from one model: results are then scalars, not arrays over models.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([3, 0, 4], 4)
    >>> o
    Outcomes(1 model, 3 questions, 4 attempts each, categories wrong/right)
    >>> o.successes
    array([[3, 0, 4]])
    """

    counts: np.ndarray
    planned: np.ndarray
    models: tuple
    questions: tuple
    categories: tuple
    single: bool = False

    def __post_init__(self):
        for array in (self.counts, self.planned):
            array.flags.writeable = False

    # -- constructors -------------------------------------------------------------------

    @classmethod
    def from_category_counts(cls, counts, *, categories=None, models=None, questions=None,
                             planned=None):
        """Build from counts by category.

        Parameters
        ----------
        counts : array_like of int, shape (M, C+1) or (L, M, C+1)
            Scored attempts in each category.
        categories : sequence or int, optional
            Labels of the C+1 categories, or their number. Two categories are
            ``("wrong", "right")`` by default, more are numbered from 0.
        models, questions : sequence, optional
            Labels; by default ``m1, m2, ...`` and ``q1, q2, ...``.
        planned : array_like of int, shape (M,) or (L, M), optional
            Attempts planned, at least as many as scored. By default all were scored.

        Returns
        -------
        Outcomes

        Raises
        ------
        ValueError
            If an entry is no count, a shape does not fit or a label is repeated.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_category_counts([[1, 2, 2], [1, 2, 2]])
        >>> o.n_trials
        array([[5, 5]])
        """
        counts = check.counts("counts", counts)
        if counts.ndim not in (2, 3) or 0 in counts.shape:
            raise ValueError("counts must have shape (M, C+1) or (L, M, C+1), without an empty "
                             f"axis; found {counts.shape}")
        single = counts.ndim == 2
        counts = counts[None] if single else counts
        L, M, n_categories = counts.shape
        if n_categories < 2:
            raise ValueError("counts must have at least two categories; found "
                             f"{n_categories}")
        scored = counts.sum(axis=2)
        if planned is None:
            planned = scored
        else:
            planned = check.counts("planned", planned)
            try:
                planned = np.broadcast_to(planned, (L, M)).copy()
            except ValueError:
                raise ValueError(f"planned must have shape ({M},) or ({L}, {M}); found "
                                 f"{planned.shape}") from None
            if (planned < scored).any():
                i, j = np.argwhere(planned < scored)[0]
                raise ValueError("planned must be at least the scored attempts; found "
                                 f"{planned[i, j]} planned and {scored[i, j]} scored "
                                 f"(model {i}, question {j})")
        return cls(counts=counts, planned=planned,
                   models=check.labels("models", models, L, "m"),
                   questions=check.labels("questions", questions, M, "q"),
                   categories=_category_labels(categories, n_categories), single=single)

    @classmethod
    def from_counts(cls, successes, trials, *, models=None, questions=None, planned=None):
        """Build binary outcomes from successes and trials.

        Parameters
        ----------
        successes : array_like of int, shape (M,) or (L, M)
            Right answers. One axis means one model, whose results are scalars.
        trials : int or array_like of int
            Scored attempts, broadcast against `successes`. 0 where a question was not
            attempted.
        models, questions, planned
            As in `from_category_counts`.

        Returns
        -------
        Outcomes

        Raises
        ------
        ValueError
            If an entry is no count, or successes exceed trials.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_counts([[4, 1], [2, 0]], 4, models=["A", "B"])
        >>> bv.avg(o)
        array([0.625, 0.25 ])
        """
        check.aligned(successes=successes, trials=trials, planned=planned)
        successes = check.counts("successes", successes)
        trials = check.counts("trials", trials)
        if successes.ndim not in (1, 2) or successes.size == 0:
            raise ValueError("successes must have shape (M,) or (L, M), without an empty axis; "
                             f"found {successes.shape}")
        try:
            trials = np.broadcast_to(trials, successes.shape)
        except ValueError:
            raise ValueError(f"trials of shape {trials.shape} do not fit successes of shape "
                             f"{successes.shape}") from None
        if (successes > trials).any():
            where = tuple(np.argwhere(successes > trials)[0])
            raise ValueError(f"successes must not exceed trials; found {successes[where]} of "
                             f"{trials[where]} at index {tuple(map(int, where))}")
        return cls.from_category_counts(np.stack([trials - successes, successes], axis=-1),
                                        models=models, questions=questions, planned=planned)

    @classmethod
    def from_matrix(cls, R, *, categories=None, models=None, questions=None):
        """Build from a matrix of outcomes, one entry an attempt.

        Parameters
        ----------
        R : array_like, shape (M, N) or (L, M, N)
            Category codes 0..C (0 wrong, 1 right if binary), or category labels as text.
            NaN, None, pandas NA and masked entries are attempts that were planned and not
            scored. Nested lists may be ragged: questions then had unequal attempts.
        categories : sequence or int, optional
            Labels of the C+1 categories, or their number. Needed for text. By default the
            codes run to the largest one found, at least to 1.
        models, questions : sequence, optional
            Labels.

        Returns
        -------
        Outcomes

        Raises
        ------
        ValueError
            If an entry is a fraction, a code outside 0..C, an unknown label, or if an axis
            is empty.

        Notes
        -----
        Integer arrays are tallied in one pass over blocks of rows, without a widened copy.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_matrix([[0, 1, 2, 2, 1], [1, 1, 0, 2, None]], categories=3)
        >>> o.counts[0]
        array([[1, 2, 2],
               [1, 2, 1]])
        >>> round(o.coverage, 3)
        0.9
        """
        R, padding = as_array(R)
        if R.ndim not in (2, 3) or 0 in R.shape:
            raise ValueError("R must have shape (M, N) or (L, M, N), without an empty axis; "
                             f"found {R.shape}")
        single = R.ndim == 2
        if single:
            R, padding = R[None], None if padding is None else padding[None]
        categories = as_categories(categories)
        counts = tally(R, categories)
        planned = np.full(R.shape[:2], R.shape[2]) if padding is None else (~padding).sum(axis=2)
        counts, planned = (counts[0], planned[0]) if single else (counts, planned)
        return cls.from_category_counts(counts, categories=categories, models=models,
                                        questions=questions, planned=planned)

    @classmethod
    def from_frame(cls, df, *, question, model=None, outcome=None, successes=None, trials=None,
                   categories=None):
        """Build from a tidy table: one row an attempt, or one row a cell of counts.

        Parameters
        ----------
        df : pandas.DataFrame
        question, model : str or list of str
            Columns that hold the labels. Several columns are joined with "/". Without
            `model` the table is one model's.
        outcome : str, optional
            Column of outcomes, one row an attempt, coded as in `from_matrix`.
        successes, trials : str, optional
            Columns of counts, one row for each model and question.
        categories : sequence or int, optional
            As in `from_matrix`; only with `outcome`.

        Returns
        -------
        Outcomes
            Models and questions in order of first appearance. A cell without rows has no
            attempts.

        Raises
        ------
        ValueError
            If a column is missing, a label is missing, or a cell of counts is repeated.

        Examples
        --------
        >>> import bayeval as bv, pandas as pd
        >>> runs = pd.DataFrame({"model": ["A", "A", "B"], "task": [1, 1, 1],
        ...                      "ok": [1, 0, None]})
        >>> o = bv.Outcomes.from_frame(runs, model="model", question="task", outcome="ok")
        >>> o.coverage
        array([1., 0.])
        """
        if not isinstance(df, pd.DataFrame):
            raise ValueError(f"df must be a pandas DataFrame; found {type(df).__name__}")
        if len(df) == 0:
            raise ValueError("df must have at least one row; it is empty")
        if (outcome is None) == (successes is None) or (successes is None) != (trials is None):
            raise ValueError("give either `outcome`, or both `successes` and `trials`")
        column, questions = _codes(df, "question", question)
        row, models = (np.zeros(len(df), dtype=np.int64), None) if model is None else \
            _codes(df, "model", model)
        L, M = 1 if models is None else len(models), len(questions)
        cell = row * M + column
        if outcome is not None:
            codes, _ = as_array(_column(df, "outcome", outcome).to_numpy()[:, None])
            categories = as_categories(categories)
            rows = tally(codes[None], categories)[0]
            # Every row is one attempt, so a row's tally is an indicator; bincount adds them.
            counts = np.stack([np.bincount(cell, weights=rows[:, c], minlength=L * M)
                               for c in range(rows.shape[1])], axis=-1)
            planned = np.bincount(cell, minlength=L * M).reshape(L, M)
        else:
            s = check.counts(successes, _column(df, "successes", successes).to_numpy())
            n = check.counts(trials, _column(df, "trials", trials).to_numpy())
            if (s > n).any():
                i = int(np.argmax(s > n))
                raise ValueError(f"{successes} must not exceed {trials}; found {s[i]} of {n[i]} "
                                 f"in row {i}")
            if len(np.unique(cell)) < len(cell):
                i = int(np.argmax(pd.Series(cell).duplicated()))
                raise ValueError(
                    f"df has more than one row for question {questions[column[i]]!r}"
                    + ("" if models is None else f" of model {models[row[i]]!r}")
                    + "; add the counts first, or name more columns in `question`")
            counts = np.zeros((L * M, 2), dtype=np.int64)
            counts[cell] = np.stack([n - s, s], axis=-1)
            categories, planned = None, None
        counts = counts.reshape(L, M, -1)
        if models is None:
            counts, planned = counts[0], None if planned is None else planned[0]
        return cls.from_category_counts(
            counts, categories=categories, models=models, questions=questions, planned=planned)

    # -- views --------------------------------------------------------------------------

    @property
    def n_models(self):
        """L, the number of models."""
        return self.counts.shape[0]

    @property
    def n_questions(self):
        """M, the number of questions."""
        return self.counts.shape[1]

    @property
    def n_categories(self):
        """C + 1, the number of outcome categories."""
        return self.counts.shape[2]

    @property
    def n_trials(self):
        """Scored attempts, shape (L, M)."""
        return self.counts.sum(axis=2)

    @property
    def is_binary(self):
        """Whether there are just two categories, the second of which is success."""
        return self.n_categories == 2

    @property
    def successes(self):
        """Right answers, shape (L, M), of binary outcomes."""
        self.require_binary()
        return self.counts[:, :, 1]

    @property
    def coverage(self):
        """Scored attempts over planned ones, for each model (NaN where none was planned)."""
        scored, planned = self.counts.sum(axis=(1, 2)), self.planned.sum(axis=1)
        share = np.divide(scored, planned, out=np.full(len(scored), np.nan), where=planned > 0)
        return self.per_model(share)

    def require_binary(self):
        """Raise ValueError unless the outcomes are binary."""
        if not self.is_binary:
            raise ValueError(f"the outcomes have {self.n_categories} categories, so success is "
                             "not defined; say which count with `binary(success=[...])`")

    def per_model(self, x):
        """Drop the model axis of `x` if there is a single model: the shape results have."""
        x = np.asarray(x)
        if not self.single:
            return x
        return x[0].item() if x.ndim == 1 else x[0]

    def __repr__(self):
        n = self.n_trials
        attempts = f"{n.min()} attempts each" if n.min() == n.max() else \
            f"{n.min()} to {n.max()} attempts each"
        scored, planned = int(n.sum()), int(self.planned.sum())
        missing = f", {planned - scored} of {planned} attempts not scored" * (scored < planned)
        return (f"Outcomes({self.n_models} model{'s' * (self.n_models > 1)}, "
                f"{self.n_questions} question{'s' * (self.n_questions > 1)}, {attempts}, "
                f"categories {'/'.join(map(str, self.categories))}{missing})")

    # -- new outcomes from old ------------------------------------------------------------

    def select(self, *, models=None, questions=None):
        """Keep some models or questions, in the order given.

        Parameters
        ----------
        models, questions : label or sequence of labels, optional
            One model label (not in a list) makes the result `single`.

        Returns
        -------
        Outcomes

        Raises
        ------
        ValueError
            If a label is unknown.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_counts([[4, 1], [2, 0]], 4, models=["A", "B"])
        >>> bv.avg(o.select(models="B"))
        0.25
        """
        one_model = models is not None and _is_label(models, self.models)
        rows = _positions("models", [models] if one_model else models, self.models)
        one_question = questions is not None and _is_label(questions, self.questions)
        columns = _positions("questions", [questions] if one_question else questions,
                             self.questions)
        cells = np.ix_(rows, columns)
        return Outcomes(counts=self.counts[cells], planned=self.planned[cells],
                        models=tuple(self.models[i] for i in rows),
                        questions=tuple(self.questions[i] for i in columns),
                        categories=self.categories,
                        single=one_model or (self.single and models is None))

    def merge(self, other):
        """Add another batch of attempts of the same models at the same questions.

        Parameters
        ----------
        other : Outcomes
            Aligned by label; its models, questions and categories must be the same sets.

        Returns
        -------
        Outcomes

        Raises
        ------
        ValueError
            If the labels differ.

        Examples
        --------
        >>> import bayeval as bv
        >>> first = bv.Outcomes.from_counts([1, 0], 2)
        >>> first.merge(bv.Outcomes.from_counts([2, 1], 2)).successes
        array([[3, 1]])
        """
        if not isinstance(other, Outcomes):
            raise ValueError(f"other must be Outcomes; found {type(other).__name__}")
        if self.categories != other.categories:
            raise ValueError(f"categories differ: {self.categories} and {other.categories}")
        for axis in ("models", "questions"):
            differing = set(getattr(self, axis)) ^ set(getattr(other, axis))
            if differing:
                raise ValueError(f"{axis} differ: {sorted(map(str, differing))[:5]} "
                                 "stand on one side only")
        other = other.select(models=list(self.models), questions=list(self.questions))
        return Outcomes(counts=self.counts + other.counts, planned=self.planned + other.planned,
                        models=self.models, questions=self.questions,
                        categories=self.categories, single=self.single)

    def binary(self, *, success):
        """Reduce to right and wrong.

        Parameters
        ----------
        success : label or sequence of labels
            Categories that count as success.

        Returns
        -------
        Outcomes

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_category_counts([[1, 2, 2]], categories=["no", "part", "yes"])
        >>> o.binary(success=["part", "yes"]).successes
        array([[4]])
        """
        success = [success] if _is_label(success, self.categories) else success
        c = _positions("success", success, self.categories)
        right = self.counts[:, :, c].sum(axis=2)
        return Outcomes(counts=np.stack([self.n_trials - right, right], axis=-1),
                        planned=self.planned, models=self.models, questions=self.questions,
                        categories=WRONG_RIGHT, single=self.single)

    def missing_as(self, category):
        """Count attempts that were planned and not scored as outcomes of `category`.

        Parameters
        ----------
        category : label
            For instance ``"wrong"``, which gives the lower bound of a success rate.

        Returns
        -------
        Outcomes

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_matrix([[1, None, None, None]])
        >>> bv.avg(o), bv.avg(o.missing_as("wrong"))
        (1.0, 0.25)
        """
        c = _positions("category", [category], self.categories)[0]
        counts = self.counts.copy()
        counts[:, :, c] += self.planned - self.n_trials
        return Outcomes(counts=counts, planned=self.planned, models=self.models,
                        questions=self.questions, categories=self.categories, single=self.single)

    def to_frame(self):
        """One row for each model and question: labels, planned, scored, a column a category.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import bayeval as bv
        >>> bv.Outcomes.from_counts([3], 4).to_frame()
          model question  planned  scored  wrong  right
        0    m1       q1        4       4      1      3
        """
        index = pd.MultiIndex.from_product([self.models, self.questions],
                                           names=["model", "question"])
        table = pd.DataFrame(self.counts.reshape(-1, self.n_categories), index=index,
                             columns=list(self.categories))
        table.insert(0, "planned", self.planned.ravel())
        table.insert(1, "scored", self.n_trials.ravel())
        return table.reset_index()


# -- helpers ----------------------------------------------------------------------------


def _category_labels(categories, n):
    if categories is None or isinstance(categories, int | np.integer):
        if categories is not None and categories != n:
            raise ValueError(f"categories says {categories}, but the counts have {n}")
        return WRONG_RIGHT if n == 2 else tuple(range(n))
    return check.labels("categories", categories, n, "")


def _column(df, argument, name):
    if not check.hashable(name) or name not in df.columns:
        raise ValueError(f"{argument}={name!r} is not a column; the columns are "
                         f"{list(map(str, df.columns))}")
    column = df[name]
    if isinstance(column, pd.DataFrame):
        raise ValueError(f"{argument}={name!r} names more than one column")
    return column


def _codes(df, argument, names):
    """Number of each row's label, and the labels in order of appearance."""
    try:
        return pd.factorize(_label_column(df, argument, names))
    except TypeError:
        raise ValueError(f"{argument}={names!r} must hold labels, text or numbers; found lists "
                         "or other values that cannot be labels") from None


def _label_column(df, argument, names):
    names = list(names) if isinstance(names, list | tuple) else [names]
    if not names:
        raise ValueError(f"{argument} must name at least one column")
    columns = [_column(df, argument, name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.isna().any():
            raise ValueError(f"column {name!r} has {int(column.isna().sum())} missing labels")
    if len(columns) == 1:
        return columns[0].to_numpy(dtype=object)
    joined = columns[0].astype(str).str.cat([c.astype(str) for c in columns[1:]], sep="/")
    parts = pd.DataFrame(dict(enumerate(columns))).assign(joined=joined).drop_duplicates()
    if parts["joined"].duplicated().any():
        raise ValueError(f"{argument}={names!r} gives one label to different rows, such as "
                         f"{parts.loc[parts['joined'].duplicated(), 'joined'].iloc[0]!r}")
    return joined.to_numpy(dtype=object)


def _is_label(x, labels):
    """Whether `x` is one of the labels rather than a list of them."""
    return isinstance(x, str) or not np.iterable(x) or (isinstance(x, tuple) and x in labels)


def _positions(name, wanted, labels):
    if wanted is None:
        return np.arange(len(labels))
    position = {label: i for i, label in enumerate(labels)}
    wanted = check.label_list(name, wanted)
    unknown = [w for w in wanted if w not in position]
    if unknown:
        known = ", ".join(map(repr, labels[:8])) + (", ..." if len(labels) > 8 else "")
        raise ValueError(f"{name} must be among {known}; found {unknown[0]!r}")
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"{name} must be a list of distinct labels, at least one")
    return np.array([position[w] for w in wanted])
