"""What the equations of motion consist of: M, h, the forces, and constants that get names."""
