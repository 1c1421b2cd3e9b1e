#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::home {

/// The files of one study (docs/formats/study.md).
/// - `study.json`: what it is.
/// - `runs`: a line "<point> <run id>" for each run, before the run is planned.
/// - `driver.<n>`: the driving process, as base::ProcessIdentity::text. The highest number counts,
///   and its file is touched as a heartbeat.
class StudyFiles {
 public:
  explicit StudyFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  /// Throws Error{usage} also where its points do not set the same parameters.
  spec::StudyPlan read_plan() const;

  struct Run {
    std::size_t point = 0;
    std::string run_id{};
  };
  /// In the order in which they were started. Ignores a truncated last line.
  std::vector<Run> runs() const;
  /// Durable on return. Throws Error{storage}.
  void add_run(const Run& run) const { add_runs({run}); }
  void add_runs(const std::vector<Run>& runs) const;

  /// Makes this process the driver, which starts the study's runs. Throws Error{usage} if another
  /// driver may be alive. With `take_over`, a driver on another machine counts as gone after
  /// `heartbeat_timeout`.
  void become_driver(bool take_over = false) const;
  /// Whether another process is the driver. One on another machine counts as alive for
  /// `heartbeat_timeout` after its last heartbeat.
  bool has_other_driver() const;
  /// Sends a heartbeat; to be called every `heartbeat_interval`. Throws Error{usage} if another
  /// process has taken the study over.
  void send_heartbeat() const;

 private:
  std::filesystem::path directory_;
};

/// Makes the study's folder in `studies` and writes study.json; fills in its id and time.
StudyFiles make_study(const std::filesystem::path& studies,
                      const std::string& name,
                      spec::StudyPlan& plan,
                      base::Clock& clock);

/// Finds a study by its id or a unique prefix. Throws Error{not_found|usage}.
StudyFiles find_study(const std::filesystem::path& studies, std::string_view id);

/// The ids of all studies, oldest first.
std::vector<std::string> study_ids(const std::filesystem::path& studies);

}  // namespace sabath::home
