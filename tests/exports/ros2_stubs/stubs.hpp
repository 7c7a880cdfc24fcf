// Stand-ins for what a controller takes of ROS 2: the published names and signatures with as little behind them as a
// test needs, written anew. They state ros2_control 4 (controller_interface_base.hpp at 00228c46, the loaned interfaces
// at 0a81bfc1: Jazzy), realtime_tools 3 (realtime_publisher.hpp at a4975506) and 4 (try_publish of its pull request 323),
// and of rclcpp, pluginlib and common_interfaces what Jazzy has. EARLIER: realtime_tools 3 and loaned
// interfaces as in early 2024 (loaned_state_interface.hpp at 0ffaacc7). Publishers publish at once here.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace builtin_interfaces::msg {
struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
}  // namespace builtin_interfaces::msg

namespace std_msgs::msg {
struct Header {
  builtin_interfaces::msg::Time stamp;
  std::string frame_id;
};
}  // namespace std_msgs::msg

namespace geometry_msgs::msg {
struct Vector3 {
  double x = 0, y = 0, z = 0;
};
struct Point {
  double x = 0, y = 0, z = 0;
};
struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
};
struct Twist {
  Vector3 linear, angular;
};
struct TwistStamped {
  std_msgs::msg::Header header;
  Twist twist;
};
struct Pose {
  Point position;
  Quaternion orientation;
};
struct PoseWithCovariance {
  Pose pose;
  std::array<double, 36> covariance{};
};
struct TwistWithCovariance {
  Twist twist;
  std::array<double, 36> covariance{};
};
struct Transform {
  Vector3 translation;
  Quaternion rotation;
};
struct TransformStamped {
  std_msgs::msg::Header header;
  std::string child_frame_id;
  Transform transform;
};
}  // namespace geometry_msgs::msg

namespace nav_msgs::msg {
struct Odometry {
  std_msgs::msg::Header header;
  std::string child_frame_id;
  geometry_msgs::msg::PoseWithCovariance pose;
  geometry_msgs::msg::TwistWithCovariance twist;
};
}  // namespace nav_msgs::msg

namespace tf2_msgs::msg {
struct TFMessage {
  std::vector<geometry_msgs::msg::TransformStamped> transforms;
};
}  // namespace tf2_msgs::msg

namespace rclcpp {

class Time {
 public:
  explicit Time(std::int64_t nanoseconds) : nanoseconds_(nanoseconds) {}
  explicit Time(const builtin_interfaces::msg::Time &stamp)
      : nanoseconds_(1000000000 * std::int64_t{stamp.sec} + std::int64_t{stamp.nanosec}) {}
  std::int64_t nanoseconds() const { return nanoseconds_; }
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds_); }
  operator builtin_interfaces::msg::Time() const {
    return {static_cast<std::int32_t>(nanoseconds_ / 1000000000),
            static_cast<std::uint32_t>(nanoseconds_ % 1000000000)};
  }

 private:
  std::int64_t nanoseconds_;
};

class Duration {
 public:
  explicit Duration(std::int64_t nanoseconds) : nanoseconds_(nanoseconds) {}
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds_); }

 private:
  std::int64_t nanoseconds_;
};

struct Logger {};
struct QoS {};
struct SystemDefaultsQoS : QoS {};

#define RCLCPP_LOG_STUB(logger, ...) \
  do {                               \
    (void)(logger);                  \
    std::fprintf(stderr, __VA_ARGS__); \
    std::fputc('\n', stderr);        \
  } while (0)
#define RCLCPP_ERROR(logger, ...) RCLCPP_LOG_STUB(logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) RCLCPP_LOG_STUB(logger, __VA_ARGS__)

template <typename Message>
class Publisher {
 public:
  using SharedPtr = std::shared_ptr<Publisher>;
  void publish(const Message &message) {
    last = message;
    count++;
  }
  Message last;
  int count = 0;
};

template <typename Message>
class Subscription {
 public:
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(std::shared_ptr<Message>)> callback;
};

}  // namespace rclcpp

namespace rclcpp_lifecycle {

struct State {};

// Its topics and the numbers and words that a launch file would give its parameters are open to the test.
class LifecycleNode {
 public:
  using SharedPtr = std::shared_ptr<LifecycleNode>;
  rclcpp::Logger get_logger() const { return {}; }
  rclcpp::Time now() const { return rclcpp::Time(clock); }

