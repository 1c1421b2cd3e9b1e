#include "database.hpp"

#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/value_order.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <sys/stat.h>

namespace sabath::catalog {
namespace {

using base::Error;
using base::ErrorKind;

/// Some 60 s of the waits below.
constexpr int most_waits = 2400;
/// Some 2 s. What a stopped process leaves out of the index, the next command adds.
constexpr int most_waits_stopped = 100;
constexpr int longest_wait_us = 50'000;

/// The busy handler of SQLite; `waits`: how many came before in this wait. SQLite's own one waits
/// longer and longer, so among hundreds of processes the one that came last gets the lock first.
int wait_for_lock(void*, int waits) noexcept {
  if (waits >= (base::stop_was_requested() ? most_waits_stopped : most_waits)) return 0;
  std::uint32_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  const int longest = std::min(longest_wait_us, 1000 * (1 + 2 * waits));
  std::this_thread::sleep_for(
      std::chrono::microseconds(1 + random % static_cast<unsigned>(longest)));
  return 1;
}

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = sqlite3_value_text(value);
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text), size);
}

/// SQL's number_order(a, b): -1, 0 or 1 as the number a is less than, equal to or more than b; null
/// where a text is not a number.
void number_order(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto a = base::number_of(text_of(arguments[0]));
  const auto b = base::number_of(text_of(arguments[1]));
  if (!a || !b) return sqlite3_result_null(context);
  sqlite3_result_int(context, *a < *b ? -1 : *b < *a ? 1 : 0);
}

/// SQL's collation by_value: as base::value_before orders texts.
int by_value(void*, int size_a, const void* a, int size_b, const void* b) {
  const std::string_view text_a(static_cast<const char*>(a), static_cast<std::size_t>(size_a));
  const std::string_view text_b(static_cast<const char*>(b), static_cast<std::size_t>(size_b));
  return base::value_before(text_a, text_b) ? -1 : base::value_before(text_b, text_a) ? 1 : 0;
}

std::unique_ptr<SQLite::Database> connect(const std::filesystem::path& path, int flags) {
  auto database = std::make_unique<SQLite::Database>(path.string(), flags);
  sqlite3* const handle = database->getHandle();
  sqlite3_busy_handler(handle, wait_for_lock, nullptr);
  sqlite3_create_function(handle,
                          "number_order",
                          2,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                          nullptr,
                          number_order,
                          nullptr,
                          nullptr);
  sqlite3_create_collation(handle, "by_value", SQLITE_UTF8, nullptr, by_value);
  return database;
}

constexpr const char* rebuild_hint =
    "it is only an index: remove it, and 'sabath catalog reindex' makes it again";

