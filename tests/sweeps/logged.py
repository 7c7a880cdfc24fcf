"""What a process of a kill's test loads: it writes down every chunk that it begins to roll."""

from __future__ import annotations

import os

from trundle.sweeps.work import Work

LOG = "TRUNDLE_TEST_CHUNKS"

_rolled = Work.rows


def _rows(self: Work, first: int, count: int, *others: object, **named: object):
    place = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(place, f"{first}\n".encode())
    os.close(place)
    return _rolled(self, first, count, *others, **named)


if LOG in os.environ:
    Work.rows = _rows
