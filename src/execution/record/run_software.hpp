#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/probe/library_watch.hpp>
#include <sabath/probe/loaded_libraries.hpp>
#include <sabath/probe/open_watch.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/software.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::execution {

/// Software that a run loaded, and the cost of finding out.
struct FoundSoftware {
  spec::Software software{};
  std::map<std::string, std::string> threads{};  ///< that a library would use, by library
  double cpu_s = 0;                              ///< of the examination
  spec::Facet opened{};                          ///< files that no other facet names
};

/// Adds to "1.0; 2.0" those of `values` that are missing.
void add_versions(std::string& known, std::string_view values);

/// Finds the libraries that the processes of a run's stages load, and the files that they open.
class RunSoftware {
 public:
  /// `plan` must outlive this.
  RunSoftware(const spec::RunPlan& plan, std::filesystem::path run_directory);

  /// Runs a stage's command and examines its processes meanwhile. The program that it names first
  /// counts as seen, however soon it ends, and so does a script.
  base::ProcessResult run(const std::string& stage,
                          base::Command command,
                          base::ProcessRunner& processes,
                          std::stop_token stop);
  /// After all stages: digests of what was loaded and opened, and what the libraries report of
  /// themselves. Processes of `program`, this sabath, ask the libraries.
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
  probe::LibraryWatch watch_;  ///< last: its thread uses `opens_`
};

/// Returns the loaded libraries by name, and programs as "program.NAME", as "PATH=DIGEST" of each
/// file; and what the libraries reported. Without what belongs to the environment, the recipe or
/// the run, which have facets of their own, and without shells and other programs that only start
/// programs.
spec::Facet libraries_facet(const FoundSoftware& found,
                            const spec::RunPlan& plan,
                            const std::filesystem::path& run_directory);

/// Adds that facet, `opened`, and `packages` (name -> version) where a Python outside of all layers
/// was seen.
void add_software_facets(const FoundSoftware& found,
                         const spec::RunPlan& plan,
                         const std::filesystem::path& run_directory,
                         std::vector<spec::Facet>& facets);

}  // namespace sabath::execution
