"""The physics, one algorithm a file, generic in the scalar. Knows nothing of files, kernels or plots."""
