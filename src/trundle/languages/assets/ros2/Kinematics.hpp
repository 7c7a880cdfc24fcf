// From the base's twist to what its wheels do, and back, by the robot's parameters as they are when it is made.
class Kinematics {
 public:
  // How many wheels on the base touch the ground, and what each is called in the robot's description.
  static constexpr std::size_t wheel_count = @COUNT@;
  static constexpr std::array<const char *, wheel_count> names{@NAMES@};

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

  Kinematics() noexcept : Kinematics(Parameters{}) {}
  explicit Kinematics(const Parameters &parameters) noexcept {
    functions::wheel_measures(&parameters, radii_.data(), headings_.data());
    functions::prepare(&parameters, prepared_.data());
  }

  const std::array<double, wheel_count> &radii() const noexcept { return radii_; }  // m
  // A wheel's angle on the base where its steering joint is at 0, rad.
  const std::array<double, wheel_count> &headings() const noexcept { return headings_; }

  // What the wheels do at a twist, on from what they do now: steering angles go on without jumps, wheels roll backward
  // where that saves turning, and hold their angles where they stand still.
  Wheels wheels(const Twist &twist, const Wheels &now) const noexcept {
    const std::array<double, 3> given{twist.v_x, twist.v_y, twist.omega};
    const States from = states(now);
    States found;
    std::array<double, trailing.size()> turning{};
    (void)turning;
    functions::next_wheel_states_prepared(given.data(), from.angle.data(), from.speed.data(), prepared_.data(),
                                          found.angle.data(), found.speed.data()@TRAILING_ARGUMENT@);
    return joints(found, turning);
  }

  // The same from nothing: every steered wheel rolls forward, and has its steering at 0 where it stands still.
  Wheels wheels(const Twist &twist) const noexcept {
    const std::array<double, 3> given{twist.v_x, twist.v_y, twist.omega};
    States found;
    std::array<double, trailing.size()> turning{};
    functions::wheel_states_prepared(given.data(), prepared_.data(), found.angle.data(),
                                     found.speed.data()@TRAILING_ARGUMENT@);
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

  States states(const Wheels &wheels) const noexcept {
    States found;
    for (std::size_t k = 0; k < wheel_count; k++) {
      found.angle[k] = headings_[k] + wheels.steering[k];
      found.speed[k] = radii_[k] * wheels.rate[k];
    }
    return found;
  }

  Wheels joints(const States &states, const std::array<double, trailing.size()> &turning) const noexcept {
    Wheels found;
    for (std::size_t k = 0; k < wheel_count; k++) {
      found.steering[k] = states.angle[k] - headings_[k];
      found.rate[k] = states.speed[k] / radii_[k];
    }
    for (std::size_t k = 0; k < trailing.size(); k++) found.steering_rate[trailing[k]] = turning[k];
    return found;
  }

  std::array<double, @PREPARED@> prepared_{};  // what the functions need of the parameters
  std::array<double, wheel_count> radii_{}, headings_{};
};
