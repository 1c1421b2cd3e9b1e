#include "scheduler_memo.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

namespace sabath::batch {
namespace {

using nlohmann::json;

base::WallTime time_of(const json& value) {
  return base::parse_rfc3339(value.get<std::string>()).value_or(base::WallTime{});
}

}  // namespace

SchedulerMemo read_memo(const std::filesystem::path& file) {
  try {
    const auto text = base::read_file_if_exists(file);
    if (!text) return {};
    const json document = json::parse(*text);
    SchedulerMemo memo;
    memo.asked = time_of(document.at("asked"));
    memo.first = time_of(document.at("first"));
    for (const auto& [task, row] : document.at("tasks").items()) {
      TaskView& view = memo.tasks[task];
      const auto phase = spec::parse_enum<spec::JobPhase>(row.at(0).get<std::string>());
      if (!phase) return {};
      view.view = {*phase,
                   row.at(1).get<std::string>(),
                   row.at(2).get<std::string>(),
                   row.at(5).get<bool>()};
      view.since = time_of(row.at(3));
      view.wanted = time_of(row.at(4));
      view.asked = time_of(row.at(6));
    }
    for (const auto& [comment, row] : document.at("searches").items())
      memo.searches[comment] = {time_of(row.at(0)), row.at(1).get<int>()};
    for (const auto& [task, row] : document.at("accounts").items())
      memo.accounts[task] = {time_of(row.at(0)), row.at(1).get<int>()};
    memo.accounted = time_of(document.at("accounted"));
    memo.no_accounting = time_of(document.at("no_accounting"));
    return memo;
  } catch (const json::exception&) {
    return {};
  } catch (const base::Error&) {
    return {};
  }
}

void write_memo(const std::filesystem::path& file, const SchedulerMemo& memo) noexcept {
  try {
    json tasks = json::object();
    for (const auto& [task, row] : memo.tasks) {
      tasks[task] = {spec::to_string(row.view.phase),
                     row.view.state,
                     row.view.reason,
                     base::format_rfc3339(row.since),
                     base::format_rfc3339(row.wanted),
                     row.view.is_unheard,
                     base::format_rfc3339(row.asked)};
    }
    const auto rows_of = [](const std::map<std::string, SchedulerMemo::Asked>& questions) {
      json rows = json::object();
      for (const auto& [name, asked] : questions)
        rows[name] = {base::format_rfc3339(asked.last), asked.times};
      return rows;
    };
    base::make_directories(file.parent_path());
    const json document = {{"asked", base::format_rfc3339(memo.asked)},
                           {"first", base::format_rfc3339(memo.first)},
                           {"tasks", tasks},
                           {"searches", rows_of(memo.searches)},
                           {"accounts", rows_of(memo.accounts)},
                           {"accounted", base::format_rfc3339(memo.accounted)},
                           {"no_accounting", base::format_rfc3339(memo.no_accounting)}};
    const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    base::write_file_atomically(file, text, base::Durability::ordered_only, 0600);
  } catch (const std::exception&) {
    return;  // the next command asks again
  }
}

}  // namespace sabath::batch
