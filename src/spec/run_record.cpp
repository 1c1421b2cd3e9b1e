#include "documents/enum_text.hpp"

#include <sabath/base/file.hpp>
#include <sabath/spec/output_kept.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

constexpr std::string_view run_id_end = "-YYYYMMDD-hhmmss-llllllll";

bool fits(char form, char c) {
  if (form == '-') return c == '-';
  if (form == 'l') return c >= 'a' && c <= 'z';
  return c >= '0' && c <= '9';
}

}  // namespace

bool OutputRecord::is_outdated() const {
  constexpr std::string_view of_earlier_versions = "hashed only: it was written to ";
  return kept && (kept->starts_with(outdated_begin) || kept->starts_with(of_earlier_versions));
}

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::planned:
      return "planned";
    case RunState::running:
      return "running";
    case RunState::ok:
      return "ok";
    case RunState::failed:
      return "failed";
    case RunState::interrupted:
      return "interrupted";
    case RunState::lost:
      return "lost";
    case RunState::unknown:
      return "unknown";
    case RunState::imported:
      return "imported";
  }
  return "";
}

std::optional<RunState> parse_run_state(std::string_view text) {
  return parse_enum<RunState>(text);
}

const Facet* RunRecord::facet(std::string_view name) const {
  const auto found = std::find_if(
      facets.begin(), facets.end(), [&](const Facet& facet) { return facet.name == name; });
  return found == facets.end() ? nullptr : &*found;
}

bool is_run_id(std::string_view text) {
  if (text.size() <= run_id_end.size()) return false;
  const std::string_view end = text.substr(text.size() - run_id_end.size());
  return base::is_safe_name(text.substr(0, text.size() - run_id_end.size())) &&
         std::equal(run_id_end.begin(), run_id_end.end(), end.begin(), fits);
}

}  // namespace sabath::spec
