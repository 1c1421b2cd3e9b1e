#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/directory.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/base/write_access.hpp>

#include <catch2/catch.hpp>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include <array>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::base;
using test::contains;

namespace {

namespace fs = std::filesystem;

/// A folder with a program in it that is all right.
struct Bin {
  Bin() {
    fs::create_directory(home / "bin");
    write_file_atomically(program, "", Durability::ordered_only, 0755);
    ::chmod((home / "bin").c_str(), 0755);
  }
  test::TempHome home;
  fs::path program = home / "bin" / "tool";
};

/// Gives a folder an access control list with one named entry. Returns false where there are none.
bool allow(const fs::path& folder, unsigned short tag, unsigned id, unsigned short permission) {
  constexpr unsigned nobody = 0xFFFFFFFF;
  std::vector<posix_acl_xattr_entry> entries{{ACL_USER_OBJ, 7, nobody}};
  if (tag == ACL_USER) entries.push_back({tag, permission, id});
  entries.push_back({ACL_GROUP_OBJ, 7, nobody});
  if (tag == ACL_GROUP) entries.push_back({tag, permission, id});
  entries.insert(entries.end(), {{ACL_MASK, 7, nobody}, {ACL_OTHER, 5, nobody}});
  std::vector<char> bytes(sizeof(std::uint32_t) + entries.size() * sizeof(entries[0]));
  const std::uint32_t version = POSIX_ACL_XATTR_VERSION;
  std::memcpy(bytes.data(), &version, sizeof(version));
  std::memcpy(bytes.data() + sizeof(version), entries.data(), entries.size() * sizeof(entries[0]));
  return ::setxattr(folder.c_str(), "system.posix_acl_access", bytes.data(), bytes.size(), 0) == 0;
}

}  // namespace

TEST_CASE("trust: whom an access control list lets write counts as others") {
  const Bin bin;
  const fs::path folder = bin.program.parent_path();
  ::chmod(folder.c_str(), 0775);
  const Directory open = Directory::open(folder);
  const bool was_private = !can_others_write(open.fd());
  if (!allow(folder, ACL_USER, 4242, 7)) {
    WARN("skipped: the file system has no access control lists");
    return;
  }
  CHECK(can_others_write(open.fd()));
  CHECK(can_others_exchange(folder));
  const Trust trust{{}, {::getegid()}};
  CHECK(why_untrusted(folder, trust) ==
        folder.string() + ": can be written by others on its access control list");
  CHECK(why_untrusted(folder, Trust{{4242}, {::getegid()}}) == std::nullopt);
  REQUIRE(allow(folder, ACL_GROUP, 4242, 6));
  CHECK(can_others_write(open.fd()));
  CHECK(why_untrusted(folder, trust));
  // Those who only read change nothing.
  REQUIRE(allow(folder, ACL_USER, 4242, 5));
  CHECK(can_others_write(open.fd()) == !was_private);
  CHECK(why_untrusted(folder, trust) == std::nullopt);
  REQUIRE(allow(folder, ACL_USER, ::geteuid(), 7));
  CHECK(can_others_write(open.fd()) == !was_private);
  // The mask is what chmod sets now.
  REQUIRE(allow(folder, ACL_USER, 4242, 7));
  ::chmod(folder.c_str(), 0755);
  CHECK_FALSE(can_others_write(open.fd()));
  CHECK(can_others_exchange(folder / "none"));
}

TEST_CASE("trust: what belongs to this user and only it can write is trusted, beneath /tmp too") {
  const Bin bin;
  CHECK(why_untrusted(bin.program) == std::nullopt);
  CHECK(why_untrusted("/bin/sh") == std::nullopt);
}

