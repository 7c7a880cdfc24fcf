"""How much work something is, counted: seconds hang on the machine, and on what else runs there."""

import gc
import sys
from collections import Counter


def calls(run) -> Counter[str]:
    """How often which function of Python or C is called, by its name, while `run` does."""
    found = Counter[str]()

    def note(frame, event, function):
        if event == "call":
            found[frame.f_code.co_name] += 1
        elif event == "c_call":
            found[function.__name__] += 1

    before = sys.getprofile()
    gc.disable()  # what others left calls as it goes
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
        gc.enable()
    return found
