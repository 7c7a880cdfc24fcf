"""The benchmark of smoothing: no method leaves more of a noisy motion than what was published of it."""

import numpy as np
import pytest

from benchmarks import smoothing


@pytest.mark.campaign
def test_no_method_is_worse_than_published(campaign):
    found = [smoothing.errors(draw) for draw, _ in enumerate(campaign(smoothing.DRAWS, least=10))]
    for (smoothed, method, published), (inside, ends) in zip(
        smoothing.CASES, np.median(found, axis=0), strict=True
    ):
        if published is not None:
            assert smoothing.no_worse((inside, ends), published), (smoothed, method, inside, ends)
