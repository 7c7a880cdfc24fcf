"""A stand-in for generate_parameter_library: its YAML form to a header with Params and ParamListener.

The form is that of docs/src/yaml-syntax.md and docs/src/validators in its repository at 77528497.

It refuses what the form doesn't have: other keys, types and validators, defaults of another type than their own.
"""

import sys
from pathlib import Path

import yaml

KEYS = {"type", "default_value", "read_only", "description", "validation"}
TYPES = {"string": "std::string", "double": "double", "bool": "bool", "double_array": "std::vector<double>"}
PYTHON = {"string": str, "double": float, "bool": bool, "double_array": list}
# Of a value v with arguments a, b what must hold.
VALIDATORS = {
    "gt<>": "v > {0}",
    "gt_eq<>": "v >= {0}",
    "not_empty<>": "!v.empty()",
    "fixed_size<>": "v.size() == {0}",
    "lower_element_bounds<>": "std::all_of(v.begin(), v.end(), [](double each) {{ return each >= {0}; }})",
}
HEADER = """
#pragma once
#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#include "stubs.hpp"
namespace {name} {{
struct Params {{
{fields}
}};
class ParamListener {{
 public:
  explicit ParamListener(rclcpp_lifecycle::LifecycleNode::SharedPtr node, const std::string & = "") : node_(node) {{
{checks}
  }}
  Params get_params() const {{ return params_; }}

 private:
  void take(const char *name, std::string &value) const {{
    const auto given = node_->overrides.find(name);
    if (given != node_->overrides.end()) value = given->second;
  }}
  void take(const char *name, double &value) const {{
    const auto given = node_->overrides.find(name);
    if (given != node_->overrides.end()) value = std::stod(given->second);
  }}
  void take(const char *name, bool &value) const {{
    const auto given = node_->overrides.find(name);
    if (given != node_->overrides.end()) value = given->second == "true";
  }}
  void take(const char *name, std::vector<double> &value) const {{
    const auto given = node_->overrides.find(name);
    if (given == node_->overrides.end()) return;
    std::istringstream words(given->second);
    value.clear();
    for (double each; words >> each;) value.push_back(each);
  }}
  rclcpp_lifecycle::LifecycleNode::SharedPtr node_;
  Params params_;
}};
}}  // namespace {name}
"""


def leaves(tree, path=()):
    """Parameters by their paths; a mapping with a type is one."""
    for key, value in tree.items():
        assert isinstance(key, str), f"{key!r} is no text"
        assert key.isidentifier(), f"{key!r} is no identifier"
        if "type" in value:
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"{{{', '.join(repr(float(each)) for each in value)}}}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def members(tree):
    """Fields of nested structures."""
    for key, value in tree.items():
        if "type" in value:
            yield f"{TYPES[value['type']]} {key} = {literal(value['default_value'])};"
        else:
            yield f"struct {{ {' '.join(members(value))} }} {key};"


def checked(path, leaf):
    """Lines that take a parameter and validate it."""
    assert set(leaf) <= KEYS, f"{path}: {set(leaf) - KEYS}"
    assert isinstance(leaf["default_value"], PYTHON[leaf["type"]]), f"{path}: {leaf['default_value']!r}"
    assert leaf["description"], path
    name = ".".join(path)
    yield f'take("{name}", params_.{name});'
    for validator, arguments in leaf.get("validation", {}).items():
        holds = VALIDATORS[validator].format(*arguments)
        yield f'if (const auto &v = params_.{name}; !({holds})) throw std::invalid_argument("{name}");'


def main(source, target):
    ((name, tree),) = yaml.safe_load(Path(source).read_text(encoding="utf-8")).items()
    checks = [line for path, leaf in leaves(tree) for line in checked(path, leaf)]
    text = HEADER.format(name=name, fields="\n".join(members(tree)), checks="\n".join(checks))
    Path(target).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
