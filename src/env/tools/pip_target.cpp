#include "pip.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <charconv>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Newest C library that a lock for another platform may need: that of RHEL 8.
constexpr int newest_manylinux = 28;

/// Arguments: requirements, report, NAME=VALUE of each variable of a marker, "--", those of pip.
/// `Marker.evaluate(environment)` is documented by packaging; pip's use of `default_environment` is
/// not, so the answer is checked.
constexpr const char* target_script = R"(
import json, runpy, sys
try:
    from pip._vendor.packaging import markers, requirements, utils
except ImportError as error:
    sys.exit("ERROR: this pip cannot be asked for another machine (%s): lock there" % error)

cut = sys.argv.index("--")
wanted, report = sys.argv[1:3]
target = dict(word.split("=", 1) for word in sys.argv[3:cut])
markers.default_environment = lambda: dict(target)
sys.argv = ["pip"] + sys.argv[cut + 1:]

try:
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
except SystemExit as end:
    if end.code:
        raise

found = {}
for item in json.load(open(report))["install"]:
    metadata = item["metadata"]
    found[utils.canonicalize_name(metadata["name"])] = metadata

def wants(requirement, extra):
    return requirement.marker is None or requirement.marker.evaluate(dict(target, extra=extra))

todo = [("the recipe", line, "") for line in open(wanted) if line.strip()]
seen, missing = set(), []
while todo:
    who, line, extra = todo.pop()
    requirement = requirements.Requirement(line.strip())
    if not wants(requirement, extra):
        continue

    name = utils.canonicalize_name(requirement.name)
    metadata = found.get(name)
    if metadata is None or not requirement.specifier.contains(metadata["version"], prereleases=True):
        missing.append("%s needs %s" % (who, line.strip()))
        continue

    provided = {utils.canonicalize_name(one) for one in metadata.get("provides_extra", [])}
    for inner in {"", *requirement.extras}:
        if (name, inner) in seen or inner and utils.canonicalize_name(inner) not in provided:
            continue

        seen.add((name, inner))
        todo += [(name, one, inner) for one in metadata.get("requires_dist", [])]

surplus = sorted(set(found) - {name for name, extra in seen})

if missing or surplus:
    sys.exit("ERROR: this pip goes by its own machine, not by %s: %s; lock there" % (
        target["platform_machine"], "; ".join(missing + ["%s is too much" % name for name in surplus])))
)";

/// Returns the numbers of "3.12" or "3.12.4"; nothing for other texts.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (true) {
    int number = 0;
    const auto [next, code] = std::from_chars(at, end, number);
    if (code != std::errc() || number < 0) return {};
    numbers.push_back(number);
    if (next == end) break;
    if (*next != '.') return {};
    at = next + 1;
  }
  if (numbers.size() < 2 || numbers.size() > 3) return {};
  return numbers;
}

std::string machine_of(const std::string& platform) {
  return platform.substr(platform.find('-') + 1);
}

}  // namespace

PipTarget pip_target(const LockTarget& target, const Python& python, const std::string& place) {
  PipTarget found{
      target.platform.empty() ? python.platform : target.platform, target.python, python.tag};
  if (!found.platform.starts_with("linux-")) {
    throw base::Error(
        base::ErrorKind::usage,
        place + ": '" + base::printable(found.platform) + "' is not a platform for locks",
        "--platform takes linux-x86_64, linux-aarch64 and the like");
  }
  if (target.python.empty()) {
    // "3.14.0rc1"
    found.version = python.version.substr(0, python.version.find_first_not_of("0123456789."));
    return found;
  }
  const std::vector<int> numbers = numbers_of(target.python);
  if (numbers.empty()) {
    throw base::Error(
        base::ErrorKind::usage,
        place + ": '" + base::printable(target.python) + "' is not a version of Python",
        "--python takes two or three numbers: 3.12");
  }
  found.tag = "cp" + std::to_string(numbers[0]) + std::to_string(numbers[1]);
  return found;
}

std::vector<std::string> wheel_options(const PipTarget& target, const fs::path& folder) {
  std::vector<std::string> options{"--target", folder.string()};
  const std::string machine = machine_of(target.platform);
  for (int minor = newest_manylinux; minor >= 5; --minor) {
    options.insert(options.end(),
                   {"--platform", "manylinux_2_" + std::to_string(minor) + "_" + machine});
  }
  for (const char* const old : {"manylinux2014_", "manylinux2010_", "manylinux1_", "linux_"})
    options.insert(options.end(), {"--platform", old + machine});
  options.insert(options.end(), {"--implementation", "cp", "--python-version", target.version});
  return options;
}

std::vector<std::string> pip_command_for(const PipTarget& target,
                                         const fs::path& python,
                                         const fs::path& requirements,
                                         const fs::path& report) {
  const std::vector<int> numbers = numbers_of(target.version);
  const std::string full = target.version + (numbers.size() == 2 ? ".0" : "");
  const std::string series = std::to_string(numbers.at(0)) + "." + std::to_string(numbers.at(1));
  return {python.string(),
          "-I",
          "-c",
          target_script,
          requirements.string(),
          report.string(),
          "implementation_name=cpython",
          "implementation_version=" + full,
          "os_name=posix",
          "platform_machine=" + machine_of(target.platform),
          "platform_python_implementation=CPython",
          "platform_release=",
          "platform_system=Linux",
          "platform_version=",
          "python_full_version=" + full,
          "python_version=" + series,
          "sys_platform=linux",
          "extra=",
          "--"};
}

}  // namespace sabath::env