  template <typename Message>
  std::shared_ptr<rclcpp::Publisher<Message>> create_publisher(const std::string &topic, const rclcpp::QoS &) {
    const auto made = std::make_shared<rclcpp::Publisher<Message>>();
    publishers[topic] = made;
    return made;
  }

  template <typename Message, typename Callback>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(const std::string &topic, const rclcpp::QoS &,
                                                                     Callback &&callback) {
    const auto made = std::make_shared<rclcpp::Subscription<Message>>();
    made->callback = std::forward<Callback>(callback);
    subscriptions[topic] = made;
    return made;
  }

  template <typename Message>
  rclcpp::Publisher<Message> *publisher(const std::string &topic) {
    return static_cast<rclcpp::Publisher<Message> *>(publishers[topic].get());
  }
  template <typename Message>
  void send(const std::string &topic, const Message &message) {
    static_cast<rclcpp::Subscription<Message> *>(subscriptions.at(topic).get())
        ->callback(std::make_shared<Message>(message));
  }

  std::int64_t clock = 0;
  std::map<std::string, std::string> overrides;  // of parameters, as YAML
  std::map<std::string, std::shared_ptr<void>> publishers, subscriptions;
};

namespace node_interfaces {
class LifecycleNodeInterface {
 public:
  enum class CallbackReturn : std::uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
  virtual CallbackReturn on_configure(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const State &) { return CallbackReturn::SUCCESS; }
  virtual ~LifecycleNodeInterface() = default;
};
}  // namespace node_interfaces
}  // namespace rclcpp_lifecycle

namespace hardware_interface {

constexpr char HW_IF_POSITION[] = "position";
constexpr char HW_IF_VELOCITY[] = "velocity";

class LoanedCommandInterface {
 public:
  LoanedCommandInterface(std::string name, double *value) : name_(std::move(name)), value_(value) {}
  LoanedCommandInterface(const LoanedCommandInterface &) = delete;
  LoanedCommandInterface(LoanedCommandInterface &&) = default;
  const std::string &get_name() const { return name_; }
#ifdef EARLIER
  void set_value(double value) { *value_ = value; }
#else
  template <typename T>
  [[nodiscard]] bool set_value(const T &value, unsigned int = 10) {
    *value_ = value;
    return true;
  }
#endif

 private:
  std::string name_;
  double *value_;
};

class LoanedStateInterface {
 public:
  LoanedStateInterface(std::string name, const double *value) : name_(std::move(name)), value_(value) {}
  LoanedStateInterface(const LoanedStateInterface &) = delete;
  LoanedStateInterface(LoanedStateInterface &&) = default;
  const std::string &get_name() const { return name_; }
#ifdef EARLIER
  double get_value() const { return *value_; }
#else
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const {
    return *value_;
  }
#endif

 private:
  std::string name_;
  const double *value_;
};

}  // namespace hardware_interface

namespace controller_interface {

using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class interface_configuration_type : std::uint8_t { ALL = 0, INDIVIDUAL = 1, NONE = 2 };
struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names = {};
};

class ControllerInterfaceBase : public rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface {
 public:
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
  virtual bool is_chainable() const = 0;
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }
  std::shared_ptr<const rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  void assign_interfaces(std::vector<hardware_interface::LoanedCommandInterface> &&commands,
                         std::vector<hardware_interface::LoanedStateInterface> &&states) {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

 protected:
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

class ControllerInterface : public ControllerInterfaceBase {
 public:
  bool is_chainable() const final { return false; }
};

}  // namespace controller_interface

namespace realtime_tools {

template <typename T>
class RealtimeBuffer {
 public:
  void writeFromNonRT(const T &data) { data_ = data; }
  T *readFromRT() { return &data_; }

 private:
  T data_{};
};

template <typename Message>
class RealtimePublisher {
 public:
  explicit RealtimePublisher(std::shared_ptr<rclcpp::Publisher<Message>> publisher) : publisher_(publisher) {}
#ifdef EARLIER
  bool tryPublish(const Message &message) {
#else
  bool try_publish(const Message &message) {
#endif
    publisher_->publish(message);
    return true;
  }

 private:
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
};

}  // namespace realtime_tools

// A library holds one class here, which class_loader would find by its name.
#define PLUGINLIB_EXPORT_CLASS(Class, Base)                        \
  extern "C" Base *stub_make();                                    \
  extern "C" const char *stub_class();                             \
  Base *stub_make() { return new Class(); }                        \
  const char *stub_class() { return #Class; }
