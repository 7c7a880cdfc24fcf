"""The fastest motion in free space: programmes in reduced coordinates, their starts, and what is proven of them."""