TEST_CASE("trust: what others can write is not") {
  const Bin bin;
  SECTION("the file itself") {
    ::chmod(bin.program.c_str(), 0775);
    CHECK(why_untrusted(bin.program) == bin.program.string() + ": can be written by its group");
  }
  SECTION("its folder") {
    ::chmod(bin.program.parent_path().c_str(), 0757);
    CHECK(why_untrusted(bin.program) ==
          bin.program.parent_path().string() + ": can be written by everybody");
  }
  SECTION("a folder above") {
    ::chmod(bin.home.path().c_str(), 0770);
    CHECK(why_untrusted(bin.program) == bin.home.path().string() + ": can be written by its group");
  }
  SECTION("a sticky folder as a parent is accepted, as the place itself it is not") {
    ::chmod(bin.program.parent_path().c_str(), 01777);
    CHECK(why_untrusted(bin.program) == std::nullopt);
    CHECK(why_untrusted(bin.program.parent_path()));
  }
}

TEST_CASE("trust: a link is as good as the folders on the way, not only its target") {
  const Bin bin;
  fs::create_directory(bin.home / "open");
  ::chmod((bin.home / "open").c_str(), 0777);
  fs::create_symlink("/bin/sh", bin.home / "open" / "sh");
  fs::create_symlink(bin.home / "open" / "sh", bin.home / "bin" / "hop");
  fs::create_symlink("../bin/tool", bin.home / "bin" / "fine");
  CHECK(why_untrusted(bin.home / "bin" / "fine") == std::nullopt);
  CHECK(contains(why_untrusted(bin.home / "open" / "sh").value_or(""), "written by everybody"));
  CHECK(contains(why_untrusted(bin.home / "bin" / "hop").value_or(""), "written by everybody"));
}

TEST_CASE("trust: what does not exist, or leads in circles, is not trusted") {
  const Bin bin;
  fs::create_symlink("circle", bin.home / "circle");
  CHECK(contains(why_untrusted(bin.home / "none").value_or(""), "No such file"));
  CHECK(contains(why_untrusted(bin.home / "circle").value_or(""), "Too many levels"));
}

TEST_CASE("trust: another owner is trusted only where the site says so") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can give files to another user");
    return;
  }
  const Bin bin;
  REQUIRE(::chown(bin.program.c_str(), 4242, 0) == 0);
  CHECK(why_untrusted(bin.program) == bin.program.string() + ": belongs to user 4242");
  CHECK(why_untrusted(bin.program, Trust{{4242}, {}}) == std::nullopt);
}

TEST_CASE("trust: members of a trusted group are trusted, and what the group may write") {
  if (::geteuid() != 0) {
    WARN("not root: cannot give files away");
    return;
  }
  const auto user = user_id("daemon");
  const auto group = group_id("daemon");
  REQUIRE((user && group));
  const Bin bin;
  const Trust trust{{}, {*group}};
  REQUIRE(::chown(bin.program.c_str(), *user, 0) == 0);
  CHECK(why_untrusted(bin.program, trust) == std::nullopt);
  CHECK(why_untrusted(bin.program, Trust{{}, {*group + 4000}}));
  REQUIRE(::chown((bin.home / "bin").c_str(), 0, *group) == 0);
  ::chmod((bin.home / "bin").c_str(), 0775);
  CHECK(why_untrusted(bin.program, trust) == std::nullopt);
  CHECK(why_untrusted(bin.program, Trust{{*user}, {}}) ==
        (bin.home / "bin").string() + ": can be written by its group");
  ::chmod((bin.home / "bin").c_str(), 0777);
  CHECK(contains(why_untrusted(bin.program, trust).value_or(""), "written by everybody"));
  // No member of it, and one that has no entry at all.
  REQUIRE(::chown(bin.program.c_str(), 4242, 0) == 0);
  CHECK_FALSE(is_trusted_owner(4242, trust));
  CHECK(is_trusted_owner(*user, trust));
}

TEST_CASE("trust: users and groups are called by their names or numbers") {
  CHECK(user_id("root") == 0U);
  CHECK(group_id("root") == 0U);
  CHECK(user_id("1234567") == 1234567U);
  CHECK(group_id("1234567") == 1234567U);
  for (const char* const name : {"no-such-name", "", "-1", "12x", "99999999999"}) {
    CHECK_FALSE(user_id(name));
    CHECK_FALSE(group_id(name));
  }
}
