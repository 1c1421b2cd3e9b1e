#include "batch_marks.hpp"

#include <sabath/base/file_stamp.hpp>
#include <sabath/home/batch_files.hpp>

#include <filesystem>

namespace sabath::live {

void BatchMarks::follow(const std::set<std::string>& folders) {
  std::map<std::string, Seen> batches;
  for (const std::string& folder : folders)
    batches[folder] = std::move(batches_[folder]);
  batches_ = std::move(batches);
}

void BatchMarks::look(Budget& budget, const base::Clock& clock) {
  const base::SteadyTime now = clock.steady();
  for (auto& [folder, batch] : batches_) {
    if (batch.at && now - *batch.at < between_looks) continue;
    if (!budget.take(1)) return;
    batch.at = now;
    const std::filesystem::path started = home::BatchFiles(folder).started();
    const auto stamp = base::stamp_of_any(started);
    if (!stamp) continue;
    const std::int64_t changed = stamp->modified_ns;
    const bool is_settled =
        clock.now() - base::WallTime(std::chrono::nanoseconds(changed)) > coarse;
    if (changed == batch.changed && is_settled) continue;
    batch.changed = changed;
    budget.charge(4);  // it is opened and read
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator(started, code)) {
      const std::string name = entry.path().filename().string();  // RUN.ATTEMPT
      batch.started.insert(name.substr(0, name.rfind('.')));
    }
  }
}

bool BatchMarks::has_begun(const std::string& folder, const std::string& run_id) const {
  const auto batch = batches_.find(folder);
  return batch != batches_.end() && batch->second.started.contains(run_id);
}

}  // namespace sabath::live
