// Inputs and environments on the nodes' own disks: with a real Slurm of four nodes.
#include "site_user.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string ending = "/sabath-staged-" + std::to_string(::getuid());

/// A user whose site copies to the nodes' own disks, and a data set with one line.
struct Copies : SiteUser {
  explicit Copies(json staging = {{"inputs", true}},
                  std::unique_ptr<SlurmCluster> slurm = SlurmCluster::shared())
      : SiteUser(std::move(slurm)) {
    staging["folder"] = (cluster->scratch() / own()).string();
    write_text(
        sabath.folder() / "config/sites/test.json",
        json{{"schema", 1}, {"scheduler", "slurm"}, {"grace", "10s"}, {"staging", staging}}.dump());
    write_text(sabath.folder() / "words", "pear\n");
    sabath.asset("words",
                 R"({"schema": 1, "kind": "dataset", "name": "words", "files": [
        {"path": "words", "sources": ["file://)" +
                     (sabath.folder() / "words").string() + R"("]}]})");
  }
  void change(const std::string& name, const json& value) const {
    const fs::path file = sabath.folder() / "config/sites/test.json";
    json site = json::parse(text_of(file));
    site[name] = value;
    write_text(file, site.dump());
  }
  /// No other test's.
  std::string own() const { return "copies" + sabath.folder().filename().string(); }
  fs::path root_of(const std::string& node) const {
    return cluster->scratch_of(node) / own() / ("sabath-staged-" + std::to_string(::getuid()));
  }
  /// Stages of two ranks on each of two nodes, but for what `more` says.
  std::string recipe(const json& stages, const json& layers = json::array()) const {
    json all = json::array();
    for (json stage : stages) {
      json one = {{"resources", {{"nodes", 2}, {"tasks", 4}}}, {"parallel", "auto"}};
      one.update(stage);
      if (!all.empty()) one["needs"] = {all.back()["name"]};
      all.push_back(one);
    }
    return sabath.recipe("copies",
                         json{{"schema", 1},
                              {"name", "copies"},
                              {"datasets", {{"list", "words"}}},
                              {"environment", {{"layers", layers}}},
                              {"stages", all}}
                             .dump());
  }
  /// False where images cannot be used here.
  bool packs(const std::string& recipe) const {
    fs::create_directories(fs::path(recipe) / "code");
    write_text(fs::path(recipe) / "code/own", "mine\n");
    const Answer packed = sabath({"env", "pack", recipe});
    INFO(packed.errors);
    REQUIRE(packed.status == 0);
    const Answer seen = sabath({"env", "exec", "--packed", recipe, "--", "true"});
    if (seen.status == 0) return true;
    REQUIRE_THAT(seen.errors, Contains("namespaces"));
    WARN("no namespaces may be made here: not tested");
    return false;
  }
  /// What lies on the disks of all nodes.
  std::vector<std::string> copies() const {
    std::vector<std::string> found;
    for (const auto& disk : fs::directory_iterator(cluster->folder() / "local")) {
      const std::string node = disk.path().filename().string();
      if (!fs::is_directory(root_of(node))) continue;
      for (const auto& entry : fs::directory_iterator(root_of(node)))
        found.push_back(entry.path().string());
    }
    return found;
  }
  /// Copies are removed after the record is written.
  bool leaves_nothing() const {
    return eventually([&] { return copies().empty(); });
  }
};

/// NODE -> words that ranks there wrote behind it.
std::map<std::string, std::set<std::string>> by_node(const fs::path& log) {
  std::map<std::string, std::set<std::string>> found;
  std::istringstream lines(text_of(log));
  for (std::string line; std::getline(lines, line);)
    found[line.substr(0, line.find(' '))].insert(line.substr(line.find(' ') + 1));
  return found;
}

const std::string tell_file =
    "echo $(hostname) {dataset.list}/words $(stat -Lc %i {dataset.list}/words) $(cat "
    "$SABATH_DATASET_LIST/words)";

/// A program that tells its node, and how many copies are mounted over something there.
const json tools_layer = {
    {"kind", "source"},
    {"name", "tools"},
    {"path", "{recipe}/code"},
    {"build", "steps"},
    {"steps",
     json::array({json::array(
         {"sh",
          "-c",
          "mkdir {prefix}/bin && printf '#!/bin/sh\necho $(hostname) $(grep -c sabath-staged "
          "/proc/self/mountinfo)\n' > {prefix}/bin/where && chmod +x {prefix}/bin/where"})})}};

}  // namespace

