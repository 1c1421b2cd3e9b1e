#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/study.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::home {

/// The files of one study (docs/formats/study.md):
///   study.json    what it is
///   runs          a line "<point> <run id>" for each run, before the run is planned
///   driver.<n>    who has it in hand, as base::ProcessIdentity::text; the highest counts, and is
///                 touched now and then
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
  /// In the order in which they were started. A last line that was cut off is none.
  std::vector<Run> runs() const;
  /// On the disk when it returns. Throws Error{storage}.
  void add_run(const Run& run) const { add_runs({run}); }
  void add_runs(const std::vector<Run>& runs) const;

  /// Makes this process the one that starts the study's runs, until it ends. Throws Error{usage}
  /// where another one may still be at it; with `take_over` one on another machine that has given
  /// no sign of life for `longest_silence` counts as gone.
  void take_in_hand(bool take_over = false) const;
  /// Does another process start the study's runs? One on another machine counts until it has given
  /// no sign of life for `longest_silence`.
  bool is_in_other_hands() const;
  /// A sign of life for others, every `sign_interval`. Throws Error{usage} where another process
  /// has taken the study over.
  void give_sign() const;

 private:
  std::filesystem::path directory_;
};

/// Makes the study's folder in `studies` and writes study.json; fills in its id and time.
StudyFiles make_study(const std::filesystem::path& studies,
                      const std::string& name,
                      spec::StudyPlan& plan,
                      base::Clock& clock);

/// By its id or the beginning of it that no other has. Throws Error{not_found|usage}.
StudyFiles find_study(const std::filesystem::path& studies, std::string_view id);

/// The ids of all studies, oldest first.
std::vector<std::string> study_ids(const std::filesystem::path& studies);

}  // namespace sabath::home
