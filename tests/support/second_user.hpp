#pragma once

#include "support/child.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <grp.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::test {

constexpr uid_t victim_user = 1001;
/// The second user, and the group of both.
constexpr uid_t attacking_user = 65534;
constexpr gid_t shared_group = 65534;

/// This process becomes another user, for good.
inline bool become_member(uid_t user) {
  const gid_t own = shared_group;
  return ::setgroups(1, &own) == 0 && ::setgid(shared_group) == 0 && ::setuid(user) == 0;
}

/// A second user who may write to a folder of the victim's. Each attack is a random one, and does
/// what the kernel lets this user do.
class Attacker {
 public:
  /// Beneath `home` stand `shared`, which is attacked, and two folders of the victim's to which
  /// links lead: `victim`, and `open/pool`, which others may move.
  Attacker(std::filesystem::path home, unsigned seed, std::function<void()> plant)
      : home_(std::move(home)), random_(seed), plant_(std::move(plant)) {}

  /// True where the kernel allowed it.
  bool attack() {
    const std::filesystem::path target = pick();
    const std::filesystem::path aside =
        target.parent_path() / ("evil-" + std::to_string(random_() % 8));
    const std::filesystem::path canary = random_() % 2 == 0 ? home_ / "victim" : pool();
    std::error_code code;
    switch (random_() % 7) {
      case 0:  // a link in the place of a folder
        std::filesystem::rename(target, aside, code);
        if (!code) std::filesystem::create_directory_symlink(canary, target, code);
        break;
      case 1:  // exchanged in one step, so that no moment is without either
        std::filesystem::create_directory_symlink(canary, aside, code);
        code.clear();
        if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(), exchange) != 0)
          code = std::make_error_code(std::errc::io_error);
        break;
      case 2:  // a folder of the attacker's with links of the same names
        std::filesystem::rename(target, aside, code);
        if (!code) mirror(aside, target, canary);
        break;
      case 3:  // a folder of the victim's, moved in
        std::filesystem::rename(pool(), target, code);
        if (code) std::filesystem::rename(target, pool(), code);
        rename_child(target);
        break;
      case 4:
        plant_();
        break;
      default:  // back again, so that the victim gets on
        std::filesystem::remove(target, code);
        code.clear();
        std::filesystem::rename(aside, target, code);
        break;
    }
    return !code;
  }

 private:
  static constexpr unsigned exchange = 1U << 1U;  // RENAME_EXCHANGE

  std::filesystem::path pool() const { return home_ / "open/pool"; }

  /// Gives what is in the pool a name that a collection, a fetch or a build would remove.
  void rename_child(const std::filesystem::path& folder) {
    const std::vector<std::string> names{
        "x.123", "1001.0", "left.xyz", "abcdefgh", ".request-1", std::string(32, 'a'), "old"};
    std::error_code code;
    for (const std::string& name : names) {
      std::filesystem::rename(folder / name, folder / names[random_() % names.size()], code);
      if (!code) return;
    }
  }
  std::filesystem::path pick() {
    std::vector<std::filesystem::path> all;
    std::error_code code;
    std::filesystem::recursive_directory_iterator at(
        home_ / "shared", std::filesystem::directory_options::skip_permission_denied, code);
    for (; !code && at != std::filesystem::recursive_directory_iterator() && all.size() < 400;
         at.increment(code)) {
      std::error_code gone;
      const bool is_folder = std::filesystem::is_directory(at->symlink_status(gone));
      if (is_folder || at->is_symlink(gone)) all.push_back(at->path());
      if (at.depth() > 5) at.disable_recursion_pending();
    }
    if (all.empty()) return home_ / "shared/cache/trash";
    return all[random_() % all.size()];
  }
  static void mirror(const std::filesystem::path& from,
                     const std::filesystem::path& to,
                     const std::filesystem::path& canary) {
    std::error_code code;
    std::filesystem::create_directory(to, code);
    for (std::filesystem::directory_iterator at(from, code);
         !code && at != std::filesystem::directory_iterator();
         at.increment(code)) {
      std::error_code ignored;
      std::filesystem::create_directory_symlink(canary, to / at->path().filename(), ignored);
    }
  }

  std::filesystem::path home_;
  std::minstd_rand random_;
  std::function<void()> plant_;
};

/// Removes the links of `attacker` beneath a folder, as an administrator would.
inline void remove_links(const std::filesystem::path& folder, uid_t attacker) {
  std::error_code code;
  std::vector<std::filesystem::path> links;
  for (std::filesystem::recursive_directory_iterator at(folder, code);
       !code && at != std::filesystem::recursive_directory_iterator();
       at.increment(code)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) == 0 && S_ISLNK(status.st_mode) &&
        status.st_uid == attacker)
      links.push_back(at->path());
  }
  for (const std::filesystem::path& link : links)
    ::unlink(link.c_str());
}

