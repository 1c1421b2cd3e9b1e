#include "placeholder.hpp"

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/scheduler.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view request_prefix = "request.";

/// Nothing where a placeholder has no value.
std::optional<std::string> filled_one(const std::string& text,
                                      const std::map<std::string, std::string>& values) {
  std::string result;
  for (const TemplatePiece& piece : template_pieces(text)) {
    if (piece.kind != TemplatePiece::Kind::placeholder) {
      result += piece.text;
      continue;
    }
    const auto value = values.find(piece.text);
    if (value == values.end()) return std::nullopt;
    result += value->second;
  }
  return result;
}

std::vector<std::string> all_placeholders(const SchedulerSubmission& submit) {
  std::vector<std::string> names;
  for (const auto* lines : {&submit.options, &submit.run, &submit.file}) {
    for (const Alternatives& line : *lines) {
      for (const std::string& text : line) {
        for (std::string& name : placeholders_of(text))
          names.push_back(std::move(name));
      }
    }
  }
  for (const std::string& argument : submit.command) {
    for (std::string& name : placeholders_of(argument))
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool SchedulerDescription::has_dependencies() const {
  return knows("after") || knows("after_tasks");
}

bool SchedulerDescription::knows(std::string_view placeholder) const {
  const auto names = all_placeholders(submit);
  return std::find(names.begin(), names.end(), placeholder) != names.end();
}

bool SchedulerDescription::moves_files() const {
  return knows("inputs");
}

std::vector<std::string> SchedulerDescription::requests() const {
  std::set<std::string> requests;
  for (const std::string& each : all_placeholders(submit)) {
    if (each.starts_with(request_prefix)) requests.insert(each.substr(request_prefix.size()));
  }
  return {requests.begin(), requests.end()};
}

std::vector<std::string> job_placeholders() {
  return {"name",
          "comment",
          "log",
          "script",
          "file",
          "directory",
          "command",
          "option",
          "user",
          "nodes",
          "tasks",
          "tasks_per_node",
          "tasks_each_node",
          "scatter",
          "cpus",
          "cpus_per_node",
          "cpus_per_gpu",
          "slots",
          "gpus",
          "gpus_all",
          "gpus_per_task",
          "inputs",
          "outputs",
          "memory_b",
          "memory_kib",
          "memory_mib",
          "memory_gib",
          "memory_all_mib",
          "memory_per_slot_mib",
          "time_s",
          "time_min",
          "time_hm",
          "time_hms",
          "warning_s",
          "warning_min",
          "time_before_warning_s",
          "last",
          "at_once",
          "after",
          "after_tasks",
          "after_any",
          "after_any_array"};
}

std::vector<std::string> filled(const std::vector<Alternatives>& lines,
                                const std::map<std::string, std::string>& values) {
  std::vector<std::string> result;
  for (const Alternatives& line : lines) {
    for (const std::string& text : line) {
      auto one = filled_one(text, values);
      if (!one) continue;
      result.push_back(std::move(*one));
      break;
    }
  }
  return result;
}

std::set<std::string> told_by(const std::vector<Alternatives>& lines,
                              const std::map<std::string, std::string>& values) {
  const auto is_request = [](const std::string& name) { return name.starts_with(request_prefix); };
  std::set<std::string> passed;
  for (const Alternatives& line : lines) {
    auto one = std::find_if(line.begin(), line.end(), [&](const std::string& text) {
      return filled_one(text, values).has_value();
    });
    if (one == line.end()) continue;
    const auto names = placeholders_of(*one);
    passed.insert(names.begin(), names.end());
    if (!std::any_of(names.begin(), names.end(), is_request)) continue;
    while (++one != line.end()) {
      const auto others = placeholders_of(*one);
      passed.insert(others.begin(), others.end());
    }
  }
  return passed;
}

}  // namespace sabath::spec
