#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "unit/catalog/catalog_home.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <memory>

using namespace sabath;
using base::ErrorKind;
using catalog::Catalog;
using test::CatalogHome;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

bool says_how_to_rebuild(const base::Error& error, const fs::path& file) {
  return error.kind() == ErrorKind::catalog && contains(error.what(), file.string()) &&
         contains(error.hint(), "sabath catalog reindex");
}

void check_set_aside(const base::Error& error, const CatalogHome& home) {
  CHECK(error.kind() == ErrorKind::catalog);
  CHECK(contains(error.what(), "damaged"));
  CHECK(contains(error.what(), "set aside as catalog.db.damaged"));
  CHECK(contains(error.hint(), "makes it again"));
  CHECK_FALSE(fs::exists(home.file()));
  CHECK(Catalog(home.file()).runs().empty());
}

}  // namespace

TEST_CASE("catalog: a missing file and an empty one become a catalog of the newest version") {
  const CatalogHome home;
  const bool empty = GENERATE(false, true);
  if (empty) write_text(home.file(), "");
  const Catalog catalog(home.file());
  const catalog::CatalogStats stats = catalog.stats();
  CHECK(stats.schema_version == 9);
  CHECK(stats.runs == 0);
  CHECK(stats.documents == 0);
  CHECK(stats.size_bytes == fs::file_size(home.file()));
  CHECK(!stats.sqlite_version.empty());
  CHECK(catalog.runs().empty());
}

TEST_CASE("catalog: what was written is there when it is opened again") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    test::put(catalog, test::numbered_record(1));
  }
  const Catalog catalog(home.file());
  REQUIRE(catalog.runs().size() == 1);
  CHECK(catalog.runs().front().id == "tiny-20261120-103201-abcdefgh");
}

TEST_CASE("catalog: a kept catalog of an older version opens, is searched and takes new runs") {
  const CatalogHome home;
  const std::string version = GENERATE("v1.db", "v2.db", "v3.db", "v4.db", "v5.db");
  fs::copy_file(fs::path(SABATH_TEST_DATA) / "catalog" / version, home.file());
  fs::permissions(home.file(), fs::perms::owner_read | fs::perms::owner_write);
  Catalog catalog(home.file());
  const catalog::CatalogStats stats = catalog.stats();
  CHECK(stats.schema_version == 9);
  CHECK(stats.runs == 2);
  CHECK(stats.metrics == 1);
  CHECK(stats.documents == 1);
  const catalog::RunRow newest = catalog.select("@running", {}).front();
  CHECK(newest.id == "tiny-20261120-103202-abcdefgh");
  CHECK(newest.state == spec::RunState::planned);
  CHECK(newest.placed == newest.created);
  CHECK(catalog.search("thermals").front().name == "thermals");
  CHECK(catalog.select("environment=abab", {}).size() == (version == "v1.db" ? 0 : 1));
  CHECK_FALSE(catalog.is_filled());  // records are read again: who executed what they show
  test::put(catalog, test::numbered_record(3));
  CHECK(catalog.runs().size() == 3);
  catalog.forget_all_runs();
  CHECK(catalog.runs().empty());
  test::put(catalog, test::numbered_record(3));
  CHECK(catalog.runs().size() == 1);
}

TEST_CASE("catalog: zeros whose sign an older version did not keep are read again") {
  const CatalogHome home;
  fs::copy_file(fs::path(SABATH_TEST_DATA) / "catalog/v4.db", home.file());
  fs::permissions(home.file(), fs::perms::owner_read | fs::perms::owner_write);
  SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE)
      .exec("update run_metric set last = 0");
  Catalog catalog(home.file());
  CHECK_FALSE(catalog.is_filled());
  CHECK(catalog.runs().size() == 2);
}

TEST_CASE("catalog: a new one has not been filled until somebody says so") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    CHECK_FALSE(catalog.is_filled());
    test::put(catalog, test::numbered_record(1));
  }
  Catalog catalog(home.file());
  CHECK_FALSE(catalog.is_filled());
  {
    const Catalog::Transaction transaction(catalog);
    catalog.set_filled();
  }
  CHECK_FALSE(catalog.is_filled());
  catalog.set_filled();
  catalog.set_filled();
  CHECK(Catalog(home.file()).is_filled());
}

TEST_CASE("catalog: one of a newer version is refused with both numbers, and left as it is") {
  const CatalogHome home;
  {
    SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("pragma user_version = 97");
  }
  const base::Error error = error_of([&] { Catalog catalog(home.file()); });
  CHECK(error.kind() == ErrorKind::catalog);
  CHECK(contains(error.what(), "is of version 97"));
  CHECK(contains(error.what(), "versions up to 9"));
  CHECK(contains(error.hint(), "newer sabath"));
  CHECK(SQLite::Database(home.file().string()).execAndGet("pragma user_version").getInt() == 97);
}

TEST_CASE("catalog: a file that is no database is set aside, and the next one is new") {
  const CatalogHome home;
  write_text(home.file(), std::string(5000, 'x'));
  check_set_aside(error_of([&] { Catalog catalog(home.file()); }), home);
  CHECK(fs::file_size(home.file().string() + ".damaged") == 5000);
}

TEST_CASE("catalog: one with a negative version is set aside, and the next one is new") {
  const CatalogHome home;
  const std::string version = GENERATE("-1", "-2147483648");
  { const Catalog catalog(home.file()); }
  SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE)
      .exec("pragma user_version = " + version);
  check_set_aside(error_of([&] { Catalog catalog(home.file()); }), home);
}

