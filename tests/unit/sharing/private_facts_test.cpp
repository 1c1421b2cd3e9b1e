#include "sharing/private_facts.hpp"

#include <catch2/catch.hpp>

using sabath::sharing::add_private_members;
using sabath::sharing::add_private_paths;
using sabath::sharing::PrivateFacts;

namespace {

std::set<std::string> paths_in(const std::string& text) {
  PrivateFacts facts;
  add_private_paths(text, facts);
  return facts.paths;
}

}  // namespace

TEST_CASE("private facts: absolute paths of a text, as far as two folders deep") {
  using Paths = std::set<std::string>;
  CHECK(paths_in("/home/ada/work/x.py") == Paths{"/home/ada"});
  CHECK(paths_in("cd '/gpfs/p1'; A=/opt/tool:/srv/data,(/mnt/x/y)") ==
        Paths{"/gpfs/p1", "/opt/tool", "/srv/data", "/mnt/x"});
  CHECK(paths_in("It lies in /scratch/ada.") == Paths{"/scratch/ada"});
  CHECK(paths_in("file:///home/ada/x") == Paths{});
  CHECK(paths_in("https://example.org/a/b </td> 1/2 a/b/c //x/y / /x") == Paths{});
  CHECK(paths_in("/usr/bin/python3 /bin/sh /dev/null /proc/self/maps /etc/passwd") == Paths{});
  CHECK(paths_in("\"/h\xC3\xB6me/ada\"") == Paths{"/h\xC3\xB6me/ada"});
  CHECK(paths_in("/") == Paths{});
  CHECK(paths_in("") == Paths{});
}

TEST_CASE("private facts: users and hosts by the names of members") {
  PrivateFacts facts;
  add_private_members(
      R"({"user": "ada", "hosts": [{"node": "n1"}], "by": "bob@n2", "name": "x", "note": "at n9",
          "jobs": [{"account": "proj"}], "facets": [{"items": {"node": "n3", "user": ""}}]})",
      facts);
  CHECK(facts.users == std::set<std::string>{"ada", "bob", "proj"});
  CHECK(facts.hosts == std::set<std::string>{"n1", "n2", "n3"});
  add_private_members("no JSON", facts);
  CHECK(facts.users.size() == 3);
}
