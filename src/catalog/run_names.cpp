#include "database.hpp"

#include <sabath/catalog/run_names.hpp>

namespace sabath::catalog {
namespace {

std::vector<std::string> texts_of(Database& database, const char* sql) {
  return database.guarded([&] {
    std::vector<std::string> texts;
    auto& statement = database.statement(sql);
    while (statement.executeStep())
      texts.push_back(statement.getColumn(0).getString());
    return texts;
  });
}

}  // namespace

struct RunNames::State {
  explicit State(const std::filesystem::path& path) : database(path) {}
  Database database;
};

RunNames::RunNames(const std::filesystem::path& database)
    : state_(std::make_unique<State>(database)) {}

RunNames::~RunNames() = default;

bool RunNames::has_run() const {
  return !texts_of(state_->database, "select id from run limit 1").empty();
}

bool RunNames::has_parameter(std::string_view name) const {
  Database& database = state_->database;
  return database.guarded([&] {
    auto& statement = database.statement(
        "select count(*) from (select 1 from run_parameter where name = ? limit 1)");
    bound(statement, std::string(name)).executeStep();
    const bool is_there = statement.getColumn(0).getInt() > 0;
    statement.reset();
    return is_there;
  });
}

std::vector<std::string> RunNames::recipes() const {
  return texts_of(state_->database, "select distinct recipe from run order by recipe");
}

std::vector<std::string> RunNames::studies() const {
  return texts_of(state_->database,
                  "select distinct study from run where study is not null and study <> ''");
}

std::vector<std::string> RunNames::parameters() const {
  return texts_of(state_->database, "select distinct name from run_parameter order by name");
}

std::vector<std::string> RunNames::metrics() const {
  return texts_of(state_->database,
                  "select name from run_metric union select stream || '/' || name from run_metric");
}

}  // namespace sabath::catalog
