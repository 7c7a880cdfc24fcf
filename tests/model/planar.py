"""A second formulation of planar wheeled robots, for tests: maximal coordinates and Lagrange multipliers, in
numbers only.

Every body has its own (x, y, θ) of its mass centre in the world, every wheel a spin besides. Pins, welds and
rolling are rows g(q, v) = 0, linear in v; the accelerations and multipliers solve
M v̇ = Q + Jᵀλ,  J v̇ = −J̇ v,  with J̇ v by a complex step.
Reads the plain description itself (numbers only) and shares no code with the package.
"""

from dataclasses import dataclass, field

import numpy as np

STEP = 1e-30


@dataclass
class Part:
    """A rigid body: its parent, how it hangs on it ('free', 'weld', 'pin'), where, turned by how much, which
    way it counts.
    """

    name: str
    parent: int
    joint: str
    at: np.ndarray
    turn: float
    com: np.ndarray
    mass: float
    inertia: float
    sign: float = 1.0
    fixed_turn: float = 0.0


@dataclass
class Planar:
    """A robot as parts, wheels (part, description, spin's column) and drives."""

    robot: dict
    parts: list = field(default_factory=list)
    wheels: dict = field(default_factory=dict)
    pins: dict = field(default_factory=dict)  # name of the rate -> index of the part that turns

    def __post_init__(self):
        body = self.robot["body"]
        self._add("base", -1, "free", (0, 0), 0.0, body)
        for name, joint in self.robot.get("joints", {}).items():
            kind = "pin" if joint["type"] == "revolute" else "weld"
            sign = np.sign(joint.get("axis", [0, 0, 1])[2])
            index = self._add(
                name, self._index(joint.get("parent", "base")), kind, joint["at"][:2], 0.0, joint["body"]
            )
            self.parts[index].sign = sign
            if kind == "pin":
                self.pins[f"{name}.rate"] = index
        for name, wheel in self.robot["wheels"].items():
            self._add_wheel(name, wheel)
        spins = [place for _, _, place in self.wheels.values() if place is not None]
        first = 3 * len(self.parts) + len(spins)
        couplings = self.robot.get("couplings", {})
        linkages = [name for name, each in couplings.items() if each.get("type") != "gear"]
        self.couplings = {name: first + k for k, name in enumerate(linkages)}
        self.gears = {name: each for name, each in couplings.items() if each.get("type") == "gear"}
        self.count = first + len(self.couplings)

    def _index(self, name):
        return next(i for i, part in enumerate(self.parts) if part.name == name)

    def _add(self, name, parent, joint, at, turn, body):
        com = np.array(body.get("center_of_mass", [0, 0, 0])[:2], float)
        inertia = body.get("inertia", {}).get("zz", 0.0)
        self.parts.append(
            Part(name, parent, joint, np.array(at, float), turn, com, body.get("mass", 0.0), inertia)
        )
        return len(self.parts) - 1

    def _add_wheel(self, name, wheel):
        kind, r, m = wheel.get("type", "fixed"), wheel["radius"], wheel.get("mass", 0.0)
        diameter = wheel.get("inertia", {}).get(
            "diameter", m * (3 * r**2 + wheel.get("width", 0.0) ** 2) / 12
        )
        parent, at, heading = (
            self._index(wheel.get("parent", "base")),
            wheel["at"][:2],
            wheel.get("heading", 0.0),
        )
        if kind == "ball":
            index = self._add(name, parent, "weld", at, 0.0, {"mass": m})
            self.wheels[name] = (index, wheel, None)
            return
        if kind in ("steered", "caster"):
            parent = self._add(f"{name}.fork", parent, "pin", at, heading, wheel.get("fork", {}))
            self.pins[f"{name}.steering_rate"] = parent
            at, heading = (-wheel.get("offset", 0.0), 0.0), 0.0
        index = self._add(name, parent, "weld", at, heading, {"mass": m, "inertia": {"zz": diameter}})
        self.wheels[name] = (index, wheel, len([w for w in self.wheels.values() if w[2] is not None]))

    def spin(self, name):
        return 3 * len(self.parts) + self.wheels[name][2]

    # Configurations and velocities from the names that users see.

    def configuration(self, values):
        q = np.zeros(self.count)
        frames = []
        for i, part in enumerate(self.parts):
            if part.parent < 0:
                origin, theta = np.array([values["x"], values["y"]]), values["theta"]
            else:
                p, t = frames[part.parent]
                origin, theta = p + rotation(t) @ part.at, t + part.turn
                name = next((n for n, k in self.pins.items() if k == i), None)
                if name is not None:
                    owner, _, what = name.rpartition(".")
                    theta += (
                        part.sign * values[f"{owner}.{'steering' if what == 'steering_rate' else 'angle'}"]
                    )
            frames.append((origin, theta))
            q[3 * i : 3 * i + 3] = *(origin + rotation(theta) @ part.com), theta
        for name, column in self.couplings.items():
            q[column] = values[f"{name}.angle"]
        return q

    def velocity(self, q, values):
        v = np.zeros(self.count)
        frames = []
        for i, part in enumerate(self.parts):
            if part.parent < 0:
                linear, omega = rotation(q[2]) @ [values["v_x"], values["v_y"]], values["omega"]
            else:
                p, w = frames[part.parent]
                linear, omega = p + w * turned(rotation(q[3 * part.parent + 2]) @ part.at), w
                name = next((n for n, k in self.pins.items() if k == i), None)
                if name is not None:
                    omega = omega + part.sign * values[name]
            frames.append((linear, omega))
            v[3 * i : 3 * i + 2] = linear + omega * turned(rotation(q[3 * i + 2]) @ part.com)
            v[3 * i + 2] = omega
        for name, (_, _, place) in self.wheels.items():
            if place is not None:
                v[self.spin(name)] = values[f"{name}.rate"]
        for name, column in self.couplings.items():
            v[column] = values[f"{name}.rate"]
        return v

    def rates(self, q, v):
        """The named speeds' columns: each a row over v (constant but for the base's, which are in its own frame)."""
        c, s = np.cos(q[2]), np.sin(q[2])
        r = rotation(q[2]) @ self.parts[0].com
        return {
            "v_x": c * (v[0] + r[1] * v[2]) + s * (v[1] - r[0] * v[2]),
            "v_y": -s * (v[0] + r[1] * v[2]) + c * (v[1] - r[0] * v[2]),
            "omega": v[2],
            **{
                name: self.parts[i].sign * (v[3 * i + 2] - v[3 * self.parts[i].parent + 2])
                for name, i in self.pins.items()
            },
            **{
                f"{name}.rate": v[self.spin(name)]
                for name, (_, _, place) in self.wheels.items()
                if place is not None
            },
            **{f"{name}.rate": v[column] for name, column in self.couplings.items()},
        }

    # Constraints.

    def joint_rows(self, q, v):
        rows = []
        for i, part in enumerate(self.parts):
            if part.parent < 0:
                continue
            k = part.parent
            child = point_velocity(q, v, i, -part.com)
            parent = point_velocity(q, v, k, part.at - self.parts[k].com)
            rows += list(child - parent)
            if part.joint == "weld":
                rows.append(v[3 * i + 2] - v[3 * k + 2])
        return rows

    def slip(self, q, v, name):
        """The contact's velocity in the directions in which the ground can push."""
        i, wheel, place = self.wheels[name]
        if place is None:
            return []
        c, s = np.cos(q[3 * i + 2]), np.sin(q[3 * i + 2])
        vx, vy = v[3 * i], v[3 * i + 1]
        along, across = c * vx + s * vy - wheel["radius"] * v[self.spin(name)], -s * vx + c * vy
        if wheel.get("type") in ("mecanum", "omni"):
            gamma = wheel.get("roller_angle", np.pi / 2)
            return [np.sin(gamma) * along + np.cos(gamma) * across]
        return [along, across]

    def contact_rows(self, q, v):
        rows = []
        for name, (_, wheel, _) in self.wheels.items():
            if wheel.get("contact", "ideal") == "ideal" and wheel.get("type") != "ball":
                rows += self.slip(q, v, name)
        for name, column in self.couplings.items():
            coupling = self.robot["couplings"][name]
            places = [self.robot["wheels"][w]["at"] for w in coupling["wheels"]]
            length, middle = places[0][0] - coupling.get("axle", 0.0), (places[0][1] + places[1][1]) / 2
            for wheel, place in zip(coupling["wheels"], places, strict=True):
                rows.append(
                    self._driven(f"{wheel}.steering") @ v
                    - ackermann_slope(q[column], length, place[1] - middle) * v[column]
                )
        for gear in self.gears.values():
            led = sum(ratio * self._driven(leader) for leader, ratio in gear["follows"].items())
            rows.append(self._driven(gear["joint"]) @ v - led @ v)
        return rows

    def contact_names(self):
        names = []
        for name, (_, wheel, place) in self.wheels.items():
            if wheel.get("contact", "ideal") == "ideal" and place is not None:
                roller = wheel.get("type") in ("mecanum", "omni")
                names += [f"{name}.roller_force"] if roller else [f"{name}.traction", f"{name}.side_force"]
        names += [f"{name} coupling {k}" for name in self.couplings for k in range(2)]
        return names + [f"{name}.torque" for name in self.gears]

    # Forces.

    def mass(self, q):
        matrix = np.zeros((self.count, self.count))
        for i, part in enumerate(self.parts):
            matrix[range(3 * i, 3 * i + 3), range(3 * i, 3 * i + 3)] = part.mass, part.mass, part.inertia
        for name, (_, wheel, place) in self.wheels.items():
            if place is not None:
                axle = wheel.get("inertia", {}).get("axle", wheel.get("mass", 0.0) * wheel["radius"] ** 2 / 2)
                matrix[self.spin(name), self.spin(name)] += axle
        for motor in self.robot.get("motors", {}).values():
            row = self._driven(motor["drives"])
            if row is not None:
                armature = motor.get("gear_ratio", 1.0) ** 2 * motor.get("rotor_inertia", 0.0)
                matrix += armature * np.outer(row, row)
        for name, joint in self.robot.get("joints", {}).items():
            if f"{name}.rate" in self.pins:
                row = self._driven(name)
                matrix += joint.get("armature", 0.0) * np.outer(row, row)
        return matrix

    def _driven(self, target):
        """The row over v of the rate that a motor drives."""
        row = np.zeros(self.count)
        if target in self.wheels:
            row[self.spin(target)] = 1.0
            return row
        if target in self.couplings:
            row[self.couplings[target]] = 1.0
            return row
        owner, _, steering = target.partition(".")
        key = f"{owner}.steering_rate" if steering else f"{owner}.rate"
        if key not in self.pins:
            return None
        i = self.pins[key]
        row[3 * i + 2], row[3 * self.parts[i].parent + 2] = self.parts[i].sign, -self.parts[i].sign
        return row

    def forces(self, q, v, values, commands):
        total = np.zeros(self.count)
        current_rates = {}
        for name, motor in self.robot.get("motors", {}).items():
            row = self._driven(motor["drives"])
            if row is None:
                continue
            torque, current_rates[name] = drive(
                name, motor, float(row @ v), self._angle(motor["drives"], values), values, commands
            )
            total += torque * row
        for name, joint in self.robot.get("joints", {}).items():
            if f"{name}.rate" in self.pins:
                row, angle = self._driven(name), values[f"{name}.angle"]
                total += row * (
                    -joint.get("stiffness", 0.0) * (angle - joint.get("rest", 0.0)) - drag(joint, row @ v)
                )
        for name, (_, wheel, place) in self.wheels.items():
            if place is None:
                continue
            rate = v[self.spin(name)]
            total[self.spin(name)] -= drag(wheel, rate)
            if f"{name}.steering_rate" in self.pins:
                row = self._driven(f"{name}.steering")
                total -= row * wheel.get("steering_damping", 0.0) * (row @ v)
        return total + self.friction(q, v), current_rates

    def _angle(self, target, values):
        return values.get(target if "." in target else f"{target}.angle", 0.0)

    def loads(self, q):
        """Normal forces: the least-norm ones in equilibrium with the weight (equal springs under a rigid base)."""
        base = q[:2] - rotation(q[2]) @ self.parts[0].com
        masses = np.array([part.mass for part in self.parts])
        centers = np.array([q[3 * i : 3 * i + 2] for i in range(len(self.parts))])
        center = rotation(q[2]).T @ (masses @ centers / masses.sum() - base)
        places = [rotation(q[2]).T @ (q[3 * i : 3 * i + 2] - base) for i, _, _ in self.wheels.values()]
        given = {name: wheel["load"] for name, (_, wheel, _) in self.wheels.items() if "load" in wheel}
        shapes = dict(zip(self.wheels, (np.array([1.0, *place]) for place in places), strict=True))
        resultant = masses.sum() * self.robot.get("gravity", 9.81) * np.array([1.0, *center])
        resultant -= sum((load * shapes[name] for name, load in given.items()), np.zeros(3))
        sharing = [name for name in self.wheels if name not in given]
        shares = np.linalg.pinv(np.array([shapes[name] for name in sharing]).T) @ resultant
        return given | {name: max(share, 0.0) for name, share in zip(sharing, shares, strict=True)}

    def friction(self, q, v):
        total = np.zeros(self.count)
        if not any(w.get("contact") == "slip" for _, w, _ in self.wheels.values()):
            return total
        loads = self.loads(q)
        for name, (_, wheel, _) in self.wheels.items():
            if wheel.get("contact") != "slip":
                continue
            velocity = np.array(self.slip(q, v, name))
            size = np.sqrt(velocity @ velocity + wheel.get("slip_speed", 0.01) ** 2)
            force = -wheel.get("friction", 0.8) * loads[name] * velocity / size
            total += np.array([self.slip(q, e, name) for e in np.eye(self.count)]) @ force
        return total

    # The solution.

    def solve(self, values, commands):
        """Accelerations of the named speeds, currents' rates, contact forces (least norm), the residual of the
        constraints.
        """
        q = self.configuration(values)
        v = self.velocity(q, values)

        def all_rows(q, v):
            return np.array(self.joint_rows(q, v) + self.contact_rows(q, v))

        jacobian = np.array([all_rows(q, e) for e in np.eye(self.count)]).T
        bias = all_rows(q + 1j * STEP * v, v.astype(complex)).imag / STEP
        mass = self.mass(q)
        force, current_rates = self.forces(q, v, values, commands)
        size, rows = self.count, len(bias)
        kkt = np.block([[mass, -jacobian.T], [jacobian, np.zeros((rows, rows))]])
        solution = np.linalg.lstsq(kkt, np.concatenate([force, -bias]), rcond=1e-12)[0]
        a = solution[:size]
        joints = len(self.joint_rows(q, v))
        left = np.linalg.svd(jacobian[:joints])[2][np.linalg.matrix_rank(jacobian[:joints]) :].T
        unbalanced = left.T @ (mass @ a - force)
        multipliers = np.linalg.pinv((jacobian[joints:] @ left).T, rcond=1e-11) @ unbalanced
        plain = self.rates(q, a)
        spun = self.rates(q + 1j * STEP * v, v.astype(complex))
        rates = {name: plain[name] + spun[name].imag / STEP for name in plain}
        forces = dict(zip(self.contact_names(), multipliers, strict=True))
        return rates, current_rates, forces, np.abs(jacobian @ v).max()


