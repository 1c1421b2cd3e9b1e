#include "answers.hpp"
#include "log.hpp"

#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <mutex>

namespace sabath::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::chrono::milliseconds between(500);

/// Names need not be UTF-8.
std::string line_of(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

class EventLines final : public base::Observer {
 public:
  using Write = std::function<void(std::string_view line)>;
  EventLines(Write write, base::Clock& clock) : write_(std::move(write)), clock_(clock) {}

  void note(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    log_event("note", base::printable(text));
    write_(line_of({{"type", "note"}, {"text", base::redact(text)}}));
  }

  void warn(std::string_view text, std::string_view hint) override {
    const std::lock_guard lock(mutex_);
    log_event("warning", base::printable(text));
    write_(
        line_of({{"type", "warning"}, {"text", base::redact(text)}, {"hint", base::redact(hint)}}));
  }

  void progress(const base::Progress& progress) override {
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

 private:
  Write write_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, base::SteadyTime> reported_{};
};

}  // namespace

std::unique_ptr<base::Observer> event_lines(std::function<void(std::string_view line)> write,
                                            base::Clock& clock) {
  return std::make_unique<EventLines>(std::move(write), clock);
}

}  // namespace sabath::cli
