"""Limbs: what was measured of them, and the loads in their joints."""
