"""Where a model is taken: into functions of NumPy, JAX, CasADi and SciPy, other languages, and pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.model.doors import Doors
from trundle.scalars import SX
from trundle.shown import Displayable

if TYPE_CHECKING:
    from trundle.arrays import FloatArray
    from trundle.exports.package import Package
    from trundle.simulation.ode import Ode
    from trundle.simulation.signals import Inputs


class Portable(Doors):
    """Doors to what becomes of a model elsewhere; the functions behind them check their arguments."""

    def animate(self, path: str | os.PathLike[str] | None = None) -> Path | Displayable:
        """A page that is alive: the robot, sliders for parameters, inputs and start, and the equations; or a film.

        Parameters
        ----------
        path : str or path
            As in `trundle.animate`; None: in a notebook.

        Returns
        -------
        Path or InlinePage
            The file or the folder; what a notebook shows.

        Raises
        ------
        InputError
            As in `trundle.animate`, and for models that no page can hold.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum()).animate()
        <page of 'pendulum': a notebook shows it; animate('page.html') writes it>
        """
        from trundle import animate

        return animate(self._model, path)

    def ode(
        self,
        inputs: Inputs | None = None,
        *,
        initial: Mapping[str, float | str] | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Ode:
        """The equations of motion as SciPy's `solve_ivp` takes them: `solve_ivp(ode, (0, 10), ode.x0)`.

        Parameters
        ----------
        inputs, initial, parameters : mapping
            By name, as in `trundle.ode`.

        Returns
        -------
        Ode
            A function of (t, x), with `x0` and `jacobian`.

        Raises
        ------
        InputError
            For what doesn't fit.

        Examples
        --------
        >>> import trundle
        >>> ode = trundle.derive(trundle.catalog.pendulum(links=1)).ode(initial={"link_1.rate": 0.5})
        >>> float(ode(0.0, ode.x0)[0])
        0.5
        """
        from trundle import ode

        return ode(self._model, inputs, initial=initial, parameters=parameters)

    def numpy(self, function: str = "dynamics") -> Callable[..., FloatArray | tuple[FloatArray, ...]]:
        """The equations as a plain function of NumPy arrays, without a compiler: `model.numpy()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_numpy`.

        Returns
        -------
        callable
            Of groups (n,) or (n, count).

        Raises
        ------
        InputError
            For unknown functions.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).numpy()([0.0, 0.5])[0]
        np.float64(0.5)
        """
        from trundle import to_numpy

        return to_numpy(self._model, function)

    def jax(self, function: str = "dynamics") -> Callable[..., Any]:
        """The equations as a function that JAX's `jit`, `vmap` and `grad` take: `model.jax()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_jax`.

        Returns
        -------
        callable
            Of JAX arrays.

        Raises
        ------
        InputError
            For unknown functions, and where JAX isn't installed.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).jax()([0.0, 0.5]).shape  # doctest: +SKIP
        (2,)
        """
        from trundle import to_jax

        return to_jax(self._model, function)

    def casadi(self, function: str = "dynamics") -> SX:
        """The equations as a `casadi.Function`, for optimal control: `model.casadi()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_casadi`.

        Returns
        -------
        casadi.Function
            Of SX, with the groups' names.

        Raises
        ------
        InputError
            For unknown functions.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).casadi().size_out("rate")
        (2, 1)
        """
        from trundle import to_casadi

        return to_casadi(self._model, function)

    def export(
        self,
        to: str,
        what: str | Sequence[str] | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        name: str | None = None,
        precision: str | None = None,
        force: bool = False,
    ) -> Package:
        """The model in another language, as a folder that compiles as it stands: `model.export("c", output="robot")`.

        Parameters
        ----------
        to : str
            The language or target; here and below as in `trundle.export`.
        what : str or sequence of str
            Which parts; by default all that the model has.
        output : str or path
            The folder to write.
        name : str
            What stands in names of files, functions and classes.
        precision : {"double", "single"}
            Of the numbers.
        force : bool
            Replace what stands there.

        Returns
        -------
        Package
            The files by name.

        Raises
        ------
        InputError
            For what doesn't fit, and folders that hold something else.

        Examples
        --------
        >>> import trundle
        >>> "def dynamics(" in trundle.derive(trundle.catalog.pendulum()).export("numpy").files["pendulum.py"]
        True
        """
        from trundle import export

        return export(self._model, to, what, output=output, name=name, precision=precision, force=force)
