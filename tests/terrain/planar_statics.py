"""The friction that a rocker-bogie needs to climb a vertical riser: planar statics of its three wheels a side.

All wheels slide, spun faster than they go, so that each pulls with μ N. Four equations of balance, of the whole in x
and z, of the whole and of the bogie in moments about the bogie's pivot, then give the three N and a force F that must
hold back the wheel that climbs, along its way. Where F > 0 the wheel goes on up. docs/terrain/risers.md has it by hand.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq


@dataclass(frozen=True)
class Rover:
    """Wheels of radius r at d, 0 and -d, the bogie's pivot at -d/2 as high as the axles; lengths in m, weights in N of
    one side: the body's over the middle wheel, `high` above the ground, and a wheel's.
    """

    r: float
    d: float
    high: float
    body: float
    wheel: float

    def placed(self, climbing, path, height):
        """Axles, pivot, the body's centre of mass (x, z) and normals where a wheel has gone a share of its way up."""
        centre_z, normal = on_the_way(self.r, height, path)
        above, below = height + self.r, self.r
        z = [above if k < climbing else below for k in range(3)]
        z[climbing] = centre_z
        bogie = math.asin((z[1] - z[2]) / self.d)
        pivot = np.array([0.0, (z[1] + z[2]) / 2])
        rocker = math.asin((z[0] - pivot[1]) / (1.5 * self.d))
        half = self.d / 2 * np.array([math.cos(bogie), math.sin(bogie)])
        along, up = (
            np.array([math.cos(rocker), math.sin(rocker)]),
            np.array([-math.sin(rocker), math.cos(rocker)]),
        )
        axles = [pivot + 1.5 * self.d * along, pivot + half, pivot - half]
        body = pivot + self.d / 2 * along + (self.high - self.r) * up
        normals = [np.array([0.0, 1.0])] * 3
        normals[climbing] = normal
        return axles, pivot, body, normals

    def pushed_up(self, friction, climbing, path, height):
        """F (N) and the three N."""
        axles, pivot, body, normals = self.placed(climbing, path, height)
        rows, columns = [], []
        for k, (axle, normal) in enumerate(zip(axles, normals, strict=True)):
            ahead = np.array([normal[1], -normal[0]])
            columns.append((axle - self.r * normal, normal + friction * ahead, k))
        normal = normals[climbing]
        columns.append((axles[climbing], np.array([-normal[1], normal[0]]), climbing))
        for place, force, k in columns:
            moment = turning(place - pivot, force)
            rows.append([*force, moment, moment if k > 0 else 0.0])
        weights = [(body, self.body, 0), *((axle, self.wheel, k) for k, axle in enumerate(axles))]
        moments = [(weight * (place - pivot)[0], k) for place, weight, k in weights]
        right = [0.0, sum(weight for _, weight, _ in weights)]
        right += [sum(moment for moment, _ in moments), sum(moment for moment, k in moments if k > 0)]
        *loads, hold = np.linalg.solve(np.array(rows).T, right)
        return hold, loads

    def needed(self, climbing, path, height):
        """The friction at which a wheel neither climbs nor sinks back, at a share of its way; 0 where it needs none."""

        def hold(friction):
            return self.pushed_up(friction, climbing, path, height)[0]

        frictions = np.linspace(0, 1.5, 76)
        holds = [hold(friction) for friction in frictions]
        first = next(k for k, value in enumerate(holds) if value >= 0)
        return brentq(hold, frictions[first - 1], frictions[first]) if first else 0.0

    def needs(self, height, places=60):
        """What every wheel needs for all of its way; a riser that all climb needs the most of these."""
        paths = [
            *np.linspace(0, 0.95, places),
            (height - self.r) / way(self.r, height),
        ]  # the riser's end, too
        return [max(self.needed(k, path, height) for path in paths) for k in range(3)]


def way(r, height):
    """How long the way of a wheel's centre is: up the riser, then about the edge (m)."""
    return height - r + math.pi / 2 * r


def on_the_way(r, height, path):
    """How high the centre is (m), and the riser's or the edge's normal."""
    gone = path * way(r, height)
    if gone < height - r:
        return r + gone, np.array([-1.0, 0.0])
    angle = (gone - (height - r)) / r
    return height + r * math.sin(angle), np.array([-math.cos(angle), math.sin(angle)])


def turning(arm, force):
    """The moment that lifts the front."""
    return arm[0] * force[1] - arm[1] * force[0]