/// Which file lies there; 0: none.
std::uint64_t file_at(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// With the journal that belongs to it, which must not get into another database. False where the
/// folder may not be written.
bool set_aside(const std::filesystem::path& path) {
  std::error_code code;
  const std::filesystem::path journal = path.string() + "-journal";
  std::filesystem::rename(path, path.string() + ".damaged", code);
  if (code) return false;
  std::filesystem::rename(journal, path.string() + ".damaged-journal", code);
  return true;
}

/// Its tables, indexes, views and triggers.
std::set<std::string> schema_of(SQLite::Database& database) {
  SQLite::Statement query(database,
                          "select type || ' ' || name || ' ' || coalesce(sql, '') "
                          "from sqlite_master where name not like 'sqlite%'");
  std::set<std::string> schema;
  while (query.executeStep())
    schema.insert(query.getColumn(0).getString());
  return schema;
}

/// Of what a catalog of its version has. One of a newer version is not known, so it may be one.
bool has_foreign_schema(const std::filesystem::path& path) {
  const auto database = connect(path, SQLite::OPEN_READWRITE);
  const SQLite::Transaction unchanging(*database);
  const int version = database->execAndGet("pragma user_version").getInt();
  if (version < 0) return true;
  if (version > static_cast<int>(migrations().size())) return false;
  SQLite::Database known(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (int i = 0; i < version; ++i)
    known.exec(migrations()[static_cast<std::size_t>(i)]);
  return schema_of(*database) != schema_of(known);
}

}  // namespace

bool set_aside_if_foreign(const std::filesystem::path& path) {
  const std::uint64_t file = file_at(path);
  try {
    return file != 0 && has_foreign_schema(path) && file_at(path) == file && set_aside(path);
  } catch (const SQLite::Exception&) {
    return false;  // the caller that opens it gets the error
  }
}

Database::Database(const std::filesystem::path& path) : path_(path) {
  guarded([&] { open(); });
}

void Database::open() {
  handle_ = connect(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  file_ = file_at(path_);
  handle_->exec("pragma foreign_keys = on");
  // An index that can be made again needs no more: a power cut leaves it whole, at worst without
  // its last entries.
  handle_->exec("pragma synchronous = normal");
  handle_->exec("pragma temp_store = memory");
  // SQLite's 2 MB do not hold what one question about 100,000 runs reads.
  handle_->exec("pragma cache_size = -8192");
  migrate();
}

void Database::migrate() {
  const auto version_of = [&] {
    const int version = handle_->execAndGet("pragma user_version").getInt();
    if (version < 0) throw SQLite::Exception("no catalog has a negative version", SQLITE_CORRUPT);
    return version;
  };
  const int known = static_cast<int>(migrations().size());
  const int found = version_of();
  if (found > known) {
    throw Error(
        ErrorKind::catalog,
        path_.string() + ": is of version " + std::to_string(found) +
            ", but this sabath knows versions up to " + std::to_string(known),
        "use the newer sabath, or remove the file and let 'sabath catalog reindex' make it again");
  }
  if (found == known) return;
  WriteScope scope(*this);
  // Somebody else may have migrated while this process waited for the lock.
  for (int version = version_of(); version < known; ++version) {
    handle_->exec(migrations()[static_cast<std::size_t>(version)]);
    handle_->exec("pragma user_version = " + std::to_string(version + 1));
  }
  scope.commit();
}

SQLite::Statement& Database::statement(const std::string& sql) {
  auto& kept = statements_[sql];
  if (!kept) kept = std::make_unique<SQLite::Statement>(*handle_, sql);
  kept->reset();
  kept->clearBindings();
  return *kept;
}

void Database::rethrow(const SQLite::Exception& error) const {
  const std::string place = path_.string();
  if (error.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
    throw Error(ErrorKind::catalog,
                place + ": was removed while it was in use",
                "it is only an index: the next command makes it again");
  }
  switch (error.getErrorCode()) {
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      throw Error(ErrorKind::storage,
                  place + ": cannot be written: " + error.getErrorStr(),
                  "SABATH_HOME chooses another place");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      // Another process may have found that too, and have made a new one.
      if (file_at(path_) == file_ && !set_aside(path_)) {
        throw Error(
            ErrorKind::catalog, place + ": is damaged: " + error.getErrorStr(), rebuild_hint);
      }
      throw Error(ErrorKind::catalog,
                  place + ": is damaged: " + error.getErrorStr() + "; it was set aside as " +
                      path_.filename().string() + ".damaged",
                  "it is only an index: the next command makes it again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorKind::catalog,
                  place + ": is in use by another process for too long",
                  "try again; on a file system without working locks, put SABATH_HOME elsewhere");
    default:
      throw Error(ErrorKind::catalog, place + ": " + std::string(error.what()), rebuild_hint);
  }
}

WriteScope::WriteScope(Database& database) : database_(database) {
  if (sqlite3_get_autocommit(database_.handle().getHandle()) == 0) return;
  database_.guarded([&] { database_.handle().exec("begin immediate"); });
  open_ = true;
}

WriteScope::~WriteScope() {
  if (!open_) return;
  // A failed statement may have rolled back already; there is nobody to tell in a destructor.
  sqlite3_exec(database_.handle().getHandle(), "rollback", nullptr, nullptr, nullptr);
}

void WriteScope::commit() {
  if (!open_) return;
  database_.guarded([&] { database_.handle().exec("commit"); });
  open_ = false;
}

}  // namespace sabath::catalog
