"""Motions as exact functions of time: pieces one after the other, profiles, poses and largest values."""
