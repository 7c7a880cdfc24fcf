// Loads a controller as a plugin and runs it on stub hardware: velocities are followed at once, positions with a lag,
// what is only read swings. Arguments: the library, its class, the node's clock in Hz, then NAME=VALUE of parameters.
// Standard input: a row a cycle of (1 where a twist comes, v_x, v_y, omega, the reading that fails or -1). Standard
// output: the same rows' readings, commands, then what was published: count, pose, covariances, twist, transform.
#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "stubs.hpp"

using controller_interface::CallbackReturn;

static void give(double value) { std::fwrite(&value, sizeof value, 1, stdout); }

int main(int count, char **given) {
  void *library = dlopen(given[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto type = reinterpret_cast<const char *(*)()>(dlsym(library, "stub_class"));
  const auto make = reinterpret_cast<controller_interface::ControllerInterface *(*)()>(dlsym(library, "stub_make"));
  if (!type || !make || std::strcmp(type(), given[2]) != 0) return 2;
  const std::unique_ptr<controller_interface::ControllerInterface> controller(make());
  const auto node = controller->get_node();
  const std::int64_t step = 1000000000 / std::stoi(given[3]);
  for (int k = 4; k < count; k++) {
    const std::string word(given[k]);
    const std::size_t equals = word.find('=');
    node->overrides[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (controller->on_init() != CallbackReturn::SUCCESS) return 3;
  if (controller->on_configure({}) != CallbackReturn::SUCCESS) return 4;

  const auto commanded = controller->command_interface_configuration().names;
  const auto read = controller->state_interface_configuration().names;
  std::vector<double> commands(commanded.size()), positions(read.size()), readings(read.size());
  std::vector<hardware_interface::LoanedCommandInterface> loaned;
  std::vector<hardware_interface::LoanedStateInterface> states;
  // in another order than asked for
  for (std::size_t k = commanded.size(); k-- > 0;) loaned.emplace_back(commanded[k], &commands[k]);
  for (std::size_t k = read.size(); k-- > 0;) states.emplace_back(read[k], &readings[k]);
  controller->assign_interfaces(std::move(loaned), std::move(states));
  if (controller->on_activate({}) != CallbackReturn::SUCCESS) return 5;

  double row[5];
  node->clock = 1700000000000000000;
  while (std::fread(row, sizeof row, 1, stdin) == 1) {
    node->clock += step;
    for (std::size_t k = 0; k < read.size(); k++) {
      const std::string joint = read[k].substr(0, read[k].rfind('/'));
      bool follows = false;
      for (std::size_t j = 0; j < commanded.size(); j++) {
        if (commanded[j] == joint + "/velocity") positions[k] += 1e-9 * static_cast<double>(step) * commands[j];
        if (commanded[j] == joint + "/position") positions[k] += 0.2 * (commands[j] - positions[k]);
        follows = follows || commanded[j].substr(0, commanded[j].rfind('/')) == joint;
      }
      if (!follows) positions[k] = 0.1 * std::sin(3e-10 * static_cast<double>(node->clock % 100000000000));
      // an IMU stands at 1.2 rad and swings about the vertical, by more than half a turn
      const double half = 0.6 + 2 * std::sin(4e-10 * static_cast<double>(node->clock % 100000000000));
      if (read[k] == "imu/orientation.x" || read[k] == "imu/orientation.y") positions[k] = 0;
      if (read[k] == "imu/orientation.z") positions[k] = std::sin(half);
      if (read[k] == "imu/orientation.w") positions[k] = std::cos(half);
      readings[k] = static_cast<int>(row[4]) == static_cast<int>(k) ? std::numeric_limits<double>::quiet_NaN() : positions[k];
    }
    if (row[0] != 0) {
      geometry_msgs::msg::TwistStamped message;
      message.header.stamp = node->now();
      message.twist.linear.x = row[1];
      message.twist.linear.y = row[2];
      message.twist.angular.z = row[3];
      node->send("~/cmd_vel", message);
    }
    if (controller->update(node->now(), rclcpp::Duration(step)) != controller_interface::return_type::OK) return 6;
    for (const double value : readings) give(value);
    for (const double value : commands) give(value);
    const auto *odometry = node->publisher<nav_msgs::msg::Odometry>("~/odom");
    const auto *transform = node->publisher<tf2_msgs::msg::TFMessage>("/tf");
    const auto &pose = odometry->last.pose.pose;
    const auto &twist = odometry->last.twist.twist;
    for (const double value : {static_cast<double>(odometry->count), pose.position.x, pose.position.y,
                               pose.orientation.z, pose.orientation.w})
      give(value);
    for (const double value : odometry->last.pose.covariance) give(value);
    for (const double value : odometry->last.twist.covariance) give(value);
    for (const double value : {twist.linear.x, twist.linear.y, twist.angular.z}) give(value);
    const bool placed = transform && !transform->last.transforms.empty();
    const geometry_msgs::msg::Transform none{}, &moved = placed ? transform->last.transforms[0].transform : none;
    for (const double value : {static_cast<double>(transform ? transform->count : -1), moved.translation.x,
                               moved.translation.y, moved.rotation.z, moved.rotation.w})
      give(value);
  }
  if (controller->on_deactivate({}) != CallbackReturn::SUCCESS) return 7;
  for (std::size_t j = 0; j < commanded.size(); j++)
    if (commanded[j].find("/velocity") != std::string::npos && commands[j] != 0) return 8;
  return 0;
}
