#pragma once

#include "conda_request.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// micromamba and mamba 2 are one program under two names; mamba 1 takes what conda takes.
enum class CondaFamily { mamba, conda };

struct CondaProgram {
  std::string name{};  ///< "micromamba"
  std::filesystem::path path{};
  std::string version{};  ///< "2.0.5"
  CondaFamily family = CondaFamily::conda;

  std::string identity() const { return name + " " + version; }
};

/// The first of micromamba, mamba and conda on the PATH of the layer. Throws Error{environment}
/// that says what was looked for.
CondaProgram find_conda(const LayerContext& context, base::ProcessRunner& processes);

/// Throws Error{integrity} where `file` is not the package, as far as it has digests.
void check_digests(const CondaPackage& package,
                   const std::filesystem::path& file,
                   const std::string& place);

/// What such a program sees: of the user's settings and folders nothing. Its own lie in `work`.
base::Environment conda_variables(base::Environment variables,
                                  const CondaProgram& program,
                                  const std::vector<std::string>& channels,
                                  const std::filesystem::path& work);

/// Writes an explicit list of files that lie on this machine, under the names and in the folders of
/// their packages, beneath `work`, and returns its path.
std::filesystem::path write_local_list(const std::vector<CondaPackage>& packages,
                                       const std::vector<std::filesystem::path>& files,
                                       const std::filesystem::path& work);

/// The command that makes `prefix`, which must not exist, out of an explicit list.
std::vector<std::string> install_command(const CondaProgram& program,
                                         const std::filesystem::path& list,
                                         const std::filesystem::path& prefix);

/// A program as it asks channels: with the user's ways to a network and nothing else of the user's.
class CondaEngine {
 public:
  /// Throws as find_conda.
  CondaEngine(const LayerErrand& errand,
              base::ProcessRunner& processes,
              const base::Environment& user);

  const CondaProgram& program() const { return program_; }
  /// What it believes of this machine, which packages may ask for: "__glibc=2.36=0 __unix=0=0".
  std::string virtual_packages();
  /// Resolves for the platform that channels call `subdir`; the packages are sorted by name. Throws
  /// Error{environment|transfer} with what it said.
  std::vector<CondaPackage> solve(const CondaRequest& request, const std::string& subdir);
  /// Downloads a package and checks the digests that it has. Throws Error{transfer|integrity}.
  std::filesystem::path download(const CondaPackage& package);

 private:
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::vector<std::string>& channels,
                          const std::string& subdir);
  [[noreturn]] void fail(const std::string& doing, const base::ProcessResult& result) const;

  const LayerErrand& errand_;
  base::ProcessRunner& processes_;
  const base::Environment& user_;
  CondaProgram program_;
};

}  // namespace sabath::env
