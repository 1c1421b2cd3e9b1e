// A member of the group moves, links and exchanges what it can, while the victim works.
#include "child.hpp"
#include "shared_cache.hpp"
#include "tar_file.hpp"

#include <sabath/base/own_tree.hpp>
#include <sabath/env/environment.hpp>

#include <app/node_staging.hpp>
#include <app/staged_copy.hpp>
#include <cache/layout.hpp>
#include <cache/records_json.hpp>
#include <env/errand_folder.hpp>
#include <env/key_folder.hpp>
#include <grp.h>

#include <atomic>
#include <iostream>
#include <random>

#include <sys/mman.h>
#include <sys/stat.h>

using namespace sabath;
using test::Child;
using test::SharedCache;

namespace fs = std::filesystem;

namespace {

constexpr uid_t victim_user = 1001;
constexpr gid_t shared_group = test::other_user;
constexpr unsigned exchange = 1U << 1U;  // RENAME_EXCHANGE

struct Counts {
  std::atomic<std::uint64_t> attacks{};
  std::atomic<std::uint64_t> steps{};
  std::atomic<std::uint64_t> refused{};
  std::atomic<bool> ends{};
};

/// Shared by the processes of one test.
Counts& shared_counts() {
  void* const memory =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) Counts;
}

bool become(uid_t user) {
  const gid_t own = shared_group;
  return ::setgroups(1, &own) == 0 && ::setgid(shared_group) == 0 && ::setuid(user) == 0;
}

/// What the attacker does: at random, and whatever the kernel lets it do.
class Attacker {
 public:
  Attacker(fs::path home, unsigned seed) : home_(std::move(home)), random_(seed) {}

  void attack(std::uint64_t& done) {
    const fs::path target = pick();
    const fs::path aside = target.parent_path() / ("evil-" + std::to_string(random_() % 8));
    const fs::path canary = random_() % 2 == 0 ? home_ / "victim" : home_ / "open/pool";
    std::error_code code;
    switch (random_() % 7) {
      case 0:  // a link in the place of a folder
        fs::rename(target, aside, code);
        if (!code) fs::create_directory_symlink(canary, target, code);
        break;
      case 1:  // exchanged in one step, so that no moment is without either
        fs::create_directory_symlink(canary, aside, code);
        code.clear();
        if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(), exchange) != 0)
          code = std::make_error_code(std::errc::io_error);
        break;
      case 2:  // a folder of the attacker's with links of the same names
        fs::rename(target, aside, code);
        if (!code) mirror(aside, target, canary);
        break;
      case 3:  // a folder of the victim's, moved in
        fs::rename(home_ / "open/pool", target, code);
        if (code) fs::rename(target, home_ / "open/pool", code);
        break;
      case 4:
        plant();
        break;
      default:  // back again, so that the victim gets on
        fs::remove(target, code);
        code.clear();
        fs::rename(aside, target, code);
        break;
    }
    if (!code) ++done;
  }

 private:
  fs::path pick() {
    std::vector<fs::path> all;
    std::error_code code;
    fs::recursive_directory_iterator at(
        home_ / "shared", fs::directory_options::skip_permission_denied, code);
    for (; !code && at != fs::recursive_directory_iterator() && all.size() < 400;
         at.increment(code)) {
      std::error_code gone;
      const bool is_folder = fs::is_directory(at->symlink_status(gone));
      if (is_folder || at->is_symlink(gone)) all.push_back(at->path());
      if (at.depth() > 5) at.disable_recursion_pending();
    }
    if (all.empty()) return home_ / "shared/cache/trash";
    return all[random_() % all.size()];
  }
  static void mirror(const fs::path& from, const fs::path& to, const fs::path& canary) {
    std::error_code code;
    fs::create_directory(to, code);
    for (fs::directory_iterator at(from, code); !code && at != fs::directory_iterator();
         at.increment(code)) {
      std::error_code ignored;
      fs::create_directory_symlink(canary, to / at->path().filename(), ignored);
    }
  }
  void plant() {
    const cache::Layout layout(home_ / "shared/cache");
    const std::string url = "https://host.example/pinned";
    try {
      base::write_file_atomically(
          layout.source(url),
          cache::source_text({.url = url, .digest = base::sha256_of("evil"), .size_bytes = 4}));
      const auto archive = base::sha256_of(test::tar_of({{"a", "right"}}));
      base::write_file_atomically(layout.unpacked(archive),
                                  cache::unpacked_text(archive, base::sha256_of("evil")));
    } catch (const base::Error&) {
      return;
    }
  }

  fs::path home_;
  std::minstd_rand random_;
};

