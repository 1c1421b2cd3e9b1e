#include "provenance_text.hpp"

#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sabath::report {
namespace {

std::vector<std::string> named(const std::map<std::string, std::string>& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values)
    parts.push_back(name + " = " + value);
  return parts;
}

std::string packages_text(const spec::BuiltLayer& layer) {
  if (!layer.packages || !layer.lock_file) return {};
  return fmt::format(
      ", {} package(s), lock {}", layer.packages->size(), layer.lock_file->hex.substr(0, 16));
}

struct Label {
  std::string_view key{};
  std::string_view text{};
};
constexpr std::array<Label, 16> labels{{{"compiler", "compiler"},
                                        {"blas", "BLAS"},
                                        {"mpi", "MPI"},
                                        {"openmp", "OpenMP"},
                                        {"cuda_driver", "CUDA driver"},
                                        {"cuda", "CUDA"},
                                        {"cudnn", "cuDNN"},
                                        {"cublas", "cuBLAS"},
                                        {"cufft", "cuFFT"},
                                        {"nccl", "NCCL"},
                                        {"rocm", "ROCm"},
                                        {"rocblas", "rocBLAS"},
                                        {"rccl", "RCCL"},
                                        {"hdf5", "HDF5"},
                                        {"netcdf", "NetCDF"},
                                        {"fftw", "FFTW"}}};

void add_versions(LabelledLines& lines, std::map<std::string, std::string> versions) {
  for (const Label& label : labels) {
    // Where stages had different ones: "blas in stage train".
    std::erase_if(versions, [&](const auto& version) {
      const auto& [name, value] = version;
      if (!name.starts_with(label.key)) return false;
      const std::string rest = name.substr(label.key.size());
      if (!rest.empty() && !rest.starts_with(" in stage ")) return false;
      lines.add(std::string(label.text) + rest, value);
      return true;
    });
  }
  for (const auto& [name, version] : versions)
    lines.add(name, version);
}

/// Adds the recipe, the commit with its differences, and kept copies.
void add_sources(LabelledLines& lines, const spec::RunRecord& record) {
  lines.add("recipe", record.recipe_name + "  " + record.recipe_digest.text());
  if (!record.code_state) return;
  const spec::CodeState& code = *record.code_state;
  if (code.git) {
    const spec::GitState& git = *code.git;
    lines.add("commit",
              "{}{}{}",
              git.commit.empty() ? "none yet" : git.commit,
              git.branch.empty() ? "" : " on " + git.branch,
              git.dirty_files == 0 ? ", nothing changed"
                                   : fmt::format(", {} file(s) not as committed", git.dirty_files));
    for (const auto& [name, url] : git.remotes)
      lines.add("remote", name + "  " + url);
    if (!git.diff.empty()) lines.add("changes", "kept in " + git.diff);
    if (!git.no_diff.empty()) lines.add("changes", "not kept: " + git.no_diff);
  }
  if (!code.no_git.empty()) lines.add("commit", "unknown: " + code.no_git);
  lines.add("code",
            code.kept.empty() ? "not kept: " + code.not_kept : code.kept + "  " + code.tree.text());
  for (const spec::CodeChange& change : code.changed.value_or(std::vector<spec::CodeChange>{})) {
    const std::string files = fmt::format("{}", fmt::join(change.files, ", "));
    lines.add("changed", change.seen + (files.empty() ? "" : ": " + files));
  }
  const spec::Facet* const facet = record.facet("code");
  if (facet == nullptr) return;
  for (const auto& [item, state] : facet->items) {
    if (spec::is_external_code(item)) lines.add("elsewhere", item + "  " + state);
  }
}

void add_data(LabelledLines& lines, const spec::RunRecord& record) {
  for (const spec::PlannedInput& input : record.inputs) {
    lines.add("data",
              input.role + ": " + input.asset + " " + input.version + "  " + input.digest.text());
  }
}

