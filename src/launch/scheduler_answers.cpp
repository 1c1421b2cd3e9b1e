#include "scheduler_answers.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace sabath::launch {
namespace {

constexpr std::size_t longest_id = 256;
/// More than any job uses; Slurm writes 2^64 - 2 for unknown values.
constexpr double most = 1e16;

std::string_view group_of(const base::Regex& regex, std::string_view name) {
  for (const int number : regex.groups_named(name)) {
    if (const auto text = regex.group(number)) return *text;
  }
  return {};
}

std::optional<double> number_at(std::string_view& text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0) || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::size_t> task_of(const base::Regex& regex, std::string_view from0) {
  const auto task0 = base::number_in<std::size_t>(group_of(regex, from0));
  if (!task0 || *task0 == std::numeric_limits<std::size_t>::max()) return std::nullopt;
  return *task0 + 1;
}

AnswerRow row_of(const base::Regex& regex) {
  const auto text = [&](std::string_view name) { return base::printable(group_of(regex, name)); };
  AnswerRow row;
  row.id = group_of(regex, "id");
  const auto rest = task_of(regex, "rest0");
  row.is_rest = rest.has_value();
  row.task = rest ? rest : base::number_in<std::size_t>(group_of(regex, "task"));
  if (!row.task) row.task = task_of(regex, "task0");
  row.state = text("state");
  row.how = text("how");
  row.reason = text("reason");
  if (!regex.groups_named("comment").empty()) row.comment = group_of(regex, "comment");
  row.elapsed = text("elapsed");
  row.rss = text("rss");
  row.energy = text("energy");
  row.nodes = text("nodes");
  return row;
}

/// Returns false where the pattern takes too many steps, so that matches may be missing.
template <class Visit>
bool each_match(std::string_view text, const std::string& pattern, const Visit& visit) {
  base::Regex regex(pattern);
  std::size_t from = 0;
  while (from <= text.size()) {
    const auto outcome = regex.search(text, from);
    if (outcome != base::Regex::Outcome::found) return outcome == base::Regex::Outcome::none;
    visit(regex);
    const std::string_view whole = *regex.group(0);
    const auto end = static_cast<std::size_t>(whole.data() - text.data()) + whole.size();
    from = std::max(end, from + 1);
  }
  return true;
}

double bytes_of(std::string_view unit) {
  if (unit == "B") return 1;
  if (unit == "MiB") return 0x1p20;
  if (unit == "GiB") return 0x1p30;
  return 0x1p10;
}

/// Returns the index, from 1, of the task of `job` that has this id; 0 for ids of other jobs.
std::size_t task_called(const spec::SchedulerArrays& arrays,
                        const std::string& job,
                        const std::string& id) {
  // Building an id is expensive, and most ids belong to other jobs.
  if (!id.starts_with(job.substr(0, job.find_first_not_of("0123456789")))) return 0;
  const char* const last = id.data() + id.size();
  for (const char* at = id.data(); at < last;) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(at, last, number);
    at = std::max(end, at + 1);
    if (error != std::errc{}) continue;
    for (const std::size_t task : {number, number + 1}) {
      if (task_id_of(arrays, job, task) == id) return task;
    }
  }
  return 0;
}

