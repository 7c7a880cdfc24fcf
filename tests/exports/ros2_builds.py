"""Packages of ROS 2, built by CMake against stand-ins for ROS, and run as plugins on stub hardware."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from languages.c_code import compiler

STUBS = Path(__file__).parent / "ros2_stubs"
HEADERS = (
    "controller_interface/controller_interface.hpp", "geometry_msgs/msg/twist_stamped.hpp",
    "hardware_interface/types/hardware_interface_type_values.hpp", "nav_msgs/msg/odometry.hpp",
    "pluginlib/class_list_macros.hpp", "rclcpp/rclcpp.hpp", "rclcpp_lifecycle/state.hpp",
    "realtime_tools/realtime_buffer.hpp", "realtime_tools/realtime_publisher.hpp", "tf2_msgs/msg/tf_message.hpp",
)  # fmt: skip
FLAGS = "-O1 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
RATE = 100


def installed_stubs(folder):
    """A prefix with the stand-ins as CMake and #include find the packages."""
    for header in HEADERS:
        path = folder / "include" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "stubs.hpp"\n', encoding="utf-8")
    for name in ("stubs.hpp", "stubs.cmake"):
        target = folder / "include" / name if name.endswith("hpp") else folder / name
        target.write_text((STUBS / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name in {header.split("/")[0] for header in HEADERS} | {"ament_cmake", "generate_parameter_library"}:
        path = folder / "share" / name / "cmake" / f"{name}Config.cmake"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"include(${{CMAKE_CURRENT_LIST_DIR}}/../../../stubs.cmake)\nstub_package({name})\n"
        path.write_text(text, encoding="utf-8")
    return folder


def succeeded(command, folder=None, given=None):
    """What a command prints; nothing may fail."""
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()[:3000]
    return done.stdout


@dataclass(frozen=True)
class Built:
    """A package's folder with its library, and the host that loads it."""

    folder: Path
    stubs: Path

    @cached_property
    def plugin(self):
        """The library's path and the class, as the plugin's XML tells them."""
        library = ElementTree.parse(self.folder / "controller_plugin.xml").getroot()
        (entry,) = library
        assert entry.get("base_class_type") == "controller_interface::ControllerInterface"
        return self.folder / "build" / f"lib{library.get('path')}.so", entry.get("type")

    def command(self, *parameters):
        """How the host is started, parameters as NAME=VALUE."""
        library, name = self.plugin
        return [self.stubs / "host", library, name, str(RATE), *parameters]

    def run(self, rows, readings, commands, *parameters):
        """What the host gives for its rows: columns by what they are."""
        found = succeeded(self.command(*parameters), given=np.ascontiguousarray(rows, dtype=float).tobytes())
        sizes = {"readings": readings, "commands": commands, "count": 1, "pose": 4, "covariance": 36}
        sizes |= {"twist_covariance": 36, "twist": 3, "transforms": 1, "transform": 4}
        table = np.frombuffer(found).reshape(len(rows), sum(sizes.values()))
        return dict(zip(sizes, np.split(table, np.cumsum([*sizes.values()])[:-1], axis=1), strict=True))


def built(folder, stubs, compiled_by="g++", flags=FLAGS):
    """A package, built; and the host beside its stubs."""
    installed_stubs(stubs)
    cxx = compiler(compiled_by)
    host = [
        cxx,
        "-std=c++17",
        *flags.split(),
        f"-I{stubs / 'include'}",
        STUBS / "host.cpp",
        "-o",
        stubs / "host",
        "-ldl",
    ]
    if not (stubs / "host").exists():
        succeeded(host)
    configure = [
        compiler("cmake"), "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={stubs}",
        f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CXX_FLAGS={flags}", f"-DSTUB_PYTHON={sys.executable}",
        f"-DSTUB_FOLDER={STUBS}",
    ]  # fmt: skip
    succeeded(configure)
    succeeded([compiler("cmake"), "--build", folder / "build"])
    return Built(folder, stubs)


def checked(folder, stubs):
    """Nothing is wrong with a package's controller, as far as a compiler sees without making anything."""
    installed_stubs(stubs)
    name = folder.name
    header = stubs / "include" / name / f"{name}_parameters.hpp"
    header.parent.mkdir(parents=True, exist_ok=True)
    succeeded([sys.executable, STUBS / "parameters.py", folder / "src" / f"{name}_parameters.yaml", header])
    includes = [f"-I{folder / 'include'}", f"-I{stubs / 'include'}"]
    succeeded(
        [
            compiler("g++"),
            "-std=c++17",
            *FLAGS.split(),
            *includes,
            "-fsyntax-only",
            folder / "src/controller.cpp",
        ]
    )
