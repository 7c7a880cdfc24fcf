"""The offset drive: how two wheels and a joint move a platform in every direction, and when they can't.

Prints the Jacobian from the rates of wheels and joint to the platform's motion, its inverse, its determinant and what
that says, then the rates for one motion.
"""

import sympy

import trundle

robot = trundle.catalog.offset_drive()
equations = trundle.derive(robot).equations("kinematics")

jacobian, inverse = equations["forward.platform"], equations["inverse.platform"]
print(f"{jacobian}\n\n{inverse}\n")
print("determinant:", equations["determinant.platform"].right)
for section in equations.sections:
    if "platform" in section.title:
        print("\n".join(section.notes))

# Sideways at 0.1 m/s with the platform turned by 30 degrees: how fast must everything turn?
numbers = {info.symbol: info.number for info in equations.symbols if info.number is not None}
turned = {**numbers, "q": sympy.rad(30)}
rates = inverse.right.subs(turned) * sympy.Matrix([0, 0.1, 0])  # v_x, v_y and omega of the platform
print({str(name): float(rate.evalf()) for name, rate in zip(inverse.left, rates, strict=True)})
