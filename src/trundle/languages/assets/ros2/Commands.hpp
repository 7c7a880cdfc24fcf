// From what wheels do to what the joints are told that motors drive, by gears and linkages between them, too.
class Commands {
 public:
  // Joints that are told a velocity (rad/s) and joints that are told a position (rad), by their coordinates' names.
  static constexpr std::size_t velocity_count = @VELOCITIES@;
  static constexpr std::array<const char *, velocity_count> velocities{@VELOCITY_NAMES@};
  static constexpr std::size_t position_count = @POSITIONS@;
  static constexpr std::array<const char *, position_count> positions{@POSITION_NAMES@};

  struct Joints {
    std::array<double, velocity_count> velocity{};
    std::array<double, position_count> position{};
  };

  Commands() noexcept : Commands(Parameters{}) {}
  explicit Commands(const Parameters &parameters) noexcept : parameters_(parameters) {
    functions::wheel_measures(&parameters_, radii_.data(), headings_.data());
  }

  // The twist without the sideways velocity that fixed wheels don't allow: a car's v_y follows from its omega.
  Kinematics::Twist allowed(const Kinematics::Twist &twist) const noexcept {
    const std::array<double, 3> given{twist.v_x, twist.v_y, twist.omega};
    std::array<double, 3> found{};
    functions::allowed_twist(given.data(), &parameters_, found.data());
    return {found[0], found[1], found[2]};
  }

  Joints joints(const Kinematics::Wheels &wheels) const noexcept {
    std::array<double, Kinematics::wheel_count> angle{}, speed{};
    for (std::size_t k = 0; k < Kinematics::wheel_count; k++) {
      angle[k] = headings_[k] + wheels.steering[k];
      speed[k] = radii_[k] * wheels.rate[k];
    }
    Joints found;
    functions::joint_commands(angle.data(), speed.data(), wheels.steering_rate.data(), &parameters_,
                              found.velocity.data()@POSITION_ARGUMENT@);
    return found;
  }

 private:
  Parameters parameters_;
  std::array<double, Kinematics::wheel_count> radii_{}, headings_{};
};
