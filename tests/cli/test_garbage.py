"""Garbage that is not searched for while a command works, and is later."""

import gc

from trundle.cli.garbage import no_collection


class Ring:
    """An object that holds itself, so that only a search finds it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_made_meanwhile_is_old_and_still_found():
    searches: list[int] = []
    gc.collect()
    gc.callbacks.append(watch := lambda phase, info: searches.append(info["generation"]))
    try:
        with no_collection():
            rings = [Ring() for _ in range(50_000)]
            assert not searches
        one = Ring()
        assert gc.isenabled()
        assert gc.get_count()[0] < 1000
    finally:
        gc.callbacks.remove(watch)
    assert not searches
    del rings, one
    assert gc.collect() >= 50_000


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
