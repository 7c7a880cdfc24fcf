// The controller of @NAME@ for ros2_control, @SIGNATURE@: twists in, commands of joints out, odometry published.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "nav_msgs/msg/odometry.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "tf2_msgs/msg/tf_message.hpp"

#include "@NAME@/@NAME@.hpp"
#include "@NAME@/@NAME@_parameters.hpp"

namespace @NAME@ {

class Controller : public controller_interface::ControllerInterface {
 public:
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::CallbackReturn on_init() override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &previous) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &previous) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &previous) override;
  controller_interface::return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) override;

 private:
  // What came last on ~/cmd_vel, and when, in nanoseconds of the node's clock.
  struct Command {
    Kinematics::Twist twist;
    std::int64_t stamp = 0;
    bool came = false;
  };
  // A steered wheel whose pivot is read; one that trails is led by what is read, others by what they were told.
  struct Pivot {
    std::size_t wheel, reading;
    bool trails;
  };
  static constexpr std::array<Pivot, @PIVOT_COUNT@> pivots{@PIVOTS@};

  void take(const geometry_msgs::msg::TwistStamped &message);
  void read(double seconds);
  void correct();
  bool write(const rclcpp::Time &time);
  void publish(const rclcpp::Time &time);
  void fill_odometry();
  void fill_transform();

  std::shared_ptr<ParamListener> listener_;
  Params params_;
  Parameters parameters_;
  Kinematics kinematics_;
  Commands commands_;
  Odometry odometry_;

  // Where the joints stand among the interfaces, in the order of Commands and Odometry.
  std::vector<std::size_t> command_places_, state_places_;

  Kinematics::Wheels wheels_;      // as they were told last
  Odometry::Readings last_{};      // of the encoders
  bool follows_ = false;           // whether there were any yet since the controller was activated
  double elapsed_ = 0;             // since then, s
  bool aligned_ = false;           // whether the IMU told an orientation since then
  double offset_ = 0;              // from its heading to the pose's, rad
  Kinematics::Twist measured_;     // between the last two readings
  std::int64_t next_publish_ = 0;  // ns

  realtime_tools::RealtimeBuffer<Command> command_;
  rclcpp::Subscription<geometry_msgs::msg::TwistStamped>::SharedPtr subscription_;
  nav_msgs::msg::Odometry message_;
  tf2_msgs::msg::TFMessage transform_;
  std::unique_ptr<realtime_tools::RealtimePublisher<nav_msgs::msg::Odometry>> odometry_publisher_;
  std::unique_ptr<realtime_tools::RealtimePublisher<tf2_msgs::msg::TFMessage>> transform_publisher_;
};

}  // namespace @NAME@
