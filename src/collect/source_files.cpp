#include "source_files.hpp"

#include "point_target.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace sabath::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_examples = 10;

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

void NotWhole::add(const fs::path& file, std::uint64_t line, std::string_view text) {
  if (++count > 1) return;
  constexpr std::size_t shown_bytes = 60;
  first = fmt::format("{}:{}: '{}'",
                      base::printable(file.filename().string()),
                      line,
                      base::printable(text.substr(0, shown_bytes)));
}

void NotWhole::report(std::vector<std::string>& notes) const {
  if (count == 0) return;
  std::string note = fmt::format(
      "{} line(s) have an epoch or step that is not whole; their values are kept without it; the "
      "first is {}",
      count,
      first);
  // A file may be read for several sources.
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

std::vector<SourceFile> source_files(const StageFiles& files, const std::string& file) {
  std::vector<fs::path> found;
  if (file.empty() || file == "stdout") found.push_back(files.directory / "stdout.log");
  if (file.empty() || file == "stderr") found.push_back(files.directory / "stderr.log");
  const bool is_pattern = file.find_first_of("*?[") != std::string::npos;
  const fs::path work = files.directory / "work";
  if (is_pattern) {
    for (const fs::path& folder : {files.outputs, work})
      find_matching(folder, file, found);
    std::sort(found.begin(), found.end());
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

std::map<std::string, std::vector<const spec::MetricSpec*>> by_file(
    const std::vector<spec::MetricSpec>& wanted) {
  std::map<std::string, std::vector<const spec::MetricSpec*>> result;
  for (const spec::MetricSpec& metric : wanted)
    result[metric.from.file].push_back(&metric);
  return result;
}

Extraction read_each(spec::SourceKind kind,
                     const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink,
                     const ReadFile& read) {
  Extraction extraction;
  const PointTarget target{files.stage, sink, extraction};
  for (const auto& [file, metrics] : by_file(wanted)) {
    for (const SourceFile& source : source_files(files, file)) {
      extraction.searched.push_back({kind, file, source.path});
      read(source, metrics, target);
    }
  }
  return extraction;
}

}  // namespace sabath::collect
