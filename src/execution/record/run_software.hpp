#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/probe/library_watch.hpp>
#include <sabath/probe/loaded_libraries.hpp>
#include <sabath/probe/open_watch.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::execution {

/// What was really loaded by a run, and what it costs to know.
struct FoundSoftware {
  spec::Software software{};
  std::map<std::string, std::string> threads{};  ///< by library: how many it would use
  double cpu_s = 0;                              ///< of looking while the stages ran
  spec::Facet opened{};                          ///< files that nothing else names
};

/// "1.0; 2.0": adds those of `values`, one or several, that are not told yet.
void add_told(std::string& told, std::string_view values);

/// Finds out what the processes of a run's stages load and open.
class RunSoftware {
 public:
  /// `plan` must outlive this.
  RunSoftware(const spec::RunPlan& plan, std::filesystem::path run_directory);

  /// Runs a stage's command, and has its processes looked at meanwhile. The program that it names
  /// first counts as seen, however soon it ends, and a script does, too.
  base::ProcessResult run(const std::string& stage,
                          base::Command command,
                          base::ProcessRunner& processes,
                          std::stop_token stop);
  /// Once all stages have ended: digests of what was loaded and opened, and what the libraries say
  /// of themselves. Those are asked by processes of `program`, this sabath.
  FoundSoftware finish(base::ProcessRunner& processes,
                       const std::filesystem::path& program,
                       const spec::CpuFacts& cpu,
                       base::Observer& observer,
                       std::stop_token stop);

 private:
  void note_program(const std::string& stage, const base::Environment& environment);
  void find_packages(spec::Software& software) const;
  void add_unseen(std::vector<probe::MappedFile>& files) const;
  void add_scripts(std::vector<probe::IdentifiedFile>& files) const;
  probe::IdentifiedFiles identify(const probe::SeenFiles& seen,
                                  base::Observer& observer,
                                  const std::stop_token& stop) const;

  const spec::RunPlan& plan_;
  std::filesystem::path run_directory_;
  std::mutex mutex_;
  std::map<std::string, base::Environment> environments_{};  ///< by stage
  std::map<std::string, probe::MappedFile> programs_{};      ///< that stages began with, by path
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  probe::OpenWatch opens_;
  probe::LibraryWatch watch_;  ///< last: its thread looks with `opens_`, too
};

/// Shared libraries by name and programs as "program.NAME", "PATH=DIGEST" of each file, that were
/// loaded and are neither of the environment nor of the recipe nor of the run itself, whose own
/// facets say what they are; and what the libraries said of themselves. No shells, and nothing else
/// that only starts others.
spec::Facet libraries_facet(const FoundSoftware& found,
                            const spec::RunPlan& plan,
                            const std::filesystem::path& run_directory);

/// That, `opened`, and `packages` where a Python of no layer was seen: name -> version.
void add_software_facets(const FoundSoftware& found,
                         const spec::RunPlan& plan,
                         const std::filesystem::path& run_directory,
                         std::vector<spec::Facet>& facets);

}  // namespace sabath::execution
