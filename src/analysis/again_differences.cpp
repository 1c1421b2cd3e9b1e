#include <sabath/analysis/again_differences.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;

/// Returns files that the run opened, the repetition did not, and that are missing now. A record
/// has printed paths: one with an escape in it is not looked for.
std::set<std::string> missing_files(const spec::RunRecord& run, const spec::RunRecord& again) {
  std::set<std::string> missing;
  const spec::Facet* const opened = run.facet(spec::opened_facet);
  const spec::Facet* const opened_again = again.facet(spec::opened_facet);
  if (opened == nullptr) return missing;
  for (const auto& [path, content] : opened->items) {
    if (!spec::is_opened_path(path) || path.find('\\') != std::string::npos) continue;
    if (opened_again != nullptr && opened_again->items.contains(path)) continue;
    std::error_code code;
    const bool is_here = fs::exists(path, code);
    if (!is_here && !code) missing.insert(path);
  }
  return missing;
}

std::string text_of(const spec::FacetDifference& difference) {
  if (difference.facet == spec::session_facet)
    return fmt::format("variable {} of the session is not as it was", difference.item);
  if (difference.facet != spec::opened_facet)
    return fmt::format("{} differs ({})", difference.facet, difference.item);
  if (difference.a.empty()) return fmt::format("the file {} was not opened then", difference.item);
  if (difference.b.empty()) return fmt::format("the file {} was not opened now", difference.item);
  return fmt::format("the file {} has other content now", difference.item);
}

}  // namespace

std::string again_differences(const spec::RunRecord& run,
                              const spec::RunRecord& again,
                              const std::vector<spec::FacetDifference>& differences) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> texts;
  const std::set<std::string> missing = missing_files(run, again);
  for (const std::string& path : missing)
    texts.push_back(fmt::format("the file {} is not here now", path));
  for (const bool is_of_files : {true, false}) {
    for (const spec::FacetDifference& difference : differences) {
      if ((difference.facet == spec::opened_facet) != is_of_files) continue;
      if (is_of_files && missing.contains(difference.item)) continue;
      texts.push_back(text_of(difference));
    }
  }
  if (texts.size() <= shown) return fmt::format("{}", fmt::join(texts, ", "));
  const std::size_t more = texts.size() - shown;
  texts.resize(shown);
  return fmt::format("{}, and {} more", fmt::join(texts, ", "), more);
}

}  // namespace sabath::analysis
