// Kinematics and odometry of @NAME@, @SIGNATURE@: C++17, with nothing but the standard
// library. No function allocates, throws or keeps anything outside its object.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <math.h>

namespace @NAME@ {

@PARAMETERS@// The robot's programs as functions of arrays, inputs first; README.md tells what every number is.
namespace functions {

@FUNCTIONS@
}  // namespace functions

@CLASSES@
}  // namespace @NAME@