/// One round of everything that makes, moves or removes. An attack may make any of it fail; it may
/// not make it do harm.
class Victim {
 public:
  Victim(fs::path home, Counts& counts) : home_(std::move(home)), counts_(counts) {}

  std::string round(unsigned number) {
    step([&] { fetch(number); });
    step([&] { unpack(); });
    step([&] { records(); });
    step([&] {
      cache::Keeping(root(), state(), clock_)
          .collect({{}, {}, std::chrono::seconds(0), false}, observer_);
    });
    step([&] { repair(number); });
    step([&] { environments(); });
    step([&] { node(); });
    return problem_;
  }
  std::string problem() const { return problem_; }

 private:
  fs::path root() const { return home_ / "shared/cache"; }
  fs::path state() const { return home_ / "state"; }

  template <class Work>
  void step(Work&& work) {
    ++counts_.steps;
    try {
      work();
    } catch (const base::Error&) {
      ++counts_.refused;
    } catch (const fs::filesystem_error&) {
      ++counts_.refused;
    }
  }
  void fetch(unsigned number) {
    cache::Cache cache(root(), state(), clock_);
    const std::string text = "content " + std::to_string(number % 7);
    auto staging = cache.stage("key " + std::to_string(number % 3), {base::sha256_of(text)});
    staging->reserve(text.size());
    staging->write_at(0, base::as_bytes(text));
    const auto object = cache.publish(std::move(staging), {base::sha256_of(text)});
    auto tree = cache.stage_tree("tree " + std::to_string(number % 3));
    tree->open("a/b", {}).write_at(0, base::as_bytes(text));
    tree->finish("a/b", "");
    tree->add("c", object);
    cache.publish(std::move(tree));
  }
  void unpack() {
    const fs::path tar = home_ / "state/right.tar";
    const std::string text = test::tar_of({{"a", "right"}});
    base::write_file_atomically(tar, text);
    cache::Cache cache(root(), state(), clock_);
    auto archive = cache.publish_file(tar);
    archive.path = tar;
    const auto tree = cache.publish_archive(archive, "tar", observer_);
    for (const base::ArchiveEntry& entry : cache.entries(tree)) {
      if (entry.digest != base::sha256_of("right")) problem_ = "believes a planted tree";
    }
  }
  void records() {
    cache::Cache cache(root(), state(), clock_);
    if (cache.source("https://host.example/pinned")) problem_ = "believes a planted source";
    cache.remember_source({.url = "https://host.example/own", .digest = base::sha256_of("own")});
  }
  void repair(unsigned number) {
    cache::Cache cache(root(), state(), clock_);
    const std::string text = "content " + std::to_string(number % 7);
    auto staging = cache.stage_repair(base::sha256_of(text));
    staging->write_at(0, base::as_bytes(text));
    cache.publish(std::move(staging), {base::sha256_of(text)});
    cache.verify(true, observer_);
  }
  void environments() {
    env::EnvironmentStore store(root() / "envs", processes_, clock_, {.state_directory = state()});
    const env::ErrandFolder errand(root() / "envs", clock_.now());
    base::make_directories(errand.path() / "work");
    const env::KeyFolder key(root() / "envs/source" / std::string(32, 'a'));
    const env::AttemptFolder attempt = key.begin();
    env::AttemptRecord record;
    record.state = "failed";
    record.started = "2020-01-01T00:00:00Z";
    record.builder = base::ProcessIdentity::current();
    env::write_attempt_record(attempt.record(), record);
    key.publish(attempt);
    key.remove_remains(clock_.now() + std::chrono::hours(100), std::chrono::hours(1));
    for (const fs::path& left : store.leftovers())
      base::remove_own_tree(left);
    key.remove();
  }
  void node() {
    const fs::path scratch = home_ / "shared/scratch";
    const app::ScratchFolder own(scratch);
    const auto source = home_ / "state/right.tar";
    app::StagedCopy::make(
        scratch, app::files_to_copy(base::sha256_of("x").hex, source, {}), clock_, observer_, {});
  }

