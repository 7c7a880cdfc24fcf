"""OpenSim's models (.osim): bodies and joints, read."""

from trundle.documents.osim.osim_reader import load_osim, osim_markers
from trundle.documents.osim.osim_setups import osim_weights

__all__ = ["load_osim", "osim_markers", "osim_weights"]
