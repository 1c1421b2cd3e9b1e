#include "run_software.hpp"

#include "determinism.hpp"
#include "library_questions.hpp"
#include "opened_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/probe/library_versions.hpp>
#include <sabath/probe/loaded_libraries.hpp>
#include <sabath/probe/python_packages.hpp>
#include <sabath/provenance/command_inputs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digest_digits = 16;
constexpr std::size_t most_notes = 50;
/// Size whose hashing takes less than half a second, and is not reported.
constexpr std::uint64_t reported_bytes = std::uint64_t{256} << 20U;

/// Time for digests of opened files: this much, and one hundredth of the run's time.
constexpr std::chrono::nanoseconds hashing_time = std::chrono::milliseconds(20);
constexpr int hashing_share = 100;

/// Packages of all variants that the stages run in.
std::vector<spec::BuiltLayer> layers_of(const spec::RunPlan& plan) {
  std::vector<spec::BuiltLayer> layers;
  for (const spec::BuiltEnvironment& environment : plan.environments())
    layers.insert(layers.end(), environment.layers.begin(), environment.layers.end());
  return layers;
}

/// Made by the run, part of the recipe, or built from source for it.
bool is_own_code(const std::string& path, const spec::RunPlan& plan, const fs::path& run) {
  if (base::is_beneath(path, run) || base::is_beneath(path, plan.recipe_directory)) return true;
  const auto layers = layers_of(plan);
  return std::ranges::any_of(layers, [&](const spec::BuiltLayer& layer) {
    return layer.lock.kind == spec::LayerKind::source && base::is_beneath(path, layer.prefix);
  });
}

bool is_of_environment(const std::string& path, const spec::RunPlan& plan) {
  const auto layers = layers_of(plan);
  return std::ranges::any_of(
      layers, [&](const spec::BuiltLayer& layer) { return base::is_beneath(path, layer.prefix); });
}

/// Compilers of the run's own code; without compiled code, of the programs that the stages began
/// with.
std::string compilers_of(const std::vector<probe::IdentifiedFile>& files,
                         const spec::RunPlan& plan,
                         const fs::path& run) {
  std::set<std::string> own;
  std::set<std::string> first;
  for (const probe::IdentifiedFile& file : files) {
    if (file.is_hidden) continue;
    const bool is_own = is_own_code(file.library.path, plan, run);
    if (!is_own && !file.is_first) continue;
    for (const std::string& name : probe::compilers_of(file.library.path))
      (is_own ? own : first).insert(name);
  }
  return fmt::format("{}", fmt::join(own.empty() ? first : own, ", "));
}

bool is_shared_library(const std::string& name) {
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

/// Programs that differ between hosts and compute nothing: shells, programs that start others,
/// remains of container engines.
bool only_starts_others(const std::string& name) {
  constexpr std::array<std::string_view, 27> names{
      "ash",    "bash", "busybox",     "conmon",      "crun",   "csh",     "dash",
      "docker", "env",  "fish",        "fusermount3", "ksh",    "mksh",    "mpiexec",
      "mpirun", "nice", "numactl",     "orted",       "podman", "prterun", "runc",
      "sabath", "sh",   "singularity", "srun",        "tcsh",   "zsh"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("apptainer") ||
         name.starts_with("slurmstepd") || name.starts_with("hydra_");
}

/// The words of a command, and of a line of shell.
std::vector<std::string> words_of(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& argument : argv) {
    for (std::size_t at = 0; at < argument.size();) {
      const std::size_t end =
          std::min(argument.find_first_of(" \t\n;&|()<>\"'`", at), argument.size());
      if (end > at) words.push_back(argument.substr(at, end - at));
      at = end + 1;
    }
  }
  return words;
}

bool names(const std::vector<std::string>& words, std::string_view file) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return fs::path(word).filename() == file; });
}

/// The Pythons that a command names, or the first line of its script. A shell may activate another
/// one beforehand; that one stays unknown.
std::set<fs::path> pythons_of(const std::vector<std::string>& argv, const std::string& path) {
  std::vector<std::string> words = words_of(argv);
  if (names(words, "activate") || names(words, "conda")) return {};
  if (const auto script = base::find_program(argv.front(), path)) {
    const std::vector<std::string> line = words_of({provenance::interpreter_of(*script)});
    words.insert(words.end(), line.begin(), line.end());
  }
  std::set<fs::path> pythons;
  for (const std::string& word : words) {
    if (!probe::is_python(fs::path(word).filename().string())) continue;
    const auto found = base::find_program(word, path);
    if (found && found->is_absolute() && provenance::interpreter_of(*found).empty())
      pythons.insert(*found);
  }
  return pythons;
}

