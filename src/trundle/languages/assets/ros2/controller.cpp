#include "@NAME@/controller.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <type_traits>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace @NAME@ {
namespace {

using controller_interface::CallbackReturn;
using controller_interface::interface_configuration_type;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;
using hardware_interface::HW_IF_POSITION;
using hardware_interface::HW_IF_VELOCITY;

constexpr double turn = 6.283185307179586;

// realtime_tools 4.4 calls tryPublish of earlier versions try_publish.
template <typename Publisher, typename Message>
auto publish_by(Publisher &publisher, const Message &message, int) -> decltype(publisher.try_publish(message)) {
  return publisher.try_publish(message);
}
template <typename Publisher, typename Message>
auto publish_by(Publisher &publisher, const Message &message, long) -> decltype(publisher.tryPublish(message)) {
  return publisher.tryPublish(message);
}

// Later versions of ros2_control 4 read by get_optional and say whether a value was taken, earlier ones by get_value.
template <typename Interface>
auto value_of(const Interface &interface, int) -> std::decay_t<decltype(*interface.get_optional())> {
  const auto value = interface.get_optional();
  return value.has_value() ? *value : std::numeric_limits<double>::quiet_NaN();
}
template <typename Interface>
double value_of(const Interface &interface, long) {
  return interface.get_value();
}
template <typename Interface>
bool takes(Interface &interface, double value) {
  if constexpr (std::is_void_v<decltype(interface.set_value(value))>) {
    interface.set_value(value);
    return true;
  } else {
    return interface.set_value(value);
  }
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(std::llround(1e9 * seconds)); }

template <typename Interface>
bool find_all(const std::vector<Interface> &interfaces, const std::vector<std::string> &names,
              std::vector<std::size_t> &places, const rclcpp::Logger &logger) {
  places.clear();
  for (const std::string &name : names) {
    const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                    [&name](const Interface &each) { return each.get_name() == name; });
    if (found == interfaces.end()) {
      RCLCPP_ERROR(logger, "the hardware has no interface '%s'", name.c_str());
      return false;
    }
    places.push_back(static_cast<std::size_t>(found - interfaces.begin()));
  }
  return true;
}

// The twist that, held, leads from a pose to another in some time: the inverse of the pose's step on an arc.
Kinematics::Twist held_twist(const Odometry::Pose &from, const Odometry::Pose &to, double seconds) {
  const double half = (to.theta - from.theta) / 2;
  const double x = to.x - from.x, y = to.y - from.y;
  const double c = std::cos(from.theta + half), s = std::sin(from.theta + half);
  const double longer = half == 0 ? 1 : half / std::sin(half);  // an arc by its chord
  return {longer * (c * x + s * y) / seconds, longer * (c * y - s * x) / seconds, 2 * half / seconds};
}

template <typename Position>
void set_position(Position &position, const Odometry::Pose &pose) {
  position.x = pose.x;
  position.y = pose.y;
}

template <typename Quaternion>
void set_orientation(Quaternion &orientation, const Odometry::Pose &pose) {
  const double theta = std::remainder(pose.theta, turn);
  orientation.z = std::sin(theta / 2);
  orientation.w = std::cos(theta / 2);
}

}  // namespace

InterfaceConfiguration Controller::command_interface_configuration() const {
  InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  const std::array<std::string, Commands::velocity_count> velocities{@VELOCITY_JOINTS@};
  const std::array<std::string, Commands::position_count> positions{@POSITION_JOINTS@};
  for (const std::string &joint : velocities) wanted.names.push_back(joint + "/" + HW_IF_VELOCITY);
  for (const std::string &joint : positions) wanted.names.push_back(joint + "/" + HW_IF_POSITION);
  return wanted;
}

InterfaceConfiguration Controller::state_interface_configuration() const {
  InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  const std::array<std::string, Odometry::reading_count> joints{@READING_JOINTS@};
  for (const std::string &joint : joints) wanted.names.push_back(joint + "/" + HW_IF_POSITION);
  if (!params_.imu_sensor_name.empty())
    for (const char *axis : {"x", "y", "z", "w"}) wanted.names.push_back(params_.imu_sensor_name + "/orientation." + axis);
  return wanted;
}