/// Reads "17", "1:30", "01:02:03" or "2-01:02:03" as seconds.
std::optional<double> parse_elapsed(std::string_view text) {
  double seconds = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = base::number_in<std::size_t>(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = static_cast<double>(*days) * 24;
    text.remove_prefix(dash + 1);
  }
  for (int parts = 0; parts < 3; ++parts) {
    const auto number = number_at(text);
    if (!number) return std::nullopt;
    seconds = parts == 0 ? seconds + *number : seconds * 60 + *number;
    if (text.empty()) return seconds;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

/// Reads "1234K", "1.5G", "512 kb", "12 Mbytes", or a number of `unit`s.
std::optional<double> parse_amount(std::string_view text, double unit, double step) {
  const auto number = number_at(text);
  if (!number) return std::nullopt;
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  if (text.empty()) return *number * unit;
  constexpr std::string_view letters = "bkmgtp";
  const auto power = letters.find(static_cast<char>(text.front() | 0x20));
  if (power == std::string_view::npos) return std::nullopt;
  const double amount = *number * std::pow(step, static_cast<double>(power));
  return amount <= most ? std::optional(amount) : std::nullopt;
}

}  // namespace

bool is_job_id(std::string_view text) {
  if (text.empty() || text.size() > longest_id || text.front() == '-') return false;
  return std::ranges::none_of(text, [](unsigned char c) {
    constexpr std::string_view bad = "\"'\\`$&|;<>*?!(){},/";
    return c <= 0x20 || c == 0x7f || bad.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool add_rows(std::vector<AnswerRow>& rows, std::string_view output, const std::string& pattern) {
  return each_match(output, pattern, [&](const base::Regex& regex) {
    AnswerRow row = row_of(regex);
    if (is_job_id(row.id)) rows.push_back(std::move(row));
  });
}

std::optional<Acceptance> acceptance_in(std::string_view output,
                                        const std::string& pattern,
                                        const std::vector<std::string>& requests) {
  std::optional<Acceptance> job;
  each_match(output, pattern, [&](const base::Regex& regex) {
    const auto id = regex.group(1);
    if (job || !id || !is_job_id(*id)) return;
    job.emplace().id = *id;
    for (const std::string& name : requests) {
      const std::string text = base::printable(group_of(regex, name));
      if (!text.empty()) job->requests[name] = text;
    }
  });
  return job;
}

bool says(std::string_view text, const std::string& pattern) {
  return !pattern.empty() && base::Regex(pattern).search(text) == base::Regex::Outcome::found;
}

spec::JobPhase phase_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row) {
  for (const std::string& word : {row.state + " " + row.how, row.state}) {
    const auto found = scheduler.states.find(word);
    if (found != scheduler.states.end()) return found->second;
  }
  return spec::JobPhase::unknown;
}

std::string called(const spec::SchedulerDescription& scheduler, const AnswerRow& row) {
  for (const std::string& word : {row.state + " " + row.how, row.state}) {
    const auto found = scheduler.called.find(word);
    if (found != scheduler.called.end()) return found->second;
  }
  return row.state;
}

JobUse use_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row) {
  constexpr double kibi = 1024;
  constexpr double kilo = 1000;
  JobUse use;
  use.elapsed_s = parse_elapsed(row.elapsed);
  if (const auto rss = parse_amount(row.rss, bytes_of(scheduler.rss_unit), kibi)) {
    use.max_rss_bytes = static_cast<std::uint64_t>(std::llround(*rss));
  }
  use.energy_j = parse_amount(row.energy, 1, kilo);
  use.nodes = row.nodes;
  return use;
}

void add_use(JobUse& use, const JobUse& other) {
  use.elapsed_s = std::max(use.elapsed_s, other.elapsed_s);
  use.max_rss_bytes = std::max(use.max_rss_bytes, other.max_rss_bytes);
  use.energy_j = std::max(use.energy_j, other.energy_j);
  if (use.nodes.empty()) use.nodes = other.nodes;
}

std::string task_id_of(const spec::SchedulerArrays& arrays,
                       const std::string& job,
                       std::size_t task) {
  const auto parts = base::Form(arrays.job).parts(job);
  if (!parts || task == 0) return {};
  std::map<std::string, std::string> values{{"task", std::to_string(task)},
                                            {"task0", std::to_string(task - 1)}};
  for (std::size_t i = 1; i < parts->size(); ++i)
    values[std::to_string(i)] = (*parts)[i];
  const auto id = spec::filled({{arrays.task}}, values);
  return id.empty() ? std::string() : id.front();
}

void visit_wanted(const std::vector<AnswerRow>& rows,
                  const spec::SchedulerArrays& arrays,
                  const std::set<std::string>& wanted,
                  const std::function<void(const std::string& id, const AnswerRow&)>& visit) {
  const auto visit_if_wanted = [&](const std::string& id, const AnswerRow& row) {
    if (wanted.contains(id)) visit(id, row);
  };
  for (const AnswerRow& row : rows) {
    if (!row.is_rest) visit_if_wanted(row.id, row);
    if (!row.task || arrays.task.empty()) continue;
    if (!row.is_rest) {
      visit_if_wanted(task_id_of(arrays, row.id, *row.task), row);
      continue;
    }
    for (const std::string& id : wanted) {
      if (task_called(arrays, row.id, id) >= *row.task) visit(id, row);
    }
  }
}

}  // namespace sabath::launch
