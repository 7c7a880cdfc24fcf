"""Feedback: what feeds a robot's inputs so that it follows a motion, or what a hand sets."""
