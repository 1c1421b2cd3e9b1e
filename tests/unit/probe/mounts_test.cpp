#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

constexpr const char* table =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,errors=remount-ro\n"
    "40 27 0:40 / /scratch rw,relatime shared:9 - lustre 10.0.0.1@o2ib:/scratch rw,flock\n"
    "41 40 0:41 / /scratch/old ro - nfs4 server:/old ro,vers=4.2\n"
    "42 27 0:42 / /mnt/with\\040blank rw - cifs //ada:pw@host/share "
    "rw,username=ada,password=hunter2,vers=3.0\n"
    "43 27 0:43 / /over rw - tmpfs first rw\n"
    "44 27 0:44 / /over rw - ext4 second rw\n"
    "45 27 0:45 / /ceph rw - ceph mon1:/ rw,name=ada,secret=QUJD,acl\n";

spec::MountFacts mount_of(const std::filesystem::path& path) {
  const FakeHost host;
  host.put("proc/self/mountinfo", table);
  const auto mounts = probe::look_at_mounts({{"input.train", path}}, host.root());
  REQUIRE(mounts.size() == 1);
  CHECK(mounts.front().role == "input.train");
  CHECK(mounts.front().path == path.string());
  return mounts.front();
}

}  // namespace

TEST_CASE("mounts: a path lies on the deepest mount above it, whatever begins alike") {
  CHECK(mount_of("/scratch/a/b").type == "lustre");
  CHECK(mount_of("/scratch").mount_point == "/scratch");
  CHECK(mount_of("/scratch/old/x").source == "server:/old");
  CHECK(mount_of("/scratch/older").type == "lustre");
  CHECK(mount_of("/scratchy").mount_point == "/");
}

TEST_CASE("mounts: the last of two at one point is the one that is seen") {
  CHECK(mount_of("/over/a").source == "second");
}

TEST_CASE("mounts: options of the mount and of the file system are told once each") {
  CHECK(mount_of("/home").options == "rw,relatime,errors=remount-ro");
}

TEST_CASE("mounts: no secret of the options or of the source is told") {
  const auto share = mount_of("/mnt/with blank/a");
  CHECK(share.mount_point == "/mnt/with blank");
  CHECK(share.source == "//[redacted]@host/share");
  CHECK(share.options == "rw,username=ada,password=[redacted],vers=3.0");
  CHECK(mount_of("/ceph/a").options == "rw,name=ada,secret=[redacted],acl");
  CHECK(mount_of("/scratch/a").source == "10.0.0.1@o2ib:/scratch");
}

TEST_CASE("mounts: a link is followed to where it leads on this machine") {
  const FakeHost host;
  const auto mounts = probe::look_at_mounts({{"run", host.root()}});
  REQUIRE(mounts.size() == 1);
  CHECK_FALSE(mounts.front().type.empty());
  std::filesystem::create_symlink("/proc/self", host.root() / "link");
  const auto linked = probe::look_at_mounts({{"run", host.root() / "link"}});
  REQUIRE(linked.size() == 1);
  CHECK(linked.front().type == "proc");
}

TEST_CASE("mounts: without a table there are none") {
  const FakeHost host;
  CHECK(probe::look_at_mounts({{"run", "/a"}}, host.root()).empty());
}
