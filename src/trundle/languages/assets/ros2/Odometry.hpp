// The base's pose by its encoders, and its covariance: exact on the arc that it moves on while its wheels turn evenly.
class Odometry {
 public:
  // What is read: of the first readings the increments are counted, the others are held while the wheels turn.
  static constexpr std::size_t reading_count = @READINGS@;
  static constexpr std::size_t increment_count = @INCREMENTS@;
  static constexpr std::array<const char *, reading_count> names{@NAMES@};
  // Which of them are angles that the motion depends on, of steering and joints.
  static constexpr std::size_t angle_count = @ANGLES@;
  static constexpr std::array<std::size_t, angle_count> angles{@ANGLE_PLACES@};
  // Which of them are counted and steer wheels: their encoders may begin anew after a whole turn, the others go on.
  static constexpr std::array<std::size_t, @STEERED_COUNT@> steered{@STEERED@};

  struct Pose {
    double x = 0, y = 0;  // m
    double theta = 0;     // rad, counted on beyond whole turns
  };
  using Readings = std::array<double, reading_count>;  // rad (m of sliding joints), in the order of `names`
  using Covariance = std::array<double, 9>;            // of (x, y, theta), row-major
  using IncrementCovariance = std::array<double, increment_count * increment_count>;
  using AngleCovariance = std::array<double, angle_count * angle_count>;

  // At the origin, all encoders at 0; where they read something else the next constructor is the one to use.
  Odometry() noexcept : Odometry(Parameters{}) {}
  explicit Odometry(const Parameters &parameters) noexcept { functions::prepare(&parameters, prepared_.data()); }

  // At a pose, with its covariance and what the encoders read there.
  Odometry(const Readings &readings, const Pose &pose, const Covariance &covariance,
           const Parameters &parameters = {}) noexcept
      : last_(readings), pose_(pose), covariance_(covariance) {
    functions::prepare(&parameters, prepared_.data());
  }

  // Moves on to new readings, with the covariances of the increments since the last ones and of the angles:
  // P' = F P F^T + G Q G^T + H R H^T. Between updates wheels are steered by less than half a turn. False where a number
  // isn't finite (an encoder that wasn't read yet, say): nothing has changed then.
  bool update(const Readings &readings, const IncrementCovariance &increment_covariance = {},
              const AngleCovariance &angle_covariance = {}) noexcept {
    std::array<double, increment_count> increment{};
    std::array<double, angle_count> angle{};
    for (std::size_t k = 0; k < increment_count; k++) increment[k] = readings[k] - last_[k];
    for (std::size_t k = 0; k < angle_count; k++) angle[k] = last_[angles[k]];
    const std::array<double, 3> from{pose_.x, pose_.y, pose_.theta};
    std::array<double, 3> to{};
    std::array<double, 9> by_pose{};
    std::array<double, 3 * increment_count> by_increment{};
    std::array<double, 3 * angle_count> by_angle{};
    functions::odometry_step_prepared(from.data(), increment.data(), angle.data(), prepared_.data(), to.data(),
                                      by_pose.data(), by_increment.data(), by_angle.data());
    Covariance sum{};
    add_carried<3>(by_pose, covariance_, sum);
    add_carried<increment_count>(by_increment, increment_covariance, sum);
    add_carried<angle_count>(by_angle, angle_covariance, sum);
    for (const double each : to)
      if (!std::isfinite(each)) return false;
    for (const double each : sum)
      if (!std::isfinite(each)) return false;
    covariance_ = sum;
    pose_ = {to[0], to[1], to[2]};
    last_ = readings;
    return true;
  }

  // Takes a gyroscope's heading in, rad, also one that begins anew after a turn: the pose and its covariance as a Kalman
  // filter has them for a reading of that variance, rad^2. To be called after `update`, whose noise must not be zero, or
  // the gyroscope adds nothing. False where a number isn't finite or the variance isn't positive: nothing has changed.
  bool correct_heading(double theta, double variance) noexcept {
    const double missing = std::remainder(theta - pose_.theta, 6.283185307179586);
    const double total = covariance_[8] + variance;
    if (!(variance > 0) || !std::isfinite(missing) || !std::isfinite(total)) return false;
    const Covariance before = covariance_;
    pose_.x += before[2] / total * missing;
    pose_.y += before[5] / total * missing;
    pose_.theta += before[8] / total * missing;
    for (std::size_t row = 0; row < 3; row++)
      for (std::size_t k = 0; k < 3; k++) covariance_[3 * row + k] -= before[3 * row + 2] / total * before[6 + k];
    return true;
  }

  const Pose &pose() const noexcept { return pose_; }
  const Covariance &covariance() const noexcept { return covariance_; }

 private:
  // Adds J C J^T, J with 3 rows and N columns.
  template <std::size_t N>
  static void add_carried(const std::array<double, 3 * N> &slope, const std::array<double, N * N> &noise,
                          Covariance &sum) noexcept {
    for (std::size_t row = 0; row < 3; row++) {
      for (std::size_t k = 0; k < N; k++) {
        double felt = 0;
        for (std::size_t j = 0; j < N; j++) felt += slope[N * row + j] * noise[N * j + k];
        for (std::size_t column = 0; column < 3; column++) sum[3 * row + column] += felt * slope[N * column + k];
      }
    }
  }

  std::array<double, @PREPARED@> prepared_{};  // what the function needs of the parameters
  Readings last_{};
  Pose pose_{};
  Covariance covariance_{};
};
