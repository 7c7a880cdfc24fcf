"""Figures, diagrams and films, by matplotlib. Imports nothing heavy until one is asked for."""
