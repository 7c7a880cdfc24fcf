"""Kinds of controllers, and what a kind of your own is made of: `trundle.controllers.PidController(reads="v_x", …)`."""

from trundle.robot import Action as Action
from trundle.robot import CircleFollower as CircleFollower
from trundle.robot import Controller as Controller
from trundle.robot import FeedbackAlong as FeedbackAlong
from trundle.robot import HolonomicTracker as HolonomicTracker
from trundle.robot import KanayamaTracker as KanayamaTracker
from trundle.robot import LinearController as LinearController
from trundle.robot import PidController as PidController
from trundle.robot import PurePursuitTracker as PurePursuitTracker
from trundle.robot import SamsonTracker as SamsonTracker
from trundle.robot import Sight as Sight
from trundle.robot import StanleyTracker as StanleyTracker
from trundle.robot import State as State
from trundle.robot import StateFeedback as StateFeedback
from trundle.robot import Tracker as Tracker
from trundle.robot import UnicycleTracker as UnicycleTracker
