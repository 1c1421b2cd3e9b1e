#include "source_files.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace sabath::collect {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code);
}

/// Links are not followed: what they lead to is not the stage's, or is found anyhow.
void find_matching(const fs::path& folder,
                   const std::string& pattern,
                   std::vector<fs::path>& found) {
  std::error_code code;
  fs::recursive_directory_iterator entry(
      folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || entry->is_symlink(ignored)) continue;
    const std::string relative = entry->path().lexically_relative(folder).string();
    if (::fnmatch(pattern.c_str(), relative.c_str(), 0) == 0) found.push_back(entry->path());
  }
}

}  // namespace

void note_bad(Extraction& extraction, BadLine line) {
  ++extraction.bad_lines;
  if (extraction.examples.size() < max_examples) extraction.examples.push_back(std::move(line));
}

void note_once(Extraction& extraction, const std::string& note) {
  auto& notes = extraction.collected.notes;
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
}

void note_not_whole(Extraction& extraction, const Trouble& lines) {
  if (lines.count == 0) return;
  note_once(extraction,
            fmt::format("{} line(s) have an epoch or step that is not whole; their values are kept "
                        "without it; the first is {}",
                        lines.count,
                        lines.first));
}

void note_left_out(Extraction& extraction, const Trouble& lines) {
  if (lines.count == 0) return;
  extraction.collected.notes.push_back(
      fmt::format("{} ({} such line(s), left out)", lines.first, lines.count));
}

void Trouble::add(const fs::path& file, std::uint64_t line, std::string_view what) {
  if (++count > 1) return;
  first = base::printable(
      fmt::format("{}:{}{}{}", file.filename().string(), line, what.empty() ? "" : ": ", what));
}

void Trouble::add_text(const fs::path& file, std::uint64_t line, std::string_view text) {
  constexpr std::size_t shown_bytes = 60;
  add(file, line, fmt::format("'{}'", text.substr(0, shown_bytes)));
}

std::vector<SourceFile> source_files(const StageFiles& files,
                                     const std::string& file,
                                     FilePositions* positions) {
  std::vector<fs::path> found;
  if (file.empty() || file == "stdout") found.push_back(files.directory / "stdout.log");
  if (file.empty() || file == "stderr") found.push_back(files.directory / "stderr.log");
  const bool is_pattern = file.find_first_of("*?[") != std::string::npos;
  const fs::path work = files.directory / "work";
  const auto search = [&] {
    std::vector<fs::path> matching;
    for (const fs::path& folder : {files.outputs, work})
      find_matching(folder, file, matching);
    std::ranges::sort(matching);
    return matching;
  };
  if (is_pattern) {
    found = positions != nullptr ? positions->matching(file, search) : search();
  } else if (found.empty()) {
    const bool is_output = !files.outputs.empty() && is_file(files.outputs / file);
    found.push_back(is_output ? files.outputs / file : work / file);
  }
  std::erase_if(found, [](const fs::path& path) { return !is_file(path); });
  std::vector<SourceFile> result;
  for (const fs::path& path : found) {
    const auto rank = is_pattern ? static_cast<std::int32_t>(result.size()) : 0;
    result.push_back({path, rank, files.limits});
  }
  return result;
}

std::map<std::string, Metrics> by_file(const std::vector<spec::MetricSpec>& wanted) {
  std::map<std::string, Metrics> result;
  for (const spec::MetricSpec& metric : wanted)
    result[metric.from.file].push_back(&metric);
  return result;
}

}  // namespace sabath::collect
