#include "tool_answers_json.hpp"

#include <sabath/base/error.hpp>

#include <nlohmann/json.hpp>

namespace sabath::fetch {

namespace {

using nlohmann::json;

/// Services omit members, or send null.
std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

json object_of(std::string_view text, const std::string& origin) {
  json value = json::parse(text, nullptr, false);
  if (value.is_object()) return value;
  throw base::Error(base::ErrorKind::transfer, origin + ": globus did not answer with JSON");
}

}  // namespace

std::string to_text(const GlobusJournal& journal) {
  return json{{"submission_id", journal.submission_id},
              {"task_id", journal.task_id},
              {"source", journal.source}}
      .dump();
}

std::optional<GlobusJournal> parse_globus_journal(std::string_view text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  GlobusJournal journal{
      text_at(value, "submission_id"), text_at(value, "task_id"), text_at(value, "source")};
  if (journal.submission_id.empty()) return std::nullopt;
  return journal;
}

GlobusTask parse_globus_task(std::string_view text, const std::string& origin) {
  const json value = object_of(text, origin);
  GlobusTask task;
  task.status = text_at(value, "status");
  task.nice_status = text_at(value, "nice_status");
  task.details = text_at(value, "nice_status_details");
  if (task.details.empty()) task.details = text_at(value, "nice_status_short_description");
  task.bytes = number_at(value, "bytes_transferred");
  const auto paused = value.find("is_paused");
  task.is_paused = paused != value.end() && paused->is_boolean() && paused->get<bool>();
  const auto fatal = value.find("fatal_error");
  if (fatal != value.end() && fatal->is_object()) {
    task.fatal = text_at(*fatal, "description");
    if (const std::string code = text_at(*fatal, "code"); !code.empty()) {
      task.fatal = code + (task.fatal.empty() ? "" : ": " + task.fatal);
    }
  }
  return task;
}

std::vector<ListedFile> parse_globus_listing(std::string_view text, const std::string& origin) {
  const json value = object_of(text, origin);
  std::vector<ListedFile> files;
  const auto data = value.find("DATA");
  if (data == value.end() || !data->is_array()) return files;
  for (const json& item : *data) {
    if (!item.is_object() || text_at(item, "type") != "file") continue;
    ListedFile& file = files.emplace_back();
    file.path = text_at(item, "name");
    file.size_bytes = number_at(item, "size");
  }
  return files;
}

std::vector<S3Object> parse_s3_listing(std::string_view text, const std::string& origin) {
  std::vector<S3Object> objects;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return objects;
  try {
    const json listing = json::parse(text);
    if (listing.is_null()) return objects;
    for (const json& item : listing) {
      objects.push_back({item.at("k").get<std::string>(), item.at("s").get<std::uint64_t>()});
    }
  } catch (const json::exception& error) {
    throw base::Error(base::ErrorKind::transfer,
                      origin + ": aws gave no listing: " + std::string(error.what()));
  }
  return objects;
}

}  // namespace sabath::fetch