void add_environment(LabelledLines& lines,
                     const std::string& place,
                     const spec::BuiltEnvironment& environment) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    lines.add("environment",
              "{}{} ({})  {}{}",
              place,
              layer.lock.name,
              spec::to_string(layer.lock.kind),
              layer.lock.key.hex.substr(0, 16),
              packages_text(layer));
    for (const std::string& drift : layer.drift())
      lines.add_whole("drift", drift);
  }
}

}  // namespace

void add_code(LabelledLines& lines, const spec::RunRecord& record) {
  add_sources(lines, record);
  add_data(lines, record);
}

void add_software(LabelledLines& lines, const spec::RunRecord& record) {
  add_environment(lines, "", record.environment);
  if (record.variants) {
    for (const auto& [variant, environment] : *record.variants)
      add_environment(lines, variant + "/", environment);
  }
  if (!record.software) return;
  const spec::Software& software = *record.software;
  add_versions(lines, software.versions);
  lines.add("libraries",
            "{} program(s) and libraries were seen loaded{}; --libraries lists them",
            software.libraries.size(),
            software.notes.empty() ? "" : fmt::format(", with {} note(s)", software.notes.size()));
  if (software.packages) {
    lines.add("packages",
              "{} of a Python that is of no layer; --libraries lists them",
              software.packages->size());
  }
  const spec::Facet* const opened = record.facet(spec::opened_facet);
  if (opened == nullptr) return;
  const auto files = std::ranges::count_if(
      opened->items, [](const auto& item) { return spec::is_opened_path(item.first); });
  const auto method = opened->items.find(std::string(spec::opened_method));
  lines.add("opened",
            "{} other file(s), seen by {}; --libraries lists them",
            files,
            method == opened->items.end() ? "?" : method->second);
}

void add_knobs(LabelledLines& lines, const spec::RunRecord& record) {
  std::vector<std::string> parameters;
  for (const auto& [name, value] : record.parameters)
    parameters.push_back(name + " = " + spec::shown_text(spec::to_string(value)));
  lines.add_list("parameters", parameters);
  if (record.seed.value) {
    lines.add("seed",
              "{} ({})",
              *record.seed.value,
              record.seed.origin == "drawn" ? "drawn from the system" : "given");
  }
  if (const spec::Facet* const session = record.facet(spec::session_facet)) {
    lines.add(
        "session", "{} inherited variables, by digests of their values", session->items.size());
  }
  if (!record.determinism) return;
  const spec::Determinism& determinism = *record.determinism;
  lines.add_list("seeds", named(determinism.seeds));
  lines.add_list("switches", named(determinism.switches));
  lines.add_list("threads", named(determinism.threads));
  if (determinism.sample_order) lines.add("sample order", *determinism.sample_order);
}

std::string libraries_text(const spec::Software& software) {
  base::TextTable table({"loaded", ">size", "digest", "build id", "stages"});
  for (const spec::LoadedLibrary& library : software.libraries) {
    table.add({library.path,
               base::format_bytes(library.size_bytes),
               library.digest.hex.substr(0, 16),
               library.build_id.substr(0, 16),
               fmt::format("{}", fmt::join(library.stages, ", "))});
  }
  std::string text = table.empty() ? "" : table.text();
  if (software.packages && !software.packages->empty()) {
    base::TextTable packages({"package", "version"});
    for (const auto& [name, version] : *software.packages)
      packages.add({name, version});
    text += (text.empty() ? "" : "\n") + packages.text();
  }
  for (const std::string& note : software.notes)
    text += "  note: " + base::printable(note) + "\n";
  return text;
}

std::string opened_text(const spec::Facet& opened) {
  base::TextTable table({"opened", "content"});
  constexpr std::size_t shown = 40;  // size and the beginning of the digest
  std::string notes;
  for (const auto& [item, value] : opened.items) {
    if (spec::is_opened_path(item)) table.add({base::printable(item), value.substr(0, shown)});
    if (item.starts_with(spec::opened_note)) notes += "  note: " + base::printable(value) + "\n";
  }
  return (table.empty() ? "" : table.text()) + notes;
}

}  // namespace sabath::report