  fs::path home_;
  Counts& counts_;
  base::SystemClock clock_{};
  base::SilentObserver observer_{};
  base::SystemProcessRunner processes_{};
  std::string problem_{};
};

void make(const fs::path& folder, uid_t owner, mode_t mode) {
  fs::create_directories(folder);
  REQUIRE(::chown(folder.c_str(), owner, shared_group) == 0);
  REQUIRE(::chmod(folder.c_str(), mode) == 0);
}

/// The attacker's links, as an administrator would.
void remove_links(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> links;
  for (fs::recursive_directory_iterator at(folder, code);
       !code && at != fs::recursive_directory_iterator();
       at.increment(code)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) == 0 && S_ISLNK(status.st_mode) &&
        status.st_uid == test::other_user)
      links.push_back(at->path());
  }
  for (const fs::path& link : links)
    ::unlink(link.c_str());
}

/// Names, modes and contents.
std::string picture_of(const fs::path& folder) {
  std::string picture;
  std::vector<fs::path> paths{folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    picture +=
        path.lexically_relative(folder).string() + " " + std::to_string(status.st_mode) + "\n";
    if (S_ISREG(status.st_mode)) picture += base::read_file(path) + "\n";
  }
  return picture;
}

}  // namespace

TEST_CASE("second user: whatever is moved, linked and exchanged, nothing outside is touched") {
  if (SharedCache::is_skipped()) return;
  const test::TempHome home;
  REQUIRE(::chmod(home.path().c_str(), 0755) == 0);
  // The folders that the victim named stand where nobody else can exchange them.
  make(home / "shared", victim_user, 0755);
  for (const char* const name : {"shared/cache", "shared/scratch"})
    make(home / name, victim_user, 02775);
  make(home / "state", victim_user, 0755);
  make(home / "victim/old/inner", victim_user, 0755);
  make(home / "victim/abcdefgh", victim_user, 0700);
  make(home / "victim/old", victim_user, 0755);
  make(home / "victim", victim_user, 0755);
  base::write_file_atomically(home / "victim/old/inner/file", "kept");
  // A folder of the victim's that the group may write to, and so move: what is in it stays.
  make(home / "open/pool/old/inner", victim_user, 0755);
  make(home / "open/pool/old", victim_user, 0755);
  make(home / "open/pool", victim_user, 02775);
  make(home / "open", victim_user, 02775);
  base::write_file_atomically(home / "open/pool/old/inner/file", "kept");
  REQUIRE(::chown((home / "open/pool/old/inner/file").c_str(), victim_user, shared_group) == 0);
  const base::UniqueFd pooled(
      ::open((home / "open/pool/old/inner/file").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string before = picture_of(home / "victim");

  Counts& counts = shared_counts();
  std::vector<Child> attackers;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    attackers.emplace_back([&, seed]() -> std::string {
      if (!become(test::other_user)) return "cannot become another";
      Attacker attacker(home.path(), seed);
      while (!counts.ends) {
        std::uint64_t done = 0;
        attacker.attack(done);
        counts.attacks += done;
      }
      return "";
    });
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread
  const char* const wanted = std::getenv("SABATH_TEST_ROUNDS");
  const unsigned rounds = wanted == nullptr ? 60 : static_cast<unsigned>(std::atoi(wanted));
  Child victim([&]() -> std::string {
    if (!become(victim_user)) return "cannot become the victim";
    Victim work(home.path(), counts);
    for (unsigned number = 0; number < rounds; ++number) {
      const std::string problem = work.round(number);
      if (!problem.empty()) return problem;
    }
    return "";
  });
  // Without this the first links would stand in the way of all that the victim does.
  std::thread healer([&] {
    while (!counts.ends) {
      remove_links(home / "shared");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const std::string problem = victim.wait();
  counts.ends = true;
  healer.join();
  for (Child& attacker : attackers)
    CHECK(attacker.wait() == "");
  CHECK(problem == "");
  CHECK(picture_of(home / "victim") == before);
  struct stat status {};
  REQUIRE(::fstat(pooled.get(), &status) == 0);
  CHECK(status.st_nlink == 1);
  CHECK(counts.attacks > 0);
  CHECK(counts.refused > 0);
  CHECK(counts.refused < counts.steps);
  std::cout << "second user: " << counts.steps << " steps of the victim, " << counts.refused
            << " of them refused, " << counts.attacks << " attacks that the kernel allowed\n";
}
