#include "linked_libraries.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t batch = 64;

/// Returns true for a program or a shared library: ELF of type executable or dynamic.
bool is_linked(const fs::path& path) {
  std::array<char, EI_NIDENT + sizeof(Elf64_Half)> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), head.size())) return false;
  Elf64_Half type = 0;
  std::memcpy(&type, head.data() + EI_NIDENT, sizeof type);
  return std::string_view(head.data(), SELFMAG) == ELFMAG && (type == ET_EXEC || type == ET_DYN);
}

std::vector<fs::path> linked_files(const fs::path& prefix) {
  std::vector<fs::path> files;
  std::error_code code;
  fs::recursive_directory_iterator at(prefix, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    std::error_code kind_code;
    if (at->symlink_status(kind_code).type() == fs::file_type::regular && is_linked(at->path())) {
      files.push_back(at->path());
    }
  }
  if (code) base::throw_errno(prefix.string(), "cannot check", code.value());
  std::ranges::sort(files);
  return files;
}

/// Libraries with which the programs and libraries of a prefix are linked.
struct LinkedLibraries {
  std::map<std::string, std::string> found{};  ///< "library.libm.so.6" -> its path
  std::vector<std::string> missing{};          ///< "bin/tool needs libx.so.1"
};

/// Lines are "PATH:" where ldd was given several files, then "\tNAME => PATH (ADDRESS)" or
/// "\tNAME => not found".
void read_answer(const std::string& answer,
                 fs::path file,
                 const fs::path& prefix,
                 LinkedLibraries& libraries) {
  for (const std::string& line : base::split(answer, '\n')) {
    if (line.starts_with('/') && line.ends_with(':')) {
      file = line.substr(0, line.size() - 1);
      continue;
    }
    const auto arrow = line.find(" => ");
    if (!line.starts_with('\t') || arrow == std::string::npos) continue;
    const std::string name = line.substr(1, arrow - 1);
    std::string path = line.substr(arrow + 4);
    if (path == "not found") {
      libraries.missing.push_back(file.lexically_relative(prefix).string() + " needs " + name);
    } else {
      libraries.found["library." + name] = path.substr(0, path.rfind(" (0x"));
    }
  }
}

}  // namespace

std::map<std::string, std::string> check_libraries(
    const LayerBuild& build,
    base::ProcessRunner& processes,
    const base::Environment& environment,
    const std::string& hint,
    const std::function<bool(const std::string& text)>& may_be_missing) {
  const auto ldd = base::find_program("ldd", search_path(environment));
  if (!ldd) return {};
  const fs::path& prefix = build.prefix;
  const std::vector<fs::path> files = linked_files(prefix);
  LinkedLibraries libraries;
  for (std::size_t first = 0; first < files.size(); first += batch) {
    const std::size_t last = std::min(files.size(), first + batch);
    base::Command question;
    question.argv = {ldd->string()};
    for (std::size_t i = first; i < last; ++i)
      question.argv.push_back(files[i].string());
    question.environment = environment;
    question.deadline = std::chrono::minutes(2);
    question.capture_limit = 8U << 20U;
    // Its exit status says only whether every file is dynamic.
    const base::ProcessResult result = run_unless_stopped(
        processes, question, build.stop, prefix.string() + ": stopped while checking");
    read_answer(result.output, files[first], prefix, libraries);
  }
  if (may_be_missing) std::erase_if(libraries.missing, may_be_missing);
  if (libraries.missing.empty()) return libraries.found;
  throw_environment(place_of(build.lock.name) +
                        ": shared libraries are not found: " + in_words(libraries.missing),
                    hint);
}

}  // namespace sabath::env
