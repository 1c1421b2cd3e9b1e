#include "attempt_record.hpp"
#include "prefix_checks.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace sabath::env {
namespace {

/// Parses a record of sabath by `read` of its root. Nothing where it is unreadable for this
/// version.
template <class Read>
auto parsed_record(const std::string& text, const std::string& place, Read read)
    -> std::optional<decltype(read(std::declval<base::JsonReader>()))> {
  try {
    auto document = base::JsonDocument::parse(text, place);
    auto record = read(document.root());
    document.finish();
    return record;
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::usage) return std::nullopt;
    throw;
  }
}

/// The same for a file. Nothing where it is missing, too. Throws Error{storage}.
template <class Read>
auto read_own_record(const std::filesystem::path& path, Read read)
    -> std::optional<decltype(read(std::declval<base::JsonReader>()))> {
  const auto text = base::read_file_if_exists(path);
  if (!text) return std::nullopt;
  return parsed_record(*text, path.string(), read);
}

base::ProcessIdentity read_builder(base::JsonReader reader) {
  const auto builder = base::ProcessIdentity::parse(reader.string());
  if (!builder) reader.problem("names no process");
  return builder.value_or(base::ProcessIdentity{});
}

AttemptRecord read_attempt(base::JsonReader reader) {
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

std::optional<AttemptRecord> parse_attempt_record(const std::string& text) {
  return parsed_record(text, "attempt", read_attempt);
}

std::optional<AttemptRecord> read_attempt_record(const std::filesystem::path& path) {
  return read_own_record(path, read_attempt);
}

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

base::Digest layer_key(spec::LayerKind kind, const std::map<std::string, std::string>& facts) {
  const nlohmann::json preimage = {{"kind", spec::to_string(kind)}, {"facts", facts}};
  return base::sha256_of("sabath-env/1\n" + base::canonical_json(preimage));
}

}  // namespace sabath::env
