"""Driving: commands and paths of poses to motions of a drive, at control levels, and what is kept of them."""
