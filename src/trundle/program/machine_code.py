"""Machine code that is kept: as long as a program needs it, and of the contents last asked for even longer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from weakref import WeakValueDictionary

from trundle.program.llvm.jit import Compiled

KEPT = 64
"""Contents whose code is kept though no program has it any more: of some ten robots at 0.1 to 2 MB each."""


class MachineCode(dict[Hashable, Compiled]):
    """The native functions made for one content, by what they are for."""


_ALIVE: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()
_RECENT: OrderedDict[str, MachineCode] = OrderedDict()
_LOCK = Lock()


def machine_code(key: str) -> MachineCode:
    """The code of a content by its digest, shared by all who ask; whoever calls it must hold it."""
    with _LOCK:
        code = _ALIVE.get(key)
        if code is None:
            code = _ALIVE[key] = MachineCode()
        _RECENT[key] = code
        _RECENT.move_to_end(key)
        if len(_RECENT) > KEPT:
            _RECENT.popitem(last=False)
        return code
