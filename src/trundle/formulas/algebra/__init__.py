"""Exact sums of products of letters, sines and cosines: a normal form, its arithmetic, and how each is best written."""