TEST_CASE("site: inputs are copied to each node of a job once, and removed at its end") {
  Copies user;
  const std::string recipe = user.recipe({{{"name", "first"}, {"run", {{"shell", tell_file}}}},
                                          {{"name", "then"}, {"run", {{"shell", tell_file}}}}});
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  CHECK_FALSE(fs::exists(run / "jobs/1/job-2.sh"));  // both are one job's
  const auto first = by_node(run / "attempts/1/first/stdout.log");
  REQUIRE(first.size() == 2);
  std::set<std::string> files;
  for (const auto& [node, told] : first) {
    INFO(node);
    // Both ranks have seen the same file.
    REQUIRE(told.size() == 1);
    CHECK_THAT(*told.begin(), Contains(user.own() + ending));
    CHECK_THAT(*told.begin(), Catch::EndsWith(" pear"));
    files.insert(*told.begin());
  }
  CHECK(files.size() == 2);  // each node's own
  INFO(text_of(run / "attempts/1/first/stdout.log") << text_of(run / "attempts/1/then/stdout.log"));
  CHECK(by_node(run / "attempts/1/then/stdout.log") == first);
  CHECK(user.leaves_nothing());
  CHECK_FALSE(fs::exists(run / "attempts/1/.copies.json"));
  const json record = user.record(run);
  CHECK(record["inputs"][0]["path"].get<std::string>().find(ending) == std::string::npos);
  REQUIRE(record["hosts"].size() == 2);
  for (const json& host : record["hosts"]) {
    for (const json& mount : host["mounts"]) {
      if (mount["role"] == "input.list")
        CHECK_THAT(mount["path"].get<std::string>(), Contains(ending));
    }
  }
}

TEST_CASE("site: a node that cannot have a copy is told, and its ranks read what others do") {
  Copies user;
  const fs::path others = user.root_of("n2");
  fs::create_directories(others.parent_path());
  write_text(others, "");  // somebody else was quicker
  const std::string recipe = user.recipe({{{"name", "go"},
                                           {"run", {{"shell", tell_file}}},
                                           {"resources", {{"nodes", 4}, {"tasks", 4}}}}});
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  const auto told = by_node(run / "attempts/1/go/stdout.log");
  REQUIRE(told.size() == 4);
  for (const auto& [node, words] : told) {
    INFO(node);
    REQUIRE(words.size() == 1);
    CHECK((words.begin()->find(ending) == std::string::npos) == (node == "n2"));
    CHECK_THAT(*words.begin(), Catch::EndsWith(" pear"));
  }
  CHECK_THAT(text_of(run / "jobs/1/job-1.log-1"),
             Contains("n2: ") && Contains("is not a folder of this user's own"));
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: ranks that mpirun starts on two nodes have their copies") {
  Copies user;
  const json as_root = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                        {"OMPI_MCA_btl_tcp_if_include", "lo"}};
  user.change("variables", as_root);
  const std::string recipe =
      user.recipe({{{"name", "go"}, {"run", {{"shell", tell_file}}}, {"parallel", "mpirun"}}});
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  const fs::path run = user.sabath.run_directories().back();
  INFO(answer.errors);
  INFO(text_of(run / "jobs/1/job-1.log-1") << text_of(run / "attempts/1/go/stderr.log"));
  REQUIRE(answer.status == 0);
  const auto told = by_node(run / "attempts/1/go/stdout.log");
  REQUIRE(told.size() == 2);
  for (const auto& [node, words] : told) {
    REQUIRE(words.size() == 1);
    CHECK_THAT(*words.begin(), Contains(user.own() + ending));
  }
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: whatever starts ranks brings copies to just the nodes that it reaches") {
  Copies user;
  user.change("variables",
              {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
               {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
               {"OMPI_MCA_btl_tcp_if_include", "lo"}});
  json stage = {{"name", "go"}, {"run", {{"shell", tell_file}}}};
  SECTION("three ranks on two nodes, a core for each") {
    stage["resources"] = {{"nodes", 2}, {"tasks", 3}, {"cpus", 1}};
  }
  SECTION("mpiexec") {
    stage["parallel"] = "mpiexec";
  }
  SECTION("a site's own words") {
    user.change("prefix", "mpirun -np {tasks}");
  }
  SECTION("one that hands its own node's variables to all, as MPICH's does") {
    const fs::path starter = user.sabath.folder() / "starter";
    write_text(starter,
               "#!/bin/sh\nexec srun --nodes=2 --ntasks=4 env SLURMD_NODENAME=$SLURMD_NODENAME "
               "\"$@\"\n");
    fs::permissions(starter, fs::perms::owner_all);
    user.change("prefix", starter.string());
  }
  SECTION("one for each node, which starts the ranks") {
    stage["parallel"] = "torchrun";
  }
  const Answer answer = user.sabath({"run", user.recipe(json::array({stage})), "--on", "test"});
  const fs::path run = user.sabath.run_directories().back();
  INFO(answer.errors);
  INFO(text_of(run / "jobs/1/job-1.log-1") << text_of(run / "attempts/1/go/stderr.log"));
  REQUIRE(answer.status == 0);
  CHECK(text_of(run / "jobs/1/job-1.log-1").find("copying") == std::string::npos);
  const auto told = by_node(run / "attempts/1/go/stdout.log");
  REQUIRE(told.size() == 2);
  for (const auto& [node, words] : told) {
    INFO(node);
    REQUIRE(words.size() == 1);
    CHECK_THAT(*words.begin(), Contains(user.own() + ending));
    CHECK(fs::exists(run / "attempts/1" / ("host-" + node + ".json")));
  }
  CHECK(user.record(run)["hosts"].size() == 2);
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: a job that is cancelled leaves no copies") {
  // With the patience that Slurm has by itself: ranks have two seconds in the cluster of the
  // others.
  Copies user(json{{"inputs", true}},
              std::make_unique<SlurmCluster>(
                  std::vector<std::string>{"--nodes", "2", "--set", "KillWait=30"}));
  const std::string recipe =
      user.recipe({{{"name", "go"}, {"run", {{"shell", tell_file + "; sleep 100"}}}}});
  REQUIRE(user.sabath({"run", recipe, "--on", "test", "--detach"}).status == 0);
  const fs::path run = user.sabath.run_directories().back();
  REQUIRE(eventually([&] { return by_node(run / "attempts/1/go/stdout.log").size() == 2; },
                     std::chrono::seconds(40)));
  CHECK(user.copies().size() == 2);
  CHECK(user.sabath({"cancel", run.filename().string()}).status == 0);
  CHECK(user.leaves_nothing());
  CHECK_FALSE(fs::exists(run / "attempts/1/.copies.json"));
}

