#pragma once

#include "selection.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

enum class ValueKind { text, seed, state, time, duration };

/// A key of runs and the column that has its value; `table`: of the parts of a run.
struct Column {
  std::string_view key;
  std::string_view column;
  std::string_view table{};
  ValueKind kind = ValueKind::text;
};
inline constexpr std::array<Column, 21> columns{{
    {"id", "id"},
    {"recipe", "recipe"},
    {"study", "study"},
    {"user", "user"},
    {"node", "node"},
    {"host", "node"},
    {"message", "message"},
    {"tag", "tag", "run_tag"},
    {"task", "tag", "run_tag"},
    {"note", "text", "run_note"},
    {"environment", "key", "run_layer"},
    {"seed", "seed", {}, ValueKind::seed},
    {"state", "state", {}, ValueKind::state},
    {"status", "state", {}, ValueKind::state},
    {"created", "created", {}, ValueKind::time},
    {"started", "started", {}, ValueKind::time},
    {"ended", "ended", {}, ValueKind::time},
    {"since", "created", {}, ValueKind::time},
    {"until", "created", {}, ValueKind::time},
    {"wall", "wall_s", {}, ValueKind::duration},
    {"run", "id"},
}};

/// The column with this key, unless the runs have a parameter of that name whose meaning is older
/// than the key. Null: there is none.
const Column* column_of(std::string_view key, Database& database);

bool has_parameter(Database& database, std::string_view name);
/// `name`: as NAME or as STAGE/NAME. `has_direction`: with a "better" of lower or higher.
bool has_metric(Database& database, std::string_view name, bool has_direction = false);

/// Which of the values of a metric, as SQL on run_metric: by the prefix of a key ("", "metric",
/// "last", "best").
std::string metric_value(std::string_view prefix);

/// The rows of run_metric that have such a value of a metric.
Condition metric_rows(std::string_view name, std::string_view prefix = {});

}  // namespace sabath::catalog
