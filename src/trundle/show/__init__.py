"""Pictures of runs. Imports nothing heavy until a figure is asked for."""