CallbackReturn Controller::on_init() {
  try {
    listener_ = std::make_shared<ParamListener>(get_node());
    params_ = listener_->get_params();
  } catch (const std::exception &error) {
    RCLCPP_ERROR(get_node()->get_logger(), "parameters: %s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

CallbackReturn Controller::on_configure(const rclcpp_lifecycle::State &) {
  params_ = listener_->get_params();
@PARAMETER_LINES@
  kinematics_ = Kinematics(parameters_);
  commands_ = Commands(parameters_);
  const std::vector<double> &variance = params_.pose_covariance_diagonal;
  odometry_ = Odometry({}, {}, {variance[0], 0, 0, 0, variance[1], 0, 0, 0, variance[5]}, parameters_);

  message_.header.frame_id = params_.odom_frame_id;
  message_.child_frame_id = params_.base_frame_id;
  for (std::size_t k = 0; k < 6; k++) message_.pose.covariance[7 * k] = variance[k];
  for (std::size_t k = 0; k < 6; k++) message_.twist.covariance[7 * k] = params_.twist_covariance_diagonal[k];
  transform_.transforms.resize(1);
  transform_.transforms[0].header.frame_id = params_.odom_frame_id;
  transform_.transforms[0].child_frame_id = params_.base_frame_id;

  const auto node = get_node();
  odometry_publisher_ = std::make_unique<realtime_tools::RealtimePublisher<nav_msgs::msg::Odometry>>(
      node->create_publisher<nav_msgs::msg::Odometry>("~/odom", rclcpp::SystemDefaultsQoS()));
  transform_publisher_.reset();
  if (params_.enable_odom_tf) {
    transform_publisher_ = std::make_unique<realtime_tools::RealtimePublisher<tf2_msgs::msg::TFMessage>>(
        node->create_publisher<tf2_msgs::msg::TFMessage>("/tf", rclcpp::SystemDefaultsQoS()));
  }
  subscription_ = node->create_subscription<geometry_msgs::msg::TwistStamped>(
      "~/cmd_vel", rclcpp::SystemDefaultsQoS(),
      [this](const std::shared_ptr<geometry_msgs::msg::TwistStamped> message) { take(*message); });
  return CallbackReturn::SUCCESS;
}

CallbackReturn Controller::on_activate(const rclcpp_lifecycle::State &) {
  const rclcpp::Logger logger = get_node()->get_logger();
  const bool found =
      find_all(command_interfaces_, command_interface_configuration().names, command_places_, logger) &&
      find_all(state_interfaces_, state_interface_configuration().names, state_places_, logger);
  if (!found) return CallbackReturn::ERROR;
  command_.writeFromNonRT(Command{});  // what came before counts no more
  wheels_ = {};
  measured_ = {};
  follows_ = false;
  aligned_ = false;
  elapsed_ = 0;
  next_publish_ = 0;
  return CallbackReturn::SUCCESS;
}

CallbackReturn Controller::on_deactivate(const rclcpp_lifecycle::State &) {
  bool stopped = true;
  for (std::size_t k = 0; k < Commands::velocity_count; k++)
    stopped = takes(command_interfaces_[command_places_[k]], 0.0) && stopped;
  if (!stopped) RCLCPP_ERROR(get_node()->get_logger(), "not all joints took the velocity 0");
  return stopped ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
}

return_type Controller::update(const rclcpp::Time &time, const rclcpp::Duration &period) {
  read(period.seconds());
  if (!follows_) return return_type::OK;  // until the encoders are read nobody knows where steering stands
  const bool written = write(time);
  publish(time);
  return written ? return_type::OK : return_type::ERROR;
}

// Keeps a message for `write`; runs beside the control loop.
void Controller::take(const geometry_msgs::msg::TwistStamped &message) {
  const Kinematics::Twist twist{message.twist.linear.x, message.twist.linear.y, message.twist.angular.z};
  if (!std::isfinite(twist.v_x) || !std::isfinite(twist.v_y) || !std::isfinite(twist.omega)) {
    RCLCPP_WARN(get_node()->get_logger(), "a twist on ~/cmd_vel holds what is no finite number; it is left out");
    return;
  }
  const rclcpp::Time stamp(message.header.stamp);
  const std::int64_t sent = stamp.nanoseconds();
  command_.writeFromNonRT({twist, sent == 0 ? get_node()->now().nanoseconds() : sent, true});
}

// Moves the odometry on to what the encoders read; where one has no finite number it waits for the next time.
void Controller::read(double seconds) {
  elapsed_ += seconds;
  Odometry::Readings readings{};
  for (std::size_t k = 0; k < readings.size(); k++) {
    readings[k] = value_of(state_interfaces_[state_places_[k]], 0);
    if (!std::isfinite(readings[k])) return;
  }
  for (const Pivot &pivot : pivots)
    if (pivot.trails || !follows_) wheels_.steering[pivot.wheel] = readings[pivot.reading];
  if (!follows_) {
    odometry_ = Odometry(readings, odometry_.pose(), odometry_.covariance(), parameters_);
    follows_ = true;
  } else {
    // Slip makes the variance of an increment proportional to its size (Siegwart & Nourbakhsh 2004, eq. 5.8).
    Odometry::IncrementCovariance increments{};
    for (std::size_t k = 0; k < Odometry::increment_count; k++)
      increments[(Odometry::increment_count + 1) * k] = params_.variance_per_radian * std::abs(readings[k] - last_[k]);
    for (const std::size_t k : Odometry::steered)
      increments[(Odometry::increment_count + 1) * k] =
          params_.variance_per_radian * std::abs(std::remainder(readings[k] - last_[k], turn));
    Odometry::AngleCovariance angles{};
@ANGLE_LINES@    const Odometry::Pose before = odometry_.pose();
    if (!odometry_.update(readings, increments, angles)) return;
    if (elapsed_ > 0) measured_ = held_twist(before, odometry_.pose(), elapsed_);
  }
  correct();
  last_ = readings;
  elapsed_ = 0;
}

// Takes the IMU's heading in, where there is one: as it turned since the first one, which is the pose's.
void Controller::correct() {
  if (params_.imu_sensor_name.empty()) return;
  std::array<double, 4> q{};  // x, y, z, w
  for (std::size_t k = 0; k < q.size(); k++)
    q[k] = value_of(state_interfaces_[state_places_[Odometry::reading_count + k]], 0);
  const double sine = 2 * (q[3] * q[2] + q[0] * q[1]);
  const double cosine = q[3] * q[3] + q[0] * q[0] - q[1] * q[1] - q[2] * q[2];
  const double size = std::hypot(sine, cosine);
  if (!(size > 0) || !std::isfinite(size)) return;  // not read yet, or its axis is level
  const double heading = std::atan2(sine, cosine);
  if (aligned_) {
    odometry_.correct_heading(offset_ + heading, params_.heading_variance);
  } else {
    offset_ = odometry_.pose().theta - heading;
    aligned_ = true;
  }
}

// Tells the joints the twist that came last, or to stand still where none came in time.
bool Controller::write(const rclcpp::Time &time) {
  const Command &command = *command_.readFromRT();
  const bool fresh = command.came && time.nanoseconds() - command.stamp <= nanoseconds(params_.cmd_vel_timeout);
  wheels_ = kinematics_.wheels(commands_.allowed(fresh ? command.twist : Kinematics::Twist{}), wheels_);
  const Commands::Joints joints = commands_.joints(wheels_);
  bool written = true;
  std::size_t place = 0;
  for (const double velocity : joints.velocity)
    written = takes(command_interfaces_[command_places_[place++]], velocity) && written;
  for (const double position : joints.position)
    written = takes(command_interfaces_[command_places_[place++]], position) && written;
  return written;
}

void Controller::publish(const rclcpp::Time &time) {
  const std::int64_t now = time.nanoseconds(), period = nanoseconds(1 / params_.publish_rate);
  if (now < next_publish_) return;
  next_publish_ = now - next_publish_ < period ? next_publish_ + period : now + period;
  message_.header.stamp = time;
  fill_odometry();
  publish_by(*odometry_publisher_, message_, 0);
  if (transform_publisher_) {
    transform_.transforms[0].header.stamp = time;
    fill_transform();
    publish_by(*transform_publisher_, transform_, 0);
  }
}

void Controller::fill_odometry() {
  set_position(message_.pose.pose.position, odometry_.pose());
  set_orientation(message_.pose.pose.orientation, odometry_.pose());
  constexpr std::array<std::size_t, 3> at{0, 1, 5};  // x, y, yaw among six
  for (std::size_t i = 0; i < 3; i++)
    for (std::size_t j = 0; j < 3; j++)
      message_.pose.covariance[6 * at[i] + at[j]] = odometry_.covariance()[3 * i + j];
  message_.twist.twist.linear.x = measured_.v_x;
  message_.twist.twist.linear.y = measured_.v_y;
  message_.twist.twist.angular.z = measured_.omega;
}

void Controller::fill_transform() {
  auto &transform = transform_.transforms[0].transform;
  set_position(transform.translation, odometry_.pose());
  set_orientation(transform.rotation, odometry_.pose());
}

}  // namespace @NAME@

PLUGINLIB_EXPORT_CLASS(@NAME@::Controller, controller_interface::ControllerInterface)
