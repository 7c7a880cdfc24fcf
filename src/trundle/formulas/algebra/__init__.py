"""Exact sums of products of symbols, sines and cosines: a normal form, its arithmetic, and how each is best written."""
