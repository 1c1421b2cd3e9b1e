#pragma once

#include "support/temp_home.hpp"

#include <sabath/base/process/process.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sabath::test {

/// What a command left behind when it had ended.
struct Answer {
  int status = -1;  ///< as a shell would say it: 128 + n when signal n ended it
  std::string output{};
  std::string errors{};
  std::uint64_t max_rss_bytes = 0;  ///< of the largest process
  int leftovers = 0;                ///< processes that outlived it
};

/// A `sabath` (or another program) that runs beside the test, in a session of its own. What is
/// still there at the end is killed.
class Running {
 public:
  Running(const std::vector<std::string>& argv,
          const base::Environment& environment,
          const std::filesystem::path& output,
          const std::filesystem::path& errors);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  int pid() const { return pid_; }
  void signal(int number) const;
  /// Waits for its end. Status as in Answer.
  Answer wait();

 private:
  int pid_ = -1;
  std::filesystem::path output_;
  std::filesystem::path errors_;
};

/// The real program in a home of its own, with recipes of the test's making.
class Sabath {
 public:
  Sabath();

  Answer operator()(const std::vector<std::string>& arguments) const;
  /// The same as user "nobody", for whom permissions count. Only where this is root.
  Answer as_nobody(const std::vector<std::string>& arguments) const;
  Answer program(const std::vector<std::string>& argv) const;
  Running start(const std::vector<std::string>& arguments);

  /// Writes a recipe document as it is, and returns the path of its folder.
  std::string recipe(const std::string& name, const std::string& text) const;
  /// A recipe of one stage "go" that runs one line of shell, where braces are placeholders. The
  /// further keys are JSON objects.
  std::string shell_recipe(const std::string& name,
                           const std::string& line,
                           const std::string& further_keys = "{}",
                           const std::string& further_stage_keys = "{}") const;
  /// Writes an asset document.
  void asset(const std::string& name, const std::string& text) const;

  std::filesystem::path home() const { return folder_ / "home"; }
  std::filesystem::path runs() const { return home() / "runs"; }
  std::filesystem::path cache() const { return home() / "cache"; }
  std::filesystem::path folder() const { return folder_.path(); }
  /// The run directories, oldest first.
  std::vector<std::filesystem::path> run_directories() const;
  std::size_t count_runs() const { return run_directories().size(); }
  /// The newest run's record, or its status where it has none. Empty when there is neither.
  std::string newest(const std::string& file = "record.json") const;

  base::Environment& environment() { return environment_; }

 private:
  TempHome folder_;
  base::Environment environment_;
  int started_ = 0;
};

std::string text_of(const std::filesystem::path& file);
/// Without its line end: what `fetch --json` ends with.
std::string last_line(const std::string& text);
void write_text(const std::filesystem::path& file, const std::string& text);
/// Looks again and again until it holds, or the time is over.
bool eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds patience = std::chrono::seconds(20));
/// Is there a process (no zombie) with this id?
bool is_alive(int pid);
/// The processes that have `marker` as an argument.
std::vector<int> processes_with(const std::string& marker);
bool is_root();

}  // namespace sabath::test
