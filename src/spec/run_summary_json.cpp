#include "document_json.hpp"
#include "run_record_json.hpp"

#include <sabath/base/json_members.hpp>
#include <sabath/spec/run_summary.hpp>

#include <algorithm>
#include <array>

namespace sabath::spec {
namespace {

constexpr std::array<std::string_view, 22> summary_keys{
    "schema",  "run_id",     "study_id", "state", "message",     "created",
    "started", "ended",      "wall_s",   "user",  "recipe_name", "recipe_digest",
    "model",   "parameters", "seed",     "tags",  "inputs",      "environment",
    "outputs", "metrics",    "hosts",    "facets"};

bool is_summary_key(std::string_view key) {
  return std::find(summary_keys.begin(), summary_keys.end(), key) != summary_keys.end();
}

/// Reads only what belongs to a summary.
class SummaryReader {
 public:
  template <class T>
  using Ref = T&;

  explicit SummaryReader(base::JsonReader& reader) : io_(reader) {}

  template <class T>
  void operator()(const char* key, T& member) {
    if (is_summary_key(key)) io_(key, member);
  }

 private:
  FieldReader io_;
};

}  // namespace

RunRecord parse_run_summary(std::string_view text, const std::string& origin) {
  const auto members = base::json_members(text, summary_keys);
  if (!members) return parse_run_record(text, origin);  // which says what is wrong with it
  base::JsonDocument document = open_document(*members, origin);
  base::JsonReader root = document.root();
  root.required("schema");
  RunRecord record;
  SummaryReader io(root);
  describe(io, record);
  document.finish();
  return record;
}

}  // namespace sabath::spec
