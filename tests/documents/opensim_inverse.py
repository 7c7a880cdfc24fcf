"""OpenSim's own inverse dynamics of set-up files, as its tool writes them where they say.

A process of its own, as OpenSim's wheel brings another CasADi:

    python opensim_inverse.py setup.xml ...
"""

import sys
from importlib import import_module

OPENSIM = import_module("opensim")


def main(*setups):
    OPENSIM.Logger.setLevelString("error")
    for setup in setups:
        assert OPENSIM.InverseDynamicsTool(setup).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
