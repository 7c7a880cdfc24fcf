"""Vectors, rotations, poses, twists, wrenches and inertias, as plain tuples of scalars."""
