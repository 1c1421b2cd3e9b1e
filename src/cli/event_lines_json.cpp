#include "event_lines.hpp"
#include "log.hpp"

#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

namespace sabath::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::chrono::milliseconds between(500);

/// Names need not be UTF-8.
std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void EventLines::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  log_event("note", base::printable(text));
  write_(line_of({{"type", "note"}, {"text", base::redact(text)}}));
}

void EventLines::warn(std::string_view text, std::string_view hint) {
  const std::lock_guard lock(mutex_);
  log_event("warning", base::printable(text));
  write_(
      line_of({{"type", "warning"}, {"text", base::redact(text)}, {"hint", base::redact(hint)}}));
}

void EventLines::progress(const base::Progress& progress) {
  const std::lock_guard lock(mutex_);
  const base::SteadyTime now = clock_.steady();
  const auto [reported, is_first] = reported_.try_emplace(progress.task, now);
  if (!is_first && !progress.finished && now - reported->second < between) return;
  reported->second = now;
  ordered_json event = {{"type", "progress"}, {"task", progress.task}, {"done", progress.done}};
  if (progress.total) event["total"] = *progress.total;
  event["unit"] = progress.in_bytes ? "bytes" : "items";
  if (progress.connections > 0) event["connections"] = progress.connections;
  if (progress.sources > 0) event["sources"] = progress.sources;
  event["finished"] = progress.finished;
  if (progress.finished) reported_.erase(reported);
  write_(line_of(event));
}

}  // namespace sabath::cli
