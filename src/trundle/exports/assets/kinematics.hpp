// From the base's twist to what its wheels do, and back.
class Kinematics {
 public:
  // How many wheels on the base touch the ground, and what each is called in the robot's description.
  static constexpr std::size_t wheel_count = @COUNT@;
  static constexpr std::array<const char *, wheel_count> names{@NAMES@};
  static constexpr std::array<double, wheel_count> radii{@RADII@};  // m
  // A wheel's angle on the base where its steering joint is at 0, rad.
  static constexpr std::array<double, wheel_count> headings{@HEADINGS@};

  // The base's velocity in its own axes.
  struct Twist {
    double v_x = 0, v_y = 0;  // m/s
    double omega = 0;         // rad/s
  };
  // What the wheels do, in the order of `names`.
  struct Wheels {
    std::array<double, wheel_count> rate{};           // about their axles, rad/s; positive rolls forward
    std::array<double, wheel_count> steering{};       // angles of the steering joints, rad; 0 where there is none
    std::array<double, wheel_count> steering_rate{};  // of casters about their pivots, rad/s; 0 of all others
  };

  // What the wheels do at a twist, on from what they do now: steering angles go on without jumps, wheels roll backward
  // where that saves turning, and hold their angles where they stand still.
  static Wheels wheels(const Twist &twist, const Wheels &now) noexcept {
    const std::array<double, 3> given{twist.v_x, twist.v_y, twist.omega};
    const States from = states(now);
    States found;
    std::array<double, trailing.size()> turning{};
    (void)turning;
    functions::next_wheel_states(given.data(), from.angle.data(), from.speed.data(), found.angle.data(),
                                 found.speed.data()@TRAILING_ARGUMENT@);
    return joints(found, turning);
  }

  // The same from nothing: every steered wheel rolls forward, and has its steering at 0 where it stands still.
  static Wheels wheels(const Twist &twist) noexcept {
    const std::array<double, 3> given{twist.v_x, twist.v_y, twist.omega};
    States found;
    std::array<double, trailing.size()> turning{};
    functions::wheel_states(given.data(), found.angle.data(), found.speed.data()@TRAILING_ARGUMENT@);
    return joints(found, turning);
  }
@BACK@
 private:
  // Wheels whose contact is ahead of or behind their pivot.
  static constexpr std::array<std::size_t, @TRAILING_COUNT@> trailing{@TRAILING@};

  // Angles on the base, and speeds along them.
  struct States {
    std::array<double, wheel_count> angle{}, speed{};
  };

  static States states(const Wheels &wheels) noexcept {
    States found;
    for (std::size_t k = 0; k < wheel_count; k++) {
      found.angle[k] = headings[k] + wheels.steering[k];
      found.speed[k] = radii[k] * wheels.rate[k];
    }
    return found;
  }

  static Wheels joints(const States &states, const std::array<double, trailing.size()> &turning) noexcept {
    Wheels found;
    for (std::size_t k = 0; k < wheel_count; k++) {
      found.steering[k] = states.angle[k] - headings[k];
      found.rate[k] = states.speed[k] / radii[k];
    }
    for (std::size_t k = 0; k < trailing.size(); k++) found.steering_rate[trailing[k]] = turning[k];
    return found;
  }
};
