// What another member of the group cannot make `env gc`, `env rm` or a build do.
#include "env/store/key_folder.hpp"
#include "env/store/prefix_files.hpp"
#include "env/store/request_folder.hpp"
#include "env_workshop.hpp"

#include <sabath/base/own_tree.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;

namespace {

constexpr unsigned other_user = 65534;

void make_old(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2400));
}

/// A cache that a group may write, and what the victim has outside of it.
struct Shared {
  Shared() {
    fs::create_directories(shop.home / "victim/old/inner");
    base::write_file_atomically(shop.home / "victim/old/inner/file", "kept");
    make_old(shop.home / "victim/old");
    fs::create_directories(envs() / "source");
    share(shop.home / "cache");
    share(envs());
    share(envs() / "source");
  }
  static void share(const fs::path& folder) {
    REQUIRE(::chown(folder.c_str(), 0, other_user) == 0);
    REQUIRE(::chmod(folder.c_str(), 02775) == 0);
  }
  fs::path envs() const { return shop.home / "cache/envs"; }
  env::EnvironmentStore store() { return {envs(), shop.processes, shop.clock, shop.options}; }
  /// As `env gc` does.
  void collect() {
    for (const fs::path& left : store().leftovers())
      base::remove_own_tree(left);
  }
  bool is_whole() const { return fs::exists(shop.home / "victim/old/inner/file"); }
  test::EnvWorkshop shop{};
};

bool is_skipped() {
  if (::geteuid() == 0) return false;
  WARN("SKIPPED: only root can act as a second user");
  return true;
}

const std::string key_name(32, 'a');

}  // namespace

TEST_CASE("shared env: a key that is a link to another folder is not swept") {
  if (is_skipped()) return;
  Shared shared;
  const std::string old_name = GENERATE("old", "abcdefgh");
  fs::rename(shared.shop.home / "victim/old", shared.shop.home / "victim" / old_name);
  const fs::path key = shared.envs() / "source" / key_name;
  fs::create_directory_symlink(shared.shop.home / "victim", key);
  shared.collect();
  env::KeyFolder(key).remove_remains(shared.shop.clock.now(), std::chrono::hours(24));
  CHECK_THROWS_AS(env::KeyFolder(key).remove(), base::Error);
  CHECK_THROWS_AS(env::KeyFolder(key).begin(), base::Error);
  CHECK(fs::exists(shared.shop.home / "victim" / old_name / "inner/file"));
  CHECK(std::distance(fs::directory_iterator(shared.shop.home / "victim"), {}) == 1);
}

TEST_CASE("shared env: environments that are a link are refused") {
  if (is_skipped()) return;
  Shared shared;
  fs::rename(shared.envs(), shared.shop.home / "away");
  fs::create_directories(shared.shop.home / "victim/source/" / key_name / "abcdefgh/inner");
  make_old(shared.shop.home / "victim/source" / key_name / "abcdefgh");
  fs::create_directory_symlink(shared.shop.home / "victim", shared.envs());
  try {
    shared.collect();
    FAIL("nothing was refused");
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::storage);
    CHECK(std::string(error.what()).find(shared.envs().string() + ": is a symbolic link") == 0);
    CHECK_FALSE(error.hint().empty());
  }
  CHECK_THROWS_AS(env::make_own_folder(shared.envs() / "pip"), base::Error);
  CHECK_THROWS_AS(env::RequestFolder(shared.envs(), shared.shop.clock.now()), base::Error);
  CHECK(shared.is_whole());
  CHECK(fs::exists(shared.shop.home / "victim/source" / key_name / "abcdefgh/inner"));
  CHECK_FALSE(fs::exists(shared.shop.home / "victim/pip"));
}

TEST_CASE("shared env: a folder that was moved there with others' rights stays") {
  if (is_skipped()) return;
  Shared shared;
  const fs::path key = shared.envs() / "source" / key_name;
  // The victim's own, which the group may write to, in the place of a key.
  Shared::share(shared.shop.home / "victim");
  fs::rename(shared.shop.home / "victim/old", shared.shop.home / "victim/abcdefgh");
  fs::rename(shared.shop.home / "victim", key);
  shared.collect();
  CHECK(fs::exists(key / "abcdefgh/inner/file"));
  // In the place of an attempt, with the record of one that failed.
  fs::create_directory(shared.envs() / "source/new");
  fs::rename(key, shared.envs() / "source/new/ijklmnop");
  env::AttemptRecord record;
  record.state = "failed";
  record.started = "2020-01-01T00:00:00Z";
  record.builder = base::ProcessIdentity::current();
  env::write_attempt_record(shared.envs() / "source/new/ijklmnop/record.json", record);
  env::KeyFolder(shared.envs() / "source/new")
      .remove_remains(shared.shop.clock.now(), std::chrono::hours(24));
  CHECK(fs::exists(shared.envs() / "source/new/ijklmnop/abcdefgh/inner/file"));
}

TEST_CASE("shared env: a request's folder that is a link is not swept") {
  if (is_skipped()) return;
  Shared shared;
  fs::create_directory_symlink(shared.shop.home / "victim", shared.envs() / ".request-abc");
  { const env::RequestFolder request(shared.envs(), shared.shop.clock.now()); }
  CHECK(shared.is_whole());
}

TEST_CASE("shared env: a request works elsewhere where others could exchange its folder") {
  if (is_skipped()) return;
  Shared shared;
  const bool is_shared = GENERATE(true, false);
  if (!is_shared) fs::permissions(shared.shop.home / "cache", fs::perms(0755));
  if (!is_shared) fs::permissions(shared.envs(), fs::perms(0755));
  spec::EnvironmentSpec spec;
  spec.layers = {test::host_layer({"sh"})};
  shared.store().fetch(spec, shared.shop.recipe(), shared.shop.observer);
  CHECK(fs::exists(shared.shop.home / "state/requests") == is_shared);
  if (is_shared) CHECK(fs::is_empty(shared.shop.home / "state/requests"));
}
