#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::report {
namespace {

/// Variables of the run's session whose values were not recorded.
std::set<std::string> withheld(const spec::RunRecord& record) {
  std::set<std::string> names;
  const auto add = [&](const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      if (value.find(base::redacted_mark) != std::string::npos) names.insert(name);
    }
  };
  if (record.determinism) {
    add(record.determinism->switches);
    add(record.determinism->threads);
    add(record.determinism->seeds);
  }
  if (const spec::Facet* variables = record.facet("variables")) add(variables->items);
  return names;
}

/// CPUs from a job shared by several runs; no option requests these.
std::string shared_job(const spec::RunRecord& record) {
  const bool is_shared = record.jobs && std::ranges::any_of(*record.jobs, [](const auto& job) {
                           return job.shared.value_or(false);
                         });
  const spec::Facet* launch = is_shared ? record.facet("launch") : nullptr;
  if (launch == nullptr) return {};
  const auto cpus = launch->items.find("cpus");
  return cpus == launch->items.end() ? std::string() : cpus->second;
}

}  // namespace

std::string why_not_again(const spec::RunRecord& record) {
  if (spec::purpose_of(record.tags) == spec::RunPurpose::explanation) {
    return fmt::format("'sabath run' cannot mix two runs; 'sabath repro {}' repeats this one",
                       record.run_id);
  }
  if (record.repeats) {
    return fmt::format(
        "'sabath run' cannot repeat it: its code and its variables are those of {}, which that run "
        "kept",
        *record.repeats);
  }
  if (const std::string cpus = shared_job(record); !cpus.empty()) {
    return fmt::format(
        "a job of its own has other cores: this run had {} CPU{} of a job that several runs "
        "shared; 'sabath repro {}' binds as many on this machine",
        cpus,
        cpus == "1" ? "" : "s",
        record.run_id);
  }
  const std::set<std::string> names = withheld(record);
  if (names.empty()) return {};
  return fmt::format(
      "it does not set {}: values that look like secrets are not recorded; set the same, then "
      "'sabath repro {}' or this command repeats the run",
      fmt::join(names, ", "),
      record.run_id);
}

std::string again_text(const spec::RunRecord& record) {
  std::string text = "again: " + base::printable(record.reproduce) + "\n";
  const std::string why = why_not_again(record);
  if (!why.empty()) text += "  " + base::printable(why) + "\n";
  return text;
}

}  // namespace sabath::report
