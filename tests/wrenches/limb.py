"""The limb of shared/reference/limb.md, and of any length: segments along their own +y, hinges about +z."""

from dataclasses import dataclass

import trundle
from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.inertia import Inertia


@dataclass(frozen=True)
class Limb:
    """The world, a frame and an inertia a segment; joints[k] is the proximal one of segment k, the last is the tip."""

    world: Frame
    frames: list[Frame]
    joints: list[Point]
    inertias: list[Inertia]

    def joint_wrenches(self):
        """Newton and Euler a segment, from the tip up: what each needs, and what it gives to the next."""
        found = [None] * len(self.frames)
        distal = None
        for k in reversed(range(len(self.frames))):
            need = self.inertias[k].momentum_rate(seen_from=self.world).at(self.joints[k])
            if distal is not None:
                need = need + distal.at(self.joints[k]).in_frame(self.frames[k])
            proximal = self.frames[k - 1].name if k else "world"
            found[k] = trundle.Wrench(
                need.force,
                need.moment,
                on=self.frames[k].name,
                by=proximal,
                point=self.joints[k],
                frame=self.frames[k],
            )
            # The segment pulls the one before it as much as that one carries it: what it needs adds to the other's.
            distal = trundle.Wrench(
                need.force, need.moment, on=proximal, by="distal", point=self.joints[k], frame=self.frames[k]
            )
        return found


def make_limb(turns, lengths, masses, moments=None):
    """`turns` are rotations as `Frame.child` takes them; each segment's mass is in its middle."""
    world = trundle.Frame("W")
    frames, joints, inertias = [], [], []
    at, below = world, (0, 0, 0)
    for k, (turn, length, mass) in enumerate(zip(turns, lengths, masses, strict=True)):
        at = at.child(chr(ord("A") + k) if k < 20 else f"S_{k}", rotation=turn, origin=below)
        below = (0, length, 0)
        frames.append(at)
        joints.append(at.point(f"P_{k}"))
        middle = at.point(f"C_{k}", (0, length / 2, 0))
        inertias.append(trundle.Inertia(mass, moments[k] if moments else [[0, 0, 0]] * 3, center=middle))
    joints.append(at.point(f"P_{len(frames)}", below))
    return Limb(world, frames, joints, inertias)
