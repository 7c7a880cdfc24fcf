"""A second formulation by SymPy: Lagrange's equations with non-holonomic constraints, in the world's frame.

Made from the plain description (numbers only): coordinates x, y, θ, steering angles and spins; ideal wheels as
constraints.
"""

import numpy as np
import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols


def turned(angle, vector):
    c, s = sympy.cos(angle), sympy.sin(angle)
    return sympy.Matrix([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def carried(velocity, omega, arm):
    """The velocity of a point at `arm` (world axes) from one whose velocity is known: v + ω × r."""
    return velocity + omega * sympy.Matrix([-arm[1], arm[0]])


class Wheeled:
    """q̈ of a planar robot on ideal wheels under torques on spins and steerings: `accelerations(q, v, torques)`."""

    def __init__(self, robot):
        self.names, self.symbols = ["x", "y", "theta"], list(dynamicsymbols("x y theta"))
        start, omega = sympy.Matrix([self._rate(0), self._rate(1)]), self._rate(2)
        energy = self._body(robot["body"], start, omega, self.symbols[2])
        constraints = []
        for name, wheel in robot["wheels"].items():
            more, rows = self._wheel(
                name, wheel, carried(start, omega, turned(self.symbols[2], wheel["at"])), omega
            )
            energy += more
            constraints += rows
        lagrange = LagrangesMethod(energy, self.symbols, nonhol_coneqs=constraints)
        lagrange.form_lagranges_equations()
        self.count = len(self.symbols)
        plain = sympy.symbols(f"q:{self.count}"), sympy.symbols(f"v:{self.count}")
        rates = [self._rate(k) for k in range(self.count)]
        replace = dict(zip(rates, plain[1], strict=True)), dict(zip(self.symbols, plain[0], strict=True))
        matrices = [
            m.xreplace(replace[0]).xreplace(replace[1])
            for m in (lagrange.mass_matrix_full, lagrange.forcing_full)
        ]
        self.evaluate = sympy.lambdify(plain, matrices, "numpy", cse=True)

    def _rate(self, k):
        return self.symbols[k].diff(dynamicsymbols._t)

    def _new(self, coordinate, symbol):
        self.names.append(coordinate)
        self.symbols.append(dynamicsymbols(symbol))
        return self.symbols[-1], self._rate(-1)

    def _body(self, body, velocity, omega, angle):
        center = carried(velocity, omega, turned(angle, body["center_of_mass"]))
        return body["mass"] * center.dot(center) / 2 + body["inertia"]["zz"] * omega**2 / 2

    def _wheel(self, name, wheel, velocity, omega):
        """Kinetic energy, and the rows of its contact."""
        angle, energy, m, r = self.symbols[2] + wheel.get("heading", 0.0), 0, wheel["mass"], wheel["radius"]
        if wheel.get("type") in ("steered", "caster"):
            steering, rate = self._new(f"{name}.steering", f"{name}_s")
            angle, omega = angle + steering, omega + rate
            energy += self._body(wheel["fork"], velocity, omega, angle)
            velocity = carried(velocity, omega, turned(angle, [-wheel.get("offset", 0.0), 0]))
        _, spin = self._new(f"{name}.angle", f"{name}_a")
        energy += m * velocity.dot(velocity) / 2 + m * r**2 / 2 * spin**2 / 2
        energy += m * (3 * r**2 + wheel["width"] ** 2) / 12 * omega**2 / 2
        local = turned(-angle, velocity)
        along, across = local[0] - r * spin, local[1]
        if wheel.get("type") not in ("mecanum", "omni"):
            return energy, [along, across]
        gamma = wheel.get("roller_angle", float(np.pi / 2))
        return energy, [float(np.sin(gamma)) * along + float(np.cos(gamma)) * across]

    def accelerations(self, q, v, torques):
        """q̈ (world frame) of all coordinates; torques by coordinate."""
        n = self.count
        matrix, forcing = self.evaluate(q, v)
        forcing = np.array(forcing, float).ravel()
        forcing[n : 2 * n] += torques
        return np.linalg.lstsq(np.array(matrix, float), forcing, rcond=1e-13)[0][n : 2 * n]