void shorten(std::vector<std::string>& notes) {
  if (notes.size() <= most_notes) return;
  const std::size_t more = notes.size() - most_notes;
  notes.resize(most_notes);
  notes.push_back(fmt::format("and {} more", more));
}

}  // namespace

RunSoftware::RunSoftware(const spec::RunPlan& plan, fs::path run_directory)
    : plan_(plan),
      run_directory_(std::move(run_directory)),
      opens_({.is_known = known_places(plan, run_directory_)}),
      watch_("/proc",
             [this](int pid, const std::string& stage) { return opens_.look_at(pid, stage); }) {}

base::ProcessResult RunSoftware::run(const std::string& stage,
                                     base::Command command,
                                     base::ProcessRunner& processes,
                                     std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    auto& environment = environments_[stage];
    environment = command.environment.value_or(base::current_environment());
    note_program(stage, environment);
  }
  command.on_start = [&, then = command.on_start](int pid) {
    opens_.begin(stage, pid);
    watch_.begin(stage, pid);
    if (then) then(pid);
  };
  struct Ending {
    RunSoftware& software;
    const std::string& stage;
    Ending(RunSoftware& of, const std::string& name) : software(of), stage(name) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() {
      software.watch_.end(stage);
      software.opens_.end(stage);
    }
  };
  const Ending ending{*this, stage};
  return processes.run(command, std::move(stop));
}

void RunSoftware::note_program(const std::string& stage, const base::Environment& environment) {
  const auto planned = std::ranges::find(plan_.stages, stage, &spec::PlannedStage::name);
  if (planned == plan_.stages.end() || planned->argv.empty()) return;
  if (env::container_of(plan_.environment_of(*planned)) != nullptr) return;  // not of this machine
  const auto found = base::find_program(planned->argv.front(),
                                        base::variable_of(environment, "PATH", "/bin:/usr/bin"));
  std::error_code code;
  if (!found || !found->is_absolute()) return;
  const std::string file = fs::canonical(*found, code).string();
  if (code || only_starts_others(fs::path(file).filename().string())) return;
  if (is_own_code(file, plan_, run_directory_) || is_of_environment(file, plan_)) return;
  const auto stamp = base::stamp_of(file);
  if (!stamp) return;
  probe::MappedFile& program =
      programs_.emplace(file, probe::MappedFile{file, *stamp, true, true}).first->second;
  program.stages.insert(stage);
}

/// Programs that ended before they were examined.
void RunSoftware::add_unseen(std::vector<probe::MappedFile>& files) const {
  for (const auto& [path, program] : programs_) {
    const bool is_seen =
        std::ranges::find(files, program.path, &probe::MappedFile::path) != files.end();
    if (!is_seen) files.push_back(program);
  }
  std::ranges::sort(files, {}, &probe::MappedFile::path);
}

/// Executed files that are not ELF files.
void RunSoftware::add_scripts(std::vector<probe::IdentifiedFile>& files) const {
  for (const auto& [path, program] : programs_) {
    const bool is_known = std::ranges::any_of(files, [&program = program](const auto& file) {
      return file.library.path == program.path;
    });
    if (is_known || provenance::interpreter_of(path).empty() ||
        base::stamp_of(path) != program.stamp)
      continue;
    try {
      const base::Digest digest = base::digest_file(path);
      files.push_back({{path,
                        program.stamp.size_bytes,
                        digest,
                        "",
                        {program.stages.begin(), program.stages.end()}},
                       true,
                       true});
    } catch (const base::Error&) {
      continue;  // it may only be executed
    }
  }
  std::ranges::sort(files,
                    [](const auto& a, const auto& b) { return a.library.path < b.library.path; });
}

probe::IdentifiedFiles RunSoftware::identify(const probe::SeenFiles& seen,
                                             base::Observer& observer,
                                             const std::stop_token& stop) const {
  const std::string task = "hashing loaded libraries";
  std::atomic<std::uint64_t> all = 0;
  auto identified = probe::identify_files(
      seen.files, plan_.state_directory, stop, [&](std::uint64_t done, std::uint64_t total) {
        if (total < reported_bytes) return;
        all = total;
        observer.progress({task, done, total});
      });
  if (all > 0) observer.progress({task, all, all, true, true});
  return identified;
}

