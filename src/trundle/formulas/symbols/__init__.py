"""A mechanism in symbols: which symbol stands for which number, speed or angle, and what it is called."""
