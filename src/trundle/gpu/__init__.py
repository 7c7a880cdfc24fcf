"""Graphics processors: programs and rollouts as PTX, one thread a robot."""
