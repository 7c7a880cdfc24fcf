"""The catalogue: robots to start from, each a function of its main measures, each with a run that shows it moving."""

from typing import TYPE_CHECKING, NoReturn

from trundle.catalog.bicycle import bicycle as bicycle
from trundle.catalog.catalogue import document as document
from trundle.catalog.catalogue import motor as motor
from trundle.catalog.catalogue import motors as motors
from trundle.catalog.catalogue import names as names
from trundle.catalog.catalogue import options as options
from trundle.catalog.catalogue import robot as robot
from trundle.catalog.catalogue import summary as summary
from trundle.catalog.leg import leg as leg
from trundle.catalog.legged import hopper as hopper
from trundle.catalog.legged import quadruped as quadruped
from trundle.catalog.linkages import four_bar as four_bar
from trundle.catalog.linkages import pendulum as pendulum
from trundle.catalog.linkages import slider_crank as slider_crank
from trundle.catalog.person import person as person
from trundle.catalog.person import person_markers as person_markers
from trundle.catalog.rocker_bogie import rocker_bogie as rocker_bogie
from trundle.catalog.rovers import landtamer as landtamer
from trundle.catalog.rovers import recbot as recbot
from trundle.catalog.rovers import rocky7 as rocky7
from trundle.catalog.rovers import talon as talon
from trundle.catalog.rovers import zoe as zoe
from trundle.catalog.steered import ackermann as ackermann
from trundle.catalog.steered import car_with_trailers as car_with_trailers
from trundle.catalog.steered import limited_swerve as limited_swerve
from trundle.catalog.steered import swerve as swerve
from trundle.catalog.steered import tricycle as tricycle
from trundle.catalog.wheeled import differential_drive as differential_drive
from trundle.catalog.wheeled import mecanum as mecanum
from trundle.catalog.wheeled import offset_drive as offset_drive
from trundle.catalog.wheeled import segway as segway
from trundle.catalog.wheeled import skid_steer as skid_steer
from trundle.catalog.wheeled import three_omni as three_omni
from trundle.errors import no_attribute as _no_attribute

if not TYPE_CHECKING:  # who checks types is to see what there is, and nothing else

    def __getattr__(name: str) -> NoReturn:
        """Say the nearest robot of the catalogue."""
        raise _no_attribute("trundle.catalog", name, names())
