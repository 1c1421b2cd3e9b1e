#pragma once

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/launch/scheduler.hpp>
#include <sabath/spec/scheduler.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::test {

/// A folder with programs that stand in for a scheduler's tools: each notes how it was called, then
/// does what its body of shell says.
class FakeTools {
 public:
  FakeTools() { std::filesystem::create_directory(folder_.path() / "bin"); }

  void tool(const std::string& name, const std::string& body) const {
    const std::string text = "#!/bin/sh\necho \"" + name + " $*\" >> '" + path("calls").string() +
                             "'\ncd '" + folder_.path().string() + "'\n" + body + "\n";
    constexpr unsigned executable = 0755;
    base::write_file_atomically(
        path("bin/" + name), text, base::Durability::ordered_only, executable);
  }
  /// One that answers with this text.
  void answer(const std::string& name, const std::string& text, int status = 0) const {
    base::write_file_atomically(path(name + ".out"), text);
    tool(name, "cat " + name + ".out\nexit " + std::to_string(status));
  }
  /// One that complains.
  void refuse(const std::string& name, const std::string& text, int status = 1) const {
    base::write_file_atomically(path(name + ".err"), text + "\n");
    tool(name, "cat " + name + ".err >&2\nexit " + std::to_string(status));
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string read(const std::string& name) const {
    return base::read_file_if_exists(path(name)).value_or("");
  }
  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    const std::string text = read("calls");
    for (std::size_t from = 0; from < text.size();) {
      const auto end = text.find('\n', from);
      lines.push_back(text.substr(from, end - from));
      from = end + 1;
    }
    return lines;
  }

  base::Environment environment() const {
    return {{"PATH", path("bin").string() + ":/usr/bin:/bin"}, {"HOME", "/home/ada"}};
  }

  launch::BatchJob job() const {
    launch::BatchJob job;
    job.name = "supercell";
    job.comment = "batch-abcdefgh";
    job.script = path("job-1.sh");
    job.log = path("job-1.log-{task}");
    job.argv = {"/opt/bin/sabath", "exec", "--batch", "/runs/it's", "--task", "{task}"};
    return job;
  }

  launch::Scheduler scheduler(spec::SchedulerDescription description, spec::Site site = {}) {
    site.name = "here";
    site.scheduler = description.name;
    return {std::move(description),
            std::move(site),
            processes_,
            environment(),
            std::chrono::milliseconds(2)};
  }

 private:
  base::TempDir folder_{std::filesystem::temp_directory_path()};
  base::SystemProcessRunner processes_;
};

/// A description that ships.
inline spec::SchedulerDescription shipped_scheduler(const std::string& name) {
  const auto path =
      std::filesystem::path(SABATH_SOURCE_DIR) / "catalog" / "schedulers" / (name + ".json");
  return spec::parse_scheduler(base::read_file(path), path.string());
}

}  // namespace sabath::test
