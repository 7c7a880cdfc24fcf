"""Loads: the wrench through every joint over a motion, in any frame, with what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import require_known
from trundle.frozen import Frozen
from trundle.limbs.loads.followers import led
from trundle.limbs.loads.recursion import MOTION, Recursion, along_freedoms
from trundle.limbs.loads.samples import ExternalWrenches, LoadSamples
from trundle.mechanics.tree import WORLD
from trundle.program import compile_program
from trundle.results import Run
from trundle.scalars import is_zero
from trundle.wrenches import Breakdown, Frame, Point, Wrench

# One for all, so that points and frames of one motion's loads can be asked for in another's.
_WORLD = Frame("world")
_VECTORS = ("origin", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


@dataclass(frozen=True, eq=False, repr=False)
class Loads:
    """The wrench through every joint over a motion: on the child, by the parent, at the joint.

    `trundle.joint_loads` makes it. The base's wrench is what the world gives: its support, or what is left of it
    beside the wrenches from outside.

    Parameters
    ----------
    recursion : Recursion
        The robot's tree and its programs.
    samples : Samples
        The motion.
    outside : Outside
        What pushes from outside, and what closed loops put on their bodies.
    wrenches : array, shape (6 links, n), N and N m
        Force and moment through the links' joints, about its origin in its frame.
    drives : array, shape (s, n), N or N m
        What drives give along the speeds.
    ties : mapping of str to array, shape (n,), N or N m
        What gears and cams put on their followers, by their names; the followers' drives give nothing.
    undetermined : tuple of str
        Loops and speeds whose share redundancy leaves open; theirs is the split of least norm.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> swing = {"time": t, "link_1.angle": 0.3 * np.sin(4 * t)}
    >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1, damping=0.1), swing)
    >>> loads.wrench("link_1").force[0].round(3)
    array([-0.  ,  0.  , 10.17])
    """

    recursion: Recursion
    samples: LoadSamples
    outside: ExternalWrenches
    wrenches: FloatArray
    drives: FloatArray
    ties: Mapping[str, FloatArray] = field(default_factory=dict)
    undetermined: tuple[str, ...] = ()

    @property
    def time(self) -> FloatArray:
        """The motion's times (n,), in s."""
        return self.samples.time

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints by name, the base's first, as the tree has them."""
        return tuple(link.name for link in self.recursion.tree.links)

    @property
    def actuator_torque(self) -> Mapping[str, FloatArray]:
        """What drives give along the speeds (n,), in N or N m: rotors' inertia with it, springs and friction not."""
        return Frozen(dict(zip(self.recursion.speeds, self.drives, strict=True)))

    @cached_property
    def joint_moment(self) -> Mapping[str, FloatArray]:
        """Sᵀ w along the speeds (n,), in N or N m: what crosses a joint along its freedoms, muscles and springs alike.

        Of hinges in a row these are the moments about the hinges' own axes, which needn't be square to one another.
        What follows others by gears and cams is in its leaders' and has none itself: theirs is the whole generalised
        force.
        """
        net, _ = led(self.recursion.mechanism.assembly, self.samples.q, self._work)
        return Frozen(dict(zip(self.recursion.speeds, net, strict=True)))

    @cached_property
    def power(self) -> Mapping[str, FloatArray]:
        """What a joint gives to the motion (n,), in W: its wrench times the child's motion past the parent.

        What follows others by gears and cams is in its leaders' power.
        """
        net = np.array([*self.joint_moment.values()]).reshape(self.samples.nu.T.shape)
        given, speeds = net * self.samples.nu.T, self.recursion.tree.speed_slices()
        return Frozen({name: given[speeds[index]].sum(axis=0) for index, name in enumerate(self.joints)})

    @property
    def world(self) -> Frame:
        """The frame that stands still."""
        return _WORLD

    @cached_property
    def frames(self) -> Mapping[str, Frame]:
        """The frames of bodies over the motion, by the names of the joint and of the body; and the world's."""
        rows = self._motion.reshape(len(self.joints), len(MOTION), -1)
        made: list[Frame] = []
        for index, values in enumerate(np.moveaxis(rows, -1, 1)):
            vectors = values[:, 9:].reshape(len(values), 5, 3)
            made.append(
                self.world.child(
                    self._body(index),
                    rotation=values[:, :9].reshape(-1, 3, 3),
                    **{key: vectors[:, k] for k, key in enumerate(_VECTORS)},
                )
            )
        links = self.recursion.mechanism.assembly.links
        return Frozen({self.world.name: self.world, **{name: made[index] for name, index in links.items()}})

    def wrench(self, joint: str, at: str | Point | None = None, frame: str | Frame | None = None) -> Wrench:
        """The wrench through a joint: on its child, by its parent.

        Parameters
        ----------
        joint : str
            A joint's name, or its child's; "base" for what the world gives.
        at : str or Point, optional
            What the moment is about: a point, or a joint by its name; by default the joint itself.
        frame : str or Frame, optional
            In whose axes: a body's, a joint's child's, or "world"; by default the child's.

        Returns
        -------
        Wrench
            Force (n, 3) in N and moment (n, 3) in N m.

        Raises
        ------
        InputError
            A name is unknown.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> still = {"time": np.arange(6.0), "link_1.angle": np.zeros(6), "link_2.angle": np.zeros(6)}
        >>> loads = trundle.joint_loads(trundle.catalog.pendulum(), still)
        >>> loads.wrench("link_1", frame="world").force[0]
        array([ 0.  ,  0.  , 19.62])
        """
        return self._placed(self._index(joint), self._rows(self._index(joint)), at, frame)

    def actuator(self, joint: str, at: str | Point | None = None, frame: str | Frame | None = None) -> Wrench:
        """The part of a joint's wrench along its freedoms: what drives, muscles, springs and friction give together.

        Parameters
        ----------
        joint : str
            As in `wrench`.
        at : str or Point, optional
            As in `wrench`.
        frame : str or Frame, optional
            As in `wrench`.

        Returns
        -------
        Wrench
            A moment about what turns and a force along what slides; with `constraint` it is the joint's wrench.

        Raises
        ------
        InputError
            A name is unknown.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> still = {"time": np.arange(6.0), "link_1.angle": np.full(6, 0.5)}
        >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1), still)
        >>> loads.actuator("link_1").moment[0].round(4)
        array([0.    , 1.1758, 0.    ])
        """
        index = self._index(joint)
        return self._placed(index, self._along(index)[1], at, frame)

    def constraint(
        self, joint: str, at: str | Point | None = None, frame: str | Frame | None = None
    ) -> Wrench:
        """The part of a joint's wrench that its bearings carry: it gives no power, however the joint moves.

        Parameters
        ----------
        joint : str
            As in `wrench`.
        at : str or Point, optional
            As in `wrench`.
        frame : str or Frame, optional
            As in `wrench`.

        Returns
        -------
        Wrench
            What is left of the joint's wrench beside `actuator`.

        Raises
        ------
        InputError
            A name is unknown.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> still = {"time": np.arange(6.0), "link_1.angle": np.full(6, 0.5)}
        >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1), still)
        >>> loads.constraint("link_1", frame="world").force[0].round(4) + 0.0  # 0.0: no -0
        array([0.  , 0.  , 9.81])
        """
        index = self._index(joint)
        return self._placed(index, self._rows(index) - self._along(index)[1], at, frame)

    def to_run(self, frame: str = "child", mass: float | str | None = None) -> Run:
        """Everything by name over time: for files, `trundle.load_figures` and `trundle.animate`.

        Parameters
        ----------
        frame : str, optional
            In whose axes all wrenches are: "child" and "parent" of a joint, "world", or a body's by its name.
        mass : float or str, kg, optional
            What forces, moments and powers are divided by; text may have a unit.

        Returns
        -------
        Run
            Coordinates, speeds, and of every joint JOINT.force_x … JOINT.moment_z (N, N m), JOINT.power (W) and
            JOINT.effort (what its drive gives, N or N m; JOINT.effort_SPEED where it has several speeds).

        Raises
        ------
        InputError
            The frame is unknown, or the mass isn't positive.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> still = {"time": np.arange(6.0), "link_1.angle": np.full(6, np.pi / 2)}
        >>> run = trundle.joint_loads(trundle.catalog.pendulum(links=1), still).to_run()
        >>> float(run["link_1.moment_y"][0].round(4)), run.units["link_1.power"]
        (2.4525, 'W')
        """
        from trundle.limbs.loads.as_run import to_run

        return to_run(self, frame, mass)

    def breakdown(self, body: str, *, observer: Frame, origin: Point) -> Breakdown:
        """A body's balance as an observer sees it: what is seen, the fictitious wrenches, and the true ones by name.

        The true ones are `gravity`, `joint` (by the body's own, without what is passive there), `passive` (springs,
        dampers, friction and stops there), the reactions of joints on it by their names, `external` and `loops`.

        Parameters
        ----------
        body : str
            A body, or the joint that carries it.
        observer : Frame
            Who looks: one of `frames`, or a child of one.
        origin : Point
            The observer's origin, on which the split depends.

        Returns
        -------
        Breakdown
            About the body's centre of mass, in the observer's axes; `.at` and `.in_` move it, `.residual` is its error.

        Raises
        ------
        InputError
            A name is unknown, or the body has no mass.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0.0, 1.0, 101)
        >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1), {"time": t, "link_1.angle": 2 * t})
        >>> arm = loads.frames["link_1"]
        >>> split = loads.breakdown("link_1", observer=arm, origin=arm.origin)
        >>> split["centrifugal"].force[0].round(6) + 0.0
        array([ 0.,  0., -1.])
        """
        from trundle.limbs.loads.breakdowns import breakdown

        return breakdown(self, body, observer=observer, origin=origin)

    @cached_property
    def residual(self) -> FloatArray:
        """What Newton's and Euler's laws, written for a body about its centre of mass, leave over: the greatest part
        (n,), in N or N m. It is rounding.
        """
        worst = np.zeros(len(self.time))
        for link in self.recursion.tree.links:
            if not is_zero(link.inertia.mass):
                left = self.breakdown(link.name, observer=self.world, origin=self.world.origin).residual
                worst = np.maximum(worst, np.abs(np.hstack([left.force, left.moment])).max(axis=1))
        return worst

    @cached_property
    def _work(self) -> FloatArray:
        """Sᵀ w along all speeds, (s, n)."""
        return np.vstack([self._along(index)[0] for index in range(len(self.joints))])

    @cached_property
    def _motion(self) -> FloatArray:
        return compile_program(self.recursion.kinematics).over_samples(*self.samples.tables)[0]

    def _index(self, joint: str) -> int:
        links = self.recursion.mechanism.assembly.links
        require_known(joint, links, f"there is no joint '{joint}'", key=joint)
        return links[joint]

    def _rows(self, index: int) -> FloatArray:
        return self.wrenches[6 * index : 6 * index + 6]

    def _along(self, index: int) -> tuple[FloatArray, FloatArray]:
        """Sᵀ W of a joint, and the wrench along its freedoms."""
        return along_freedoms(self.recursion.freedoms(index, self.samples.q), self._rows(index))

    def _placed(
        self, index: int, rows: FloatArray, at: str | Point | None, frame: str | Frame | None
    ) -> Wrench:
        """The wrench through a joint from its rows (6, n), moved to the point `at`, in the axes of `frame`."""
        child = self.frames[self.joints[index]]
        parent = self.recursion.tree.links[index].parent
        wrench = Wrench(
            rows[:3].T,
            rows[3:].T,
            on=self._body(index),
            by=self.world.name if parent == WORLD else self._body(parent),
            point=child.origin,
            frame=child,
        )
        if at is not None:
            wrench = wrench.at(at if isinstance(at, Point) else self._frame(at).origin)
        return wrench if frame is None else wrench.in_frame(self._frame(frame))

    def _body(self, index: int) -> str:
        """What a link is called: by its body's name, else by its joint's."""
        links = self.recursion.mechanism.assembly.links
        return next(name for name in reversed(list(links)) if links[name] == index)

    def _frame(self, frame: str | Frame) -> Frame:
        if isinstance(frame, Frame):
            return frame
        require_known(frame, self.frames, f"there is no frame '{frame}'", key=frame)
        return self.frames[frame]