/// For each Python outside of all layers that a stage's command names.
void RunSoftware::find_packages(spec::Software& software) const {
  for (const spec::PlannedStage& stage : plan_.stages) {
    const auto environment = environments_.find(stage.name);
    if (environment == environments_.end() || stage.argv.empty()) continue;
    if (env::container_of(plan_.environment_of(stage)) != nullptr) continue;
    const auto path = environment->second.find("PATH");
    for (const fs::path& python : pythons_of(
             stage.argv, path == environment->second.end() ? "/bin:/usr/bin" : path->second)) {
      if (is_of_environment(python, plan_)) continue;
      const auto packages = probe::python_packages(python, environment->second);
      if (!packages) continue;
      if (!software.packages) software.packages.emplace();
      for (const auto& [name, version] : *packages)
        add_versions((*software.packages)[name], version);
    }
  }
}

FoundSoftware RunSoftware::finish(base::ProcessRunner& processes,
                                  const fs::path& program,
                                  const spec::CpuFacts& cpu,
                                  base::Observer& observer,
                                  std::stop_token stop) {
  probe::SeenFiles seen = watch_.finish();
  const probe::SeenOpens opens = opens_.finish();
  add_unseen(seen.files);
  probe::IdentifiedFiles identified = identify(seen, observer, stop);
  add_scripts(identified.files);
  FoundSoftware found;
  found.cpu_s = seen.cpu_s + opens.cpu_s;
  found.software.notes = seen.notes;
  auto& notes = found.software.notes;
  notes.insert(notes.end(), identified.notes.begin(), identified.notes.end());
  LibraryQuestions questions(processes, program, cpu, plan_.state_directory, stop);
  StageValues versions;
  StageValues threads;
  bool has_unasked = false;
  for (const probe::IdentifiedFile& file : identified.files) {
    const spec::LoadedLibrary& library = file.library;
    if (!probe::can_be_asked(fs::path(library.path).filename().string())) continue;
    has_unasked = has_unasked || file.is_hidden;
    if (file.is_hidden) continue;
    for (const std::string& stage : library.stages) {
      const auto answer = questions.ask(library, environments_[stage], notes);
      for (const auto& [name, version] : answer.versions)
        add_versions(versions[name][stage], version);
      for (const auto& [name, number] : answer.threads)
        add_versions(threads[name][stage], number);
    }
  }
  found.software.versions = summarize_by_stage(versions, 0);
  found.threads = summarize_by_stage(threads, 0);
  if (has_unasked) {
    notes.emplace_back("libraries in a container or namespace are not asked for their versions");
  }
  const std::string compilers = compilers_of(identified.files, plan_, run_directory_);
  if (!compilers.empty()) found.software.versions["compiler"] = compilers;
  find_packages(found.software);
  std::set<std::string> loaded;
  for (probe::IdentifiedFile& file : identified.files) {
    loaded.insert(file.library.path);
    found.software.libraries.push_back(std::move(file.library));
  }
  const auto time = hashing_time + (std::chrono::steady_clock::now() - began_) / hashing_share;
  found.opened = opened_facet(opens, loaded, plan_.state_directory, time, stop);
  shorten(notes);
  return found;
}

void add_versions(std::string& known, std::string_view values) {
  constexpr std::string_view between = "; ";
  while (!values.empty()) {
    const std::size_t end = std::min(values.find(between), values.size());
    const std::string value(values.substr(0, end));
    values.remove_prefix(std::min(end + between.size(), values.size()));
    if (("; " + known + "; ").find("; " + value + "; ") != std::string::npos) continue;
    known += (known.empty() ? "" : "; ") + value;
  }
}

spec::Facet libraries_facet(const FoundSoftware& found,
                            const spec::RunPlan& plan,
                            const fs::path& run_directory) {
  spec::Facet facet{"libraries", {}};
  for (const spec::LoadedLibrary& library : found.software.libraries) {
    if (is_own_code(library.path, plan, run_directory)) continue;
    if (is_of_environment(library.path, plan)) continue;
    const std::string name = fs::path(library.path).filename().string();
    const bool is_library = is_shared_library(name);
    if (!is_library && only_starts_others(name)) continue;
    // Neither the environment nor the code tells which build of a host program was used.
    add_versions(facet.items[is_library ? name : std::string(spec::program_item) + name],
                 library.path + "=" + library.digest.hex.substr(0, digest_digits));
  }
  for (const auto& [name, version] : found.software.versions) {
    if (name != "compiler") facet.items[name] = version;
  }
  for (const auto& [name, number] : found.threads)
    facet.items[name + " threads"] = number;
  return facet;
}

void add_software_facets(const FoundSoftware& found,
                         const spec::RunPlan& plan,
                         const fs::path& run_directory,
                         std::vector<spec::Facet>& facets) {
  facets.push_back(libraries_facet(found, plan, run_directory));
  if (!found.opened.name.empty()) facets.push_back(found.opened);
  if (found.software.packages) facets.push_back({"packages", *found.software.packages});
}

}  // namespace sabath::execution
