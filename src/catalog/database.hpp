#pragma once

#include <sabath/base/error.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sabath::catalog {

/// The migrations' SQL in order; number i takes a catalog from version i to i + 1.
const std::vector<const char*>& migrations();

/// As Catalog::set_aside_if_foreign.
bool set_aside_if_foreign(const std::filesystem::path& path);

/// Of a run without a record, whose state may still change.
inline constexpr const char* has_not_ended = "run.state in ('planned', 'running', 'unknown')";

/// Binds all values to the statement, in order from 1.
template <class... Values>
SQLite::Statement& bound(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (statement.bind(++index, values), ...);
  return statement;
}

/// An open catalog: migrated, with its statements kept ready.
class Database {
 public:
  explicit Database(const std::filesystem::path& path);

  /// The prepared form of `sql`, reset and without bindings. One use at a time.
  SQLite::Statement& statement(const std::string& sql);
  /// Executes `sql` with these values, in order.
  template <class... Values>
  void run(const std::string& sql, const Values&... values) {
    bound(statement(sql), values...).exec();
  }
  SQLite::Database& handle() { return *handle_; }
  const std::filesystem::path& path() const { return path_; }
  /// Ids in the connection's temporary table `chosen`, which run_values.cpp fills.
  std::vector<std::string> chosen{};

  /// Runs `work`, turning SQLite's exceptions into Error{catalog|storage} that name the file.
  template <class Work>
  auto guarded(Work&& work) {
    try {
      return std::forward<Work>(work)();
    } catch (const SQLite::Exception& error) {
      rethrow(error);
    }
  }

 private:
  [[noreturn]] void rethrow(const SQLite::Exception& error) const;
  void open();
  void migrate();

  std::filesystem::path path_;
  std::uint64_t file_ = 0;  ///< its inode
  std::unique_ptr<SQLite::Database> handle_;
  std::map<std::string, std::unique_ptr<SQLite::Statement>> statements_;
};

/// The first column of each row that `sql` gives with these values.
template <class... Values>
std::vector<std::string> texts_of(Database& database,
                                  const std::string& sql,
                                  const Values&... values) {
  return database.guarded([&] {
    std::vector<std::string> texts;
    auto& statement = bound(database.statement(sql), values...);
    while (statement.executeStep())
      texts.push_back(statement.getColumn(0).getString());
    return texts;
  });
}

/// A write transaction; within another one it is part of that. Rolls back unless committed.
class WriteScope {
 public:
  explicit WriteScope(Database& database);
  ~WriteScope();
  void commit();
  WriteScope(const WriteScope&) = delete;
  WriteScope& operator=(const WriteScope&) = delete;

 private:
  Database& database_;
  bool open_ = false;
};

}  // namespace sabath::catalog