/// A folder of the victim's and of the group's.
inline void make_for_group(const std::filesystem::path& folder, mode_t mode) {
  std::filesystem::create_directories(folder);
  REQUIRE(::chown(folder.c_str(), victim_user, shared_group) == 0);
  REQUIRE(::chmod(folder.c_str(), mode) == 0);
}

/// Names, modes and contents.
inline std::string picture_of(const std::filesystem::path& folder) {
  std::string picture;
  std::vector<std::filesystem::path> paths{folder};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    picture +=
        path.lexically_relative(folder).string() + " " + std::to_string(status.st_mode) + "\n";
    if (S_ISREG(status.st_mode)) picture += base::read_file(path) + "\n";
  }
  return picture;
}

/// What the victim has outside of what is shared.
class Canaries {
 public:
  explicit Canaries(const std::filesystem::path& home) : victim_(home / "victim") {
    REQUIRE(::chmod(home.c_str(), 0755) == 0);
    // The folders that the victim named stand where nobody else can exchange them.
    make_for_group(home / "shared", 0755);
    make_for_group(victim_ / "old/inner", 0755);
    make_for_group(victim_ / "abcdefgh", 0700);
    make_for_group(victim_ / "old", 0755);
    make_for_group(victim_, 0755);
    base::write_file_atomically(victim_ / "old/inner/file", "kept");
    // The group may write to this one, and so move it: what is in it stays.
    const std::filesystem::path pool = home / "open/pool";
    make_for_group(pool / "old/inner", 0755);
    make_for_group(pool / "old", 0755);
    make_for_group(pool, 02775);
    make_for_group(home / "open", 02775);
    const std::filesystem::path file = pool / "old/inner/file";
    base::write_file_atomically(file, "kept");
    REQUIRE(::chown(file.c_str(), victim_user, shared_group) == 0);
    pooled_.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    before_ = picture_of(victim_);
  }
  /// What has changed; empty where all is as it was.
  std::string harm() const {
    struct stat status {};
    const std::string now = picture_of(victim_);
    if (now != before_) return "it was\n" + before_ + "and is\n" + now;
    const bool is_there = ::fstat(pooled_.get(), &status) == 0 && status.st_nlink == 1;
    return is_there ? "" : "a file of the pool has " + std::to_string(status.st_nlink) + " names";
  }

 private:
  std::filesystem::path victim_;
  base::UniqueFd pooled_{};
  std::string before_{};
};

/// Two processes of the second user, which attack until this ends.
class Attack {
 public:
  Attack(const std::filesystem::path& home, const std::function<void()>& plant) : home_(home) {
    void* const memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    shared_ = new (memory) Shared;
    for (unsigned seed = 1; seed <= 2; ++seed) {
      processes_.emplace_back([this, seed, &plant]() -> std::string {
        if (!become_member(attacking_user)) return "cannot become another";
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where the test crashes
        Attacker attacker(home_, seed, plant);
        while (!shared_->ends) {
          if (shared_->is_paused) {
            shared_->idle |= seed;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          } else if (attacker.attack()) {
            ++shared_->attacks;
          }
        }
        return "";
      });
    }
  }
  ~Attack() { end(); }
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

  /// Without this the first links would stand in the way of all that the victim does. To be called
  /// when all processes are forked.
  void heal() {
    healer_ = std::thread([this] {
      while (!shared_->ends) {
        remove_links(home_ / "shared", attacking_user);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  /// Nothing changes until `resume`. What was planted stays.
  void pause() {
    shared_->idle = 0;
    shared_->is_paused = true;
    while (shared_->idle != 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    remove_links(home_ / "shared", attacking_user);
  }
  void resume() { shared_->is_paused = false; }
  void end() {
    if (shared_->ends.exchange(true)) return;
    if (healer_.joinable()) healer_.join();
    for (Child& process : processes_)
      CHECK(process.wait() == "");
  }
  /// Those that the kernel allowed.
  std::uint64_t count() const { return shared_->attacks; }

 private:
  struct Shared {
    std::atomic<std::uint64_t> attacks{};
    std::atomic<bool> ends{};
    std::atomic<bool> is_paused{};
    std::atomic<unsigned> idle{};
  };

  std::filesystem::path home_;
  Shared* shared_ = nullptr;
  std::vector<Child> processes_{};
  std::thread healer_{};
};

}  // namespace sabath::test
