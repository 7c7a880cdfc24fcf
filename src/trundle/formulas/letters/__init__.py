"""A mechanism in letters: which letter stands for which number, speed or angle, and what it is called."""
