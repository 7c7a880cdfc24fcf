"""Programs that a model makes when they are asked for: forces, accelerations, momentum, motions of frames, slopes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trundle.expected import check_str, names_of
from trundle.model.doors import Doors
from trundle.program import Program

if TYPE_CHECKING:
    from trundle.arrays import FloatArray
    from trundle.model.model_program import ModelProgram
    from trundle.model.moving import MovingMechanism
    from trundle.model.programs import FrameMotion, WholeMomentum


class Programmed(Doors):
    """A model's further programs, made once and kept with it."""

    @cached_property
    def audited_jacobian(self) -> Program:
        """∂(rate)/∂(state) of `audited`, by automatic differentiation; row-major."""
        return self._model.audited.jacobian("rate", "state")

    @cached_property
    def moving(self) -> MovingMechanism:
        """The mechanism in CasADi's symbols, from which further programs are made; raises InputError without a
        description.
        """
        from trundle.model.programs import symbolic_mechanism

        return symbolic_mechanism(self._model)

    @cached_property
    def kept_programs(self) -> dict[tuple[object, ...], object]:
        """Programs that were asked for by a link's name, by what was asked."""
        return {}

    @cached_property
    def rhs(self) -> ModelProgram[FloatArray]:
        """ẋ = f(x, u, p), called: `model.rhs(x, u)`, x and u by name or in order, one state or many.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.pendulum(links=1))
        >>> model.rhs({"link_1.rate": 0.5})[0]
        np.float64(0.5)
        """
        from trundle.model.programs import rhs

        return rhs(self._model)

    @cached_property
    def mass_matrix(self) -> ModelProgram[FloatArray]:
        """SᵀMS of the independent speeds (kg, kg m, kg m²), (n, n) when called: `model.mass_matrix(q)`.

        As a program: (coordinate, speed, parameter) → `mass_matrix`, row-major. With loops the tree's.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import mass_matrix

        return mass_matrix(self._model)

    @cached_property
    def bias(self) -> ModelProgram[FloatArray]:
        """h with M u̇ + h = the force on u (N, N m), (n,) when called: `model.bias(q, v)`.

        Gravity, Coriolis and centrifugal forces; motors, springs and friction are no part of it; with loops the tree's.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import bias

        return bias(self._model)

    @cached_property
    def gravity(self) -> ModelProgram[FloatArray]:
        """The bias at rest, (n,) when called: what must be applied to u to hold the weight, `model.gravity(q)`.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import gravity

        return gravity(self._model)

    @cached_property
    def momentum(self) -> ModelProgram[WholeMomentum]:
        """Momentum about the centre of mass: (coordinate, speed, parameter) → `center` (m), its `velocity` (m/s),
        `linear` (kg m/s) and `angular` (kg m²/s), in world axes; a tuple of these when called: `model.momentum(q, v)`.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import momentum

        return momentum(self._model)

    def inverse_dynamics(self, pushed: Sequence[str] = ()) -> ModelProgram[FloatArray]:
        """The forces that accelerations need: (coordinate, speed, acceleration[, wrench], parameter) → `force`.

        Sᵀ(M (S u̇ + Ṡ u) + c − Σ Jᵀ w) on the independent speeds (N, N m), which motors, springs and friction together
        must give.

        Parameters
        ----------
        pushed : sequence of str, optional
            Links on which wrenches act: forces (N) and moments (N m) about the link's origin, in world axes.

        Returns
        -------
        ModelProgram
            Differentiable; called, the force (n,): `model.inverse_dynamics()(q, v, acceleration)`.

        Raises
        ------
        InputError
            A link has no such name; the model was not derived from a description.

        References
        ----------
        Featherstone 2008, table 5.1.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> model.inverse_dynamics().outputs[0].labels
        ('v_x', 'omega')
        """
        from trundle.model.programs import inverse_dynamics

        return inverse_dynamics(self._model, names_of(pushed, "pushed"))

    def forward_dynamics(self, pushed: Sequence[str] = ()) -> ModelProgram[FloatArray]:
        """The accelerations that forces give: (coordinate, speed, force[, wrench], parameter) → `acceleration`.

        Parameters
        ----------
        pushed : sequence of str, optional
            Links on which wrenches act, as in `inverse_dynamics`.

        Returns
        -------
        ModelProgram
            u̇ of the independent speeds (m/s², rad/s²), gravity included; differentiable. Called, an array (n,).

        Raises
        ------
        InputError
            A link has no such name; the model was not derived from a description.

        References
        ----------
        Featherstone 2008, table 7.1 for trees without constraints.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("pendulum", links=2))
        >>> model.forward_dynamics().outputs[0].labels
        ('link_1.rate', 'link_2.rate')
        """
        from trundle.model.programs import forward_dynamics

        return forward_dynamics(self._model, names_of(pushed, "pushed"))

    def frame(self, link: str, point: Sequence[float | str] = (0.0, 0.0, 0.0)) -> ModelProgram[FrameMotion]:
        """Where a point of a link is and how it moves: (coordinate, speed, parameter) → `position` (m), `rotation`
        (3×3), `velocity` (m/s, rad/s), `jacobian` (6×n) and `bias`, row-major, in world axes.

        velocity = jacobian · speed, acceleration = jacobian · (speed's rate) + bias.

        Parameters
        ----------
        link : str
            A joint's, a body's or a wheel's name, or "base". A wheel's frame doesn't spin with it, its velocity is
            that of the wheel's material.
        point : sequence of three numbers or str, optional
            (x, y, z) in the link's frame, in m or as text with units, by default its origin.

        Returns
        -------
        ModelProgram
            Differentiable; called, a tuple of these: `model.frame("hand")(q, v).position`.

        Raises
        ------
        InputError
            A link has no such name, a point is no three numbers; the model was not derived from a description.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> [group.name for group in model.frame("base").outputs]
        ['position', 'rotation', 'velocity', 'jacobian', 'bias']
        """
        from trundle.model.programs import frame

        return frame(self._model, check_str(link, "link"), point)

    @cached_property
    def rate_slopes(self) -> Program:
        """`dynamics` with ∂(rate)/∂(state) and ∂(rate)/∂(input) beside the rate, row-major."""
        return self._model.dynamics.with_jacobians("rate", "state", "input")

    @cached_property
    def output_slopes(self) -> Program:
        """`observe` with ∂(output)/∂(state) and ∂(output)/∂(input) beside the outputs, row-major."""
        return self._model.observe.with_jacobians("output", "state", "input")