TEST_CASE("site: copies are removed where a stage fails before another would use them") {
  Copies user;
  const std::string recipe = user.recipe(
      {{{"name", "first"}, {"run", {{"shell", tell_file}}}},
       {{"name", "fails"}, {"run", {{"shell", "test $SABATH_RANK != 3"}}}, {"parallel", "auto"}},
       {{"name", "never"}, {"run", {{"shell", tell_file}}}}});
  CHECK(user.sabath({"run", recipe, "--on", "test"}).status == 1);
  const fs::path run = user.sabath.run_directories().back();
  CHECK_THAT(text_of(run / "attempts/1/first/stdout.log"), Contains(ending));
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: a stage on one node and ranks on several have copies in the same job") {
  Copies user;
  const std::string recipe =
      user.recipe({{{"name", "alone"}, {"run", {{"shell", tell_file}}}, {"parallel", "none"}},
                   {{"name", "ranks"}, {"run", {{"shell", tell_file}}}}});
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  // It could start processes on the other nodes by itself, which would not find the copy.
  CHECK(text_of(run / "attempts/1/alone/stdout.log").find(ending) == std::string::npos);
  CHECK(by_node(run / "attempts/1/ranks/stdout.log").size() == 2);
  CHECK_THAT(text_of(run / "attempts/1/ranks/stdout.log"), Contains(ending));
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: ranks on several nodes have images of environments on their nodes") {
  Copies user(json{{"environments", true}});
  const std::string recipe =
      user.recipe({{{"name", "go"}, {"run", json::array({"where"})}}}, json::array({tools_layer}));
  if (!user.packs(recipe)) return;
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  const auto told = by_node(run / "attempts/1/go/stdout.log");
  REQUIRE(told.size() == 2);
  for (const auto& [node, mounts] : told)
    CHECK(mounts == std::set<std::string>{"1"});
  CHECK(user.leaves_nothing());
}

TEST_CASE("site: a job of one node has its inputs and images there, and leaves nothing") {
  Copies user(json{{"inputs", true}, {"environments", true}});
  const std::string recipe = user.recipe({{{"name", "go"},
                                           {"run", {{"shell", "where; " + tell_file}}},
                                           {"parallel", "none"},
                                           {"resources", {{"cpus", 1}}}}},
                                         json::array({tools_layer}));
  if (!user.packs(recipe)) return;
  const Answer answer = user.sabath({"run", recipe, "--on", "test"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  const std::string said = text_of(run / "attempts/1/go/stdout.log");
  CHECK_THAT(said, Contains(" 1\n") && Contains(user.own() + ending) && Catch::EndsWith(" pear\n"));
  CHECK(user.leaves_nothing());
  // An image that is not what it was is not used, and the run has what the cache has.
  std::vector<fs::path> images;
  for (const auto& entry : fs::recursive_directory_iterator(user.sabath.folder())) {
    if (entry.path().extension() == ".squashfs") images.push_back(entry.path());
  }
  REQUIRE(images.size() == 1);
  fs::permissions(images.front(), fs::perms::owner_all);
  write_text(images.front(), "something else");
  const Answer again = user.sabath({"run", recipe, "--on", "test"});
  INFO(again.errors);
  CHECK(again.status == 0);
  for (const fs::path& one : user.sabath.run_directories()) {
    if (one != run) {
      CHECK_THAT(text_of(one / "jobs/1/job-1.log-1"),
                 Contains("is not what it was when it was made"));
      CHECK_THAT(text_of(one / "attempts/1/go/stdout.log"), Contains(" 0\n"));
    }
  }
}
