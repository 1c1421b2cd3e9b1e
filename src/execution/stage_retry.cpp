#include "stage_retry.hpp"

#include "real_folders.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <fstream>
#include <vector>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::ProcessEnd;

/// Size of the searched end of a log: logs of gigabytes are not searched.
constexpr std::size_t searched_bytes = 64U << 10U;
constexpr const char* try_prefix = "try-";

template <class T>
bool contains(const std::vector<T>& items, const T& wanted) {
  return std::ranges::find(items, wanted) != items.end();
}

std::optional<std::string> named_in_logs(const std::vector<std::string>& patterns,
                                         const fs::path& folder) {
  if (patterns.empty()) return std::nullopt;
  for (const char* log : {"stderr.log", "stdout.log"}) {
    const std::string text = base::read_file_end(folder / log, searched_bytes);
    for (const std::string& pattern : patterns) {
      if (base::Regex(pattern).search(text) == base::Regex::Outcome::found)
        return "'" + pattern + "' is in its " + log;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_again(const spec::Retry& retry,
                                     const base::ProcessResult& process,
                                     const fs::path& folder) {
  if (process.ok() || process.end == ProcessEnd::stopped) return std::nullopt;
  if (process.end == ProcessEnd::exited && contains(retry.exit_codes, process.exit_code))
    return "exit status " + std::to_string(process.exit_code) + " is named";
  const std::string signal = base::signal_name(process.signal);
  if (process.end == ProcessEnd::signaled && contains(retry.signals, signal))
    return signal + " is named";
  if (process.end == ProcessEnd::timed_out && contains(retry.limits, std::string("time")))
    return "the limit of time is named";
  if (process.end == ProcessEnd::silent && contains(retry.limits, std::string("silence")))
    return "the limit of silence is named";
  return named_in_logs(retry.logs, folder);
}

void put_aside(int number, const fs::path& folder, const fs::path& outputs) {
  const fs::path aside = folder / (try_prefix + std::to_string(number));
  make_real_folders(folder, aside);
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with(try_prefix)) left.push_back(entry.path());
  }
  for (const fs::path& path : left)
    fs::rename(path, aside / path.filename());
  if (!base::remove_tree(outputs)) {
    throw base::Error(base::ErrorKind::storage,
                      outputs.string() + ": cannot be emptied for another try");
  }
}

}  // namespace sabath::execution
