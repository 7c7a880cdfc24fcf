"""Paths of poses: read, timed within limits, followed, written for robots."""