def drag(noun, rate):
    dry = noun.get("coulomb", 0.0)
    return noun.get("damping", 0.0) * rate + dry * rate / np.sqrt(
        rate**2 + noun.get("coulomb_speed", 1e-3) ** 2
    )


def drive(name, motor, rate, angle, values, commands):
    """Torque on what a motor drives, and its current's rate (None where the current follows at once)."""
    kind, ratio = motor.get("type", "dc"), motor.get("gear_ratio", 1.0)
    if kind == "torque":
        return ratio * commands[f"{name}.torque"], None
    if kind == "servo":
        return motor["stiffness"] * (commands[f"{name}.angle"] - angle) - motor.get(
            "damping", 0.0
        ) * rate, None
    k, resistance = motor["torque_constant"], motor["resistance"]
    shaft = ratio * rate
    drop = commands[f"{name}.voltage"] - motor.get("back_emf_constant", k) * shaft
    inductance = motor.get("inductance", 0.0)
    current = values[f"{name}.current"] if inductance else drop / resistance
    dry = motor.get("coulomb", 0.0) * shaft / np.sqrt(shaft**2 + motor.get("coulomb_speed", 0.1) ** 2)
    change = (drop - resistance * current) / inductance if inductance else None
    return ratio * (k * current - motor.get("friction", 0.0) * shaft - dry), change


def ackermann_slope(delta, length, y):
    """dδ_i/dδ of tan δ_i = L tan δ/(L − y tan δ), by the quotient rule."""
    t = np.tan(delta)
    tangent = length * t / (length - y * t)
    change = length * length * (1 + t * t) / (length - y * t) ** 2
    return change / (1 + tangent * tangent)


def rotation(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s], [s, c]])


def turned(r):
    return np.array([-r[1], r[0]])


def point_velocity(q, v, i, r):
    """The velocity of the point r (in body axes, from the mass centre) of body i."""
    return v[3 * i : 3 * i + 2] + v[3 * i + 2] * turned(rotation(q[3 * i + 2]) @ r)
