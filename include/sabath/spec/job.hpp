#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace sabath::spec {

/// One start of a scheduler's job.
struct JobStart {
  std::string id{};      ///< as the scheduler's tools take it, of an array that of the task
  int restarts = 0;      ///< how often the scheduler had started the job before
  std::size_t step = 1;  ///< of the batch, from 1

  bool operator==(const JobStart&) const = default;
};

/// Which lines of the site's setup failed: "line 1 ended with status 1". Set by the job's script.
inline constexpr const char* job_setup_variable = "SABATH_JOB_SETUP";

/// A scheduler's job that executed a run, or one step of it, as the job itself saw it.
struct JobFacts {
  std::string scheduler{};
  JobStart start{};
  std::string batch{};         ///< BatchPlan::batch_id
  std::string node{};          ///< where `exec` was
  std::string nodes{};         ///< of the job, as the scheduler writes them
  std::string cpus_allowed{};  ///< to `exec`, as the kernel writes them: "0-3,8"
  /// What the scheduler set to say what it gave: SLURM_CPU_BIND, CUDA_VISIBLE_DEVICES ...
  std::map<std::string, std::string> variables{};
  std::optional<bool> shared{};  ///< several runs divided its cores among them

  bool operator==(const JobFacts&) const = default;
};

/// An execution of a run that ended without ending the run: what is known of it.
struct AttemptRecord {
  int number = 0;
  std::string state{};    ///< "interrupted" by a signal, or "lost": it was ended without a word
  std::string message{};  ///< why
  std::string node{};
  JobStart job{};
  std::string stage{};  ///< that it was at
  std::string seen{};   ///< RFC 3339: the last that it said

  bool operator==(const AttemptRecord&) const = default;
};

}  // namespace sabath::spec
