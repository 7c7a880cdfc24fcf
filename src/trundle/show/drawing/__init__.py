"""Scenes of robots: what is drawn where, at one configuration, over a run, or as programs of their parameters."""
