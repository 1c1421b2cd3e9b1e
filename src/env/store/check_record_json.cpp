#include "own_record.hpp"
#include "prefix_checks.hpp"

#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

namespace sabath::env {
namespace {

CheckRecord parse_check_record(base::JsonReader reader) {
  CheckRecord record;
  if (reader.required("schema").integer() != 1) reader.problem("of another version");
  record.state = reader.required("state").one_of({"passed", "failed"});
  record.expected = reader.required("expected").strings();
  record.checked = reader.required("checked").string();
  record.problem = reader.required("problem").string();
  record.log = reader.required("log").string();
  for (auto& [name, value] : reader.required("present").members())
    record.present[name] = value.string();
  reader.finish();
  return record;
}

}  // namespace

void write_check_record(const std::filesystem::path& path, const CheckRecord& record) {
  nlohmann::ordered_json document;
  document["schema"] = 1;
  document["state"] = record.state;
  document["expected"] = record.expected;
  document["checked"] = record.checked;
  document["problem"] = record.problem;
  document["log"] = record.log;
  document["present"] = record.present;
  base::write_file_atomically(
      path, base::pretty_json(document), base::Durability::ordered_only, 0444);
}

std::optional<CheckRecord> read_check_record(const std::filesystem::path& path) {
  return read_own_record(path, parse_check_record);
}

}  // namespace sabath::env
