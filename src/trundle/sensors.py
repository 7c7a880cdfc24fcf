"""Kinds of sensors: `trundle.sensors.PoseFix(position="1 cm", heading="0.5 deg", latency="60 ms")`."""

from trundle.robot import Accelerometer as Accelerometer
from trundle.robot import Encoders as Encoders
from trundle.robot import FixSensor as FixSensor
from trundle.robot import Gyro as Gyro
from trundle.robot import MarkFix as MarkFix
from trundle.robot import PoseFix as PoseFix
from trundle.robot import PositionFix as PositionFix
from trundle.robot import Sensor as Sensor