TEST_CASE("catalog: a database of another program says how to rebuild it") {
  const CatalogHome home;
  const char* sql = GENERATE("create table run (x)", "create table x (y); pragma user_version = 1");
  {
    SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  CHECK(says_how_to_rebuild(error_of([&] { Catalog(home.file()).runs(); }), home.file()));
}

TEST_CASE("catalog: one with other tables, views or triggers is set aside when asked") {
  const CatalogHome home;
  { const Catalog catalog(home.file()); }
  const std::string sql = GENERATE(
      "drop table run_tag",
      "create trigger foreign_one after insert on run begin select raise(abort, 'no'); end",
      "alter table run rename to run_before; create view run as select * from run_before",
      "alter table run add column more text",
      "pragma user_version = -1",
      "pragma user_version = 0");
  CAPTURE(sql);
  SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE).exec(sql);
  CHECK(Catalog::set_aside_if_foreign(home.file()));
  CHECK_FALSE(fs::exists(home.file()));
  CHECK(fs::exists(home.file().string() + ".damaged"));
  CHECK(Catalog(home.file()).runs().empty());
  CHECK_FALSE(Catalog::set_aside_if_foreign(home.file()));
}

TEST_CASE("catalog: one of any version, or no database, is not foreign") {
  const CatalogHome home;
  const std::string version = GENERATE("", "empty", "rubbish", "97", "v1.db", "v4.db");
  if (version == "empty") write_text(home.file(), "");
  if (version == "rubbish") write_text(home.file(), std::string(5000, 'x'));
  if (version == "97") {
    SQLite::Database(home.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("pragma user_version = 97");
  }
  if (version.ends_with(".db")) {
    fs::copy_file(fs::path(SABATH_TEST_DATA) / "catalog" / version, home.file());
    fs::permissions(home.file(), fs::perms::owner_read | fs::perms::owner_write);
  }
  const bool is_there = fs::exists(home.file());
  CHECK_FALSE(Catalog::set_aside_if_foreign(home.file()));
  CHECK(fs::exists(home.file()) == is_there);
}

TEST_CASE("catalog: a truncated file is set aside, at the latest when it is asked") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    for (int n = 0; n < 30; ++n)
      test::put(catalog, test::numbered_record(n));
  }
  const auto size = fs::file_size(home.file());
  fs::resize_file(home.file(), GENERATE_COPY(std::uintmax_t{60}, std::uintmax_t{4096}, size / 3));
  write_text(home.file().string() + "-journal", "of that file");
  check_set_aside(error_of([&] { Catalog(home.file()).runs(); }), home);
  CHECK_FALSE(fs::exists(home.file().string() + "-journal"));
}

TEST_CASE("catalog: of a damaged one that was replaced meanwhile the new one stays") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    for (int n = 0; n < 30; ++n)
      test::put(catalog, test::numbered_record(n));
  }
  const Catalog damaged(home.file());
  {
    std::fstream file(home.file(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string rubbish(fs::file_size(home.file()) - 4096, 'x');
    file.seekp(4096);
    file << rubbish;
  }
  fs::rename(home.file(), home.folder() / "elsewhere");
  test::put(*std::make_unique<Catalog>(home.file()), test::numbered_record(1));
  CHECK(error_of([&] { damaged.runs(); }).kind() == ErrorKind::catalog);
  CHECK(Catalog(home.file()).runs().size() == 1);
}

TEST_CASE("catalog: who has one open that was removed is told, and writes into no other") {
  const test::CatalogHome home;
  Catalog old(home.file());
  test::put(old, test::numbered_record(1));
  fs::remove(home.file());
  const bool is_replaced = GENERATE(false, true);
  if (is_replaced) Catalog(home.file()).set_filled();
  const base::Error error = error_of([&] { test::put(old, test::numbered_record(2)); });
  CHECK(error.kind() == ErrorKind::catalog);
  CHECK(contains(error.what(), "was removed while it was in use"));
  CHECK(Catalog(home.file()).runs().empty());
}

TEST_CASE("catalog: a folder in its place is an error of storage") {
  const CatalogHome home;
  fs::create_directory(home.file());
  CHECK(error_of([&] { Catalog catalog(home.file()); }).kind() == ErrorKind::storage);
}

TEST_CASE("catalog: in a read-only folder it cannot be made, and that is an error of storage") {
  const CatalogHome home;
  fs::permissions(home.folder(), fs::perms(0555));
  const int status = test::status_as_ordinary_user([&] {
    try {
      Catalog catalog(home.file());
    } catch (const base::Error& error) {
      return error.kind() == ErrorKind::storage && contains(error.what(), home.file().string()) ? 7
                                                                                                : 1;
    }
    return 0;
  });
  fs::permissions(home.folder(), fs::perms::owner_all);
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("catalog: one that may only be read is read, and a change is an error of storage") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    test::put(catalog, test::numbered_record(1));
  }
  fs::permissions(home.file(), fs::perms(0444));
  fs::permissions(home.folder(), fs::perms(0555));
  const int status = test::status_as_ordinary_user([&] {
    Catalog catalog(home.file());
    if (catalog.runs().size() != 1) return 1;
    try {
      catalog.put_state("tiny-20261120-103201-abcdefgh", spec::RunState::lost, "");
    } catch (const base::Error& error) {
      return error.kind() == ErrorKind::storage ? 7 : 2;
    }
    return 0;
  });
  fs::permissions(home.folder(), fs::perms::owner_all);
  CHECK(WEXITSTATUS(status) == 7);
}
