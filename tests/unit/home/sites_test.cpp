#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/home/sites.hpp>

#include <catch2/catch.hpp>

#include <fstream>

using namespace sabath;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

class Settings {
 public:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((home_ / file).parent_path());
    std::ofstream(home_ / file) << text;
  }
  home::Sites sites() const { return {home_ / "config", fs::path(SABATH_SOURCE_DIR) / "catalog"}; }
  fs::path operator/(const std::string& name) const { return home_ / name; }

 private:
  test::TempHome home_;
};

const std::string plain_site = R"({"schema": 1, "scheduler": "slurm"})";

}  // namespace

TEST_CASE("sites: a site is found by its name") {
  Settings settings;
  settings.write("config/sites/gpu.json", plain_site);
  settings.write("config/sites/wrong.json", "{}");
  CHECK(settings.sites().site("gpu").name == "gpu");
  auto error = error_of([&] { settings.sites().site("gpus"); });
  CHECK(error.kind() == base::ErrorKind::not_found);
  CHECK(error.hint() == "did you mean 'gpu'?");
  error = error_of([&] { settings.sites().site("perlmutter"); });
  const std::string there =
      "it would be described in " + (settings / "config/sites").string() + "; there is gpu, wrong";
  CHECK(error.hint() == there);
  error = error_of([&] { settings.sites().site("local"); });
  CHECK(error.hint() == "runs on this machine need none: leave out --on; " + there);
  error = error_of([&] { settings.sites().scheduler("local"); });
  CHECK(contains(error.hint(), "leave out --on"));
  CHECK(contains(error.hint(), ", lsf, "));
  CHECK(contains(error.hint(), ", slurm"));
  CHECK_THROWS_AS(settings.sites().site("../sites/gpu"), base::Error);
  std::vector<home::BadDocument> bad;
  const auto sites = settings.sites().sites(bad);
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].path == settings / "config/sites/gpu.json");
  REQUIRE(bad.size() == 1);
  CHECK(contains(bad[0].problem, "wrong.json"));
}

TEST_CASE("sites: one that would write a secret into job scripts is refused, with its place") {
  Settings settings;
  const auto refusal = [&](const std::string& member) {
    settings.write("config/sites/gpu.json",
                   R"({"schema": 1, "scheduler": "slurm", )" + member + "}");
    return error_of([&] { settings.sites().site("gpu"); });
  };
  const auto check =
      [&](const std::string& member, const std::string& place, const std::string& secret) {
        const base::Error error = refusal(member);
        CHECK(contains(error.what(), (settings / "config/sites/gpu.json").string() + ":/" + place));
        CHECK(contains(error.what(), "looks like a secret"));
        CHECK_FALSE(contains(error.what(), secret));
        CHECK(contains(error.hint(), "setup"));
      };
  check(R"("variables": {"WANDB_API_KEY": "abcd1234efgh5678abcd1234"})",
        "variables/WANDB_API_KEY",
        "abcd1234");
  check(R"("variables": {"TOKEN_OF_ADA": "abc123def456"})", "variables/TOKEN_OF_ADA", "abc123");
  check(R"("variables": {"HUB": "hf_0123456789abcdefghijABCDEFGHIJ"})", "variables/HUB", "hf_01");
  check(R"("setup": ["true", "export PGPASSWORD=\"hunter2secret9x\""])", "setup/1", "hunter2");
  check(R"("options": ["--export=HF_TOKEN=hunter2secret9xyz"])", "options/0", "hunter2");
  check(R"("prefix": "srun --env DB_PASS=hunter2secret9x")", "prefix", "hunter2");
}

TEST_CASE("sites: references to secrets and other variables are none") {
  Settings settings;
  settings.write("config/sites/gpu.json",
                 R"x({"schema": 1, "scheduler": "slurm",
                     "variables": {"HF_TOKEN_PATH": "/home/ada/.token", "OMP_PLACES": "cores",
                                   "TOKENIZERS_PARALLELISM": "false", "HF_TOKEN": "/run/token"},
                     "setup": [". /home/ada/keys.sh", "export HF_TOKEN=$(cat /home/ada/.token)"],
                     "options": ["--export=ALL,HF_TOKEN", "--licenses=scratch"]
})x");
  CHECK(settings.sites().site("gpu").variables.size() == 4);
}

TEST_CASE("sites: every scheduler that ships is right") {
  const Settings settings;
  std::vector<home::BadDocument> bad;
  const auto schedulers = settings.sites().schedulers(bad);
  for (const auto& document : bad)
    FAIL_CHECK(document.problem);
  CHECK_FALSE(schedulers.empty());
  CHECK(settings.sites().scheduler("slurm").description == "Slurm");
}

TEST_CASE("sites: an own scheduler wins over the one that ships") {
  Settings settings;
  std::string text = base::read_file(fs::path(SABATH_SOURCE_DIR) / "catalog/schedulers/slurm.json");
  text.replace(text.find("\"Slurm\""), 7, "\"Ours!\"");
  settings.write("config/schedulers/slurm.json", text);
  CHECK(settings.sites().scheduler("slurm").description == "Ours!");
  std::vector<home::BadDocument> bad;
  for (const auto& document : settings.sites().schedulers(bad)) {
    if (document.scheduler.name == "slurm") CHECK(document.scheduler.description == "Ours!");
  }
  CHECK(error_of([&] { settings.sites().scheduler("slrum"); }).hint() == "did you mean 'slurm'?");
}

TEST_CASE("sites: an own tool wins over the one that ships, and others cannot write it") {
  Settings settings;
  CHECK(settings.sites().tools().size() == 6);
  std::string text = base::read_file(fs::path(SABATH_SOURCE_DIR) / "catalog/tools/scp.json");
  text.replace(text.find("files of hosts"), 5, "Files");
  settings.write("config/tools/scp.json", text);
  const auto tools = settings.sites().tools();
  REQUIRE(tools.size() == 6);
  CHECK(tools[3].name == "scp");
  CHECK(contains(tools[3].description, "Files of hosts"));
  const fs::path file = settings / "config/tools/scp.json";
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK(contains(error_of([&] { settings.sites().tools(); }).what(), "cannot be trusted"));
}

TEST_CASE("sites: what others could have written is not executed") {
  Settings settings;
  settings.write("config/sites/gpu.json", plain_site);
  fs::permissions(
      settings / "config/sites/gpu.json", fs::perms::others_write, fs::perm_options::add);
  const auto error = error_of([&] { settings.sites().site("gpu"); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "cannot be trusted"));
  std::vector<home::BadDocument> bad;
  CHECK(settings.sites().sites(bad).empty());
  CHECK(bad.size() == 1);
}
