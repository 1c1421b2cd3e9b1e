#pragma once

#include <sabath/base/error.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace sabath::catalog {

/// As Catalog::set_aside_if_foreign.
bool set_aside_if_foreign(const std::filesystem::path& path);

/// An open catalog: migrated, with its statements kept ready.
class Database {
 public:
  explicit Database(const std::filesystem::path& path);

  /// The prepared form of `sql`, reset and without bindings. One use at a time.
  SQLite::Statement& statement(const std::string& sql);
  SQLite::Database& handle() { return *handle_; }
  const std::filesystem::path& path() const { return path_; }

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

/// Binds all values to the statement, in order from 1.
template <class... Values>
SQLite::Statement& bound(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (statement.bind(++index, values), ...);
  return statement;
}

}  // namespace sabath::catalog
