#pragma once

#include "support/cluster.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::test {

/// A user of sabath whose site "test" is a real cluster.
template <class Scheduler>
class UserOf {
 public:
  UserOf(std::unique_ptr<Scheduler> started, const char* scheduler, nlohmann::json site)
      : cluster(std::move(started)) {
    for (const auto& [name, value] : cluster->variables())
      sabath.environment()[name] = value;
    site.update({{"schema", 1}, {"scheduler", scheduler}});
    if (!site.contains("grace")) site["grace"] = "10s";
    std::filesystem::create_directories(sabath.folder() / "config/sites");
    write_text(sabath.folder() / "config/sites/test.json", site.dump());
  }

  nlohmann::json json_of(std::vector<std::string> arguments, int status = 0) const {
    arguments.emplace_back("--json");
    const Answer answer = sabath(arguments);
    INFO(answer.errors);
    INFO(answer.output);
    REQUIRE(answer.status == status);
    return nlohmann::json::parse(answer.output);
  }
  nlohmann::json record(const std::filesystem::path& directory) const {
    return nlohmann::json::parse(text_of(directory / "record.json"));
  }
  std::string only_study() const {
    std::string id;
    for (const auto& entry : std::filesystem::directory_iterator(sabath.home() / "studies")) {
      REQUIRE(id.empty());
      id = entry.path().filename().string();
    }
    REQUIRE_FALSE(id.empty());
    return id;
  }
  /// The scheduler's id of the first step of a run's or a study's only batch.
  std::string job_of(const std::filesystem::path& folder) const {
    const auto submitted = nlohmann::json::parse(text_of(folder / "jobs/1/submitted.json"));
    return submitted["jobs"][0].get<std::string>();
  }
  std::string state_in(const nlohmann::json& answer, std::size_t run = 0) const {
    return answer["runs"][run]["state"].get<std::string>();
  }

  std::unique_ptr<Scheduler> cluster;
  Sabath sabath{};
};

class SiteUser : public UserOf<SlurmCluster> {
 public:
  explicit SiteUser(std::unique_ptr<SlurmCluster> slurm = SlurmCluster::shared(),
                    nlohmann::json site = nlohmann::json::object())
      : UserOf(std::move(slurm), "slurm", std::move(site)) {}
};

/// A program in front of the real one on PATH, as a shell script.
inline void put_before(SiteUser& user, const std::string& program, const std::string& script) {
  const std::filesystem::path folder = user.sabath.folder() / "before";
  std::filesystem::create_directories(folder);
  write_text(folder / program, "#!/bin/bash\n" + script);
  std::filesystem::permissions(folder / program, std::filesystem::perms::owner_all);
  std::string& path = user.sabath.environment()["PATH"];
  if (path.find(folder.string()) == std::string::npos) path = folder.string() + ":" + path;
}

}  // namespace sabath::test
