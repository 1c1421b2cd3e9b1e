#pragma once

#include <sabath/batch/task_view.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sabath::batch {

/// Last answers of a scheduler, in a file that all commands of a user share.
struct SchedulerMemo {
  /// A question without an answer.
  struct Asked {
    base::WallTime last{};
    int times = 0;
  };
  base::WallTime asked{};
  base::WallTime first{};  ///< start of the present series of frequent questions
  std::map<std::string, TaskView> tasks{};
  std::map<std::string, Asked> searches{};  ///< by comment
  std::map<std::string, Asked> accounts{};  ///< by task
  base::WallTime accounted{};               ///< of the last question for accounting
  base::WallTime no_accounting{};           ///< of the last answer without accounting
};

/// Returns an empty memo where the file cannot be read: the scheduler is then asked again.
SchedulerMemo read_memo(const std::filesystem::path& file);
/// Ignores failures: the next command asks the scheduler again.
void write_memo(const std::filesystem::path& file, const SchedulerMemo& memo) noexcept;

}  // namespace sabath::batch
