#include "attempt_record.hpp"
#include "own_record.hpp"

#include <sabath/base/beneath.hpp>

#include <nlohmann/json.hpp>

namespace sabath::env {
namespace {

base::ProcessIdentity read_builder(base::JsonReader reader) {
  const auto builder = base::ProcessIdentity::parse(reader.string());
  if (!builder) reader.problem("names no process");
  return builder.value_or(base::ProcessIdentity{});
}

AttemptRecord parse_attempt_record(base::JsonReader reader) {
  AttemptRecord record;
  if (reader.required("schema").integer() != 1) reader.problem("of another version");
  record.state = reader.required("state").one_of({"building", "ready", "failed"});
  record.builder = read_builder(reader.required("builder"));
  record.started = reader.required("started").string();
  record.build_s = reader.required("build_s").number();
  // Missing where an older version built it.
  record.size.files = reader.optional("files").unsigned_integer();
  record.size.disk_bytes = reader.optional("disk_bytes").unsigned_integer();
  record.problem = reader.required("problem").string();
  for (auto& [name, value] : reader.required("present").members())
    record.present[name] = value.string();
  const auto environment = spec::read_built_environment(reader.required("environment"));
  if (environment.layers.size() == 1) {
    record.layer = environment.layers.front();
  } else {
    reader.problem("not of one layer");
  }
  reader.finish();
  return record;
}

}  // namespace

void write_attempt_record(const std::filesystem::path& path, const AttemptRecord& record) {
  nlohmann::ordered_json document;
  document["schema"] = 1;
  document["state"] = record.state;
  document["environment"] = spec::to_json(spec::BuiltEnvironment{{record.layer}});
  document["builder"] = record.builder.text();
  document["started"] = record.started;
  document["build_s"] = record.build_s;
  document["files"] = record.size.files;
  document["disk_bytes"] = record.size.disk_bytes;
  document["problem"] = record.problem;
  document["present"] = record.present;
  base::Beneath::anywhere().write_atomically(
      path, base::pretty_json(document), base::Durability::durable, 0444);
}

std::optional<AttemptRecord> read_attempt_record(const std::filesystem::path& path) {
  return read_own_record(path, parse_attempt_record);
}

}  // namespace sabath::env
