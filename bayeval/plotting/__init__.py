"""Every figure of the book as a function of results that returns its axes.

Importing this module sets matplotlib's style to ``bayeval.mplstyle``.
"""
