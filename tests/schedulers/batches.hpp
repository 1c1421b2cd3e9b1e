#pragma once

#include "support/cluster.hpp"
#include "support/program.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/launch/scheduler.hpp>

#include <filesystem>
#include <string>

namespace sabath::test {

inline const std::stop_token never;

inline base::Environment environment_of(const Cluster& cluster) {
  base::Environment environment = base::current_environment();
  for (const auto& [name, value] : cluster.variables())
    environment[name] = value;
  return environment;
}

/// A scheduler's description that ships.
inline spec::SchedulerDescription shipped(const std::string& name) {
  const auto path =
      std::filesystem::path(SABATH_SOURCE_DIR) / "catalog" / "schedulers" / (name + ".json");
  return spec::parse_scheduler(base::read_file(path), path.string());
}

/// launch::Scheduler at work: jobs that run a line of shell in a folder of the test's own.
struct Batches {
  Batches(const Cluster& of, const std::string& name, const spec::Site& site = {})
      : cluster(of), scheduler(shipped(name), site, processes, environment_of(of)) {}

  launch::BatchJob job(const std::string& line) const {
    static int number = 0;
    const std::string stem = "b" + std::to_string(++number);
    launch::BatchJob job;
    job.name = "test";
    job.comment = stem + "-" + folder.path().filename().string();
    job.script = folder.path() / (stem + ".sh");
    job.log = folder.path() / (stem + "-{task}.log");
    job.argv = {"/bin/sh", "-c", line, "sh", "{task}"};
    return job;
  }
  launch::JobView view(const std::string& id) { return scheduler.poll({id}, never).at(id); }
  bool reaches(const std::string& id, launch::JobPhase phase) {
    return eventually([&] { return view(id).phase == phase; }, std::chrono::seconds(60));
  }
  std::string log(const launch::BatchJob& job, const std::string& task = "1") const {
    std::string path = job.log.string();
    return text_of(path.replace(path.find("{task}"), 6, task));
  }

  const Cluster& cluster;
  TempHome folder{};
  base::SystemProcessRunner processes{};
  launch::Scheduler scheduler;
};

}  // namespace sabath::test
