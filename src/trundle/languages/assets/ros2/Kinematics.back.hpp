
  // The twist that agrees best with what all wheels do, by the least squares of their slips.
  Twist twist(const Wheels &wheels) const noexcept {
    std::array<double, wheel_count> slips{};
    return twist(wheels, slips);
  }

  // The same, and how fast each wheel slips then, m/s.
  Twist twist(const Wheels &wheels, std::array<double, wheel_count> &slips) const noexcept {
    const States from = states(wheels);
    std::array<double, 3> found{};
    functions::base_twist_prepared(from.angle.data(), from.speed.data(), wheels.steering_rate.data(), prepared_.data(),
                                   found.data(), slips.data());
    return {found[0], found[1], found[2]};
  }
