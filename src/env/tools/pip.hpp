#pragma once

#include "layers/package_list.hpp"
#include "pip_settings.hpp"
#include "pip_target.hpp"
#include "python.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// A pip that can resolve without installing, and install for another interpreter.
struct PipProgram {
  std::vector<std::string> command{};
  std::string version{};
};

/// uv on the PATH of `variables`.
std::optional<std::filesystem::path> find_uv(const base::Environment& variables);

/// That of `python`, or one that is made beneath `work` where it has none that is new enough: with
/// venv, else with uv, which asks the indexes of `user`. Throws Error{environment}.
PipProgram find_pip(const LayerContext& context,
                    const Python& python,
                    const std::filesystem::path& work,
                    const base::Environment& user,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop);

/// pip, as it asks an index: with the user's ways to packages and nothing else of the user's.
class Pip {
 public:
  /// Throws as find_pip.
  Pip(const LayerErrand& errand,
      const Python& python,
      base::ProcessRunner& processes,
      const base::Environment& user);

  const std::string& version() const { return program_.version; }
  const PipSettings& settings() const { return settings_; }
  /// Resolves `list` for this interpreter, or for `target`. Throws Error{environment|transfer} with
  /// what pip said.
  std::vector<spec::LockedPackage> resolve(const PackageList& list,
                                           const std::optional<PipTarget>& target);
  /// Downloads files, whose digests pip checks; where they lie, in order. Throws
  /// Error{transfer|integrity}.
  std::vector<std::filesystem::path> download(const std::vector<spec::LockedPackage>& packages,
                                              const std::filesystem::path& folder);

 private:
  base::ProcessResult run(std::vector<std::string> program, std::vector<std::string> arguments);
  [[noreturn]] void fail(const std::string& doing, const base::ProcessResult& result) const;

  const LayerErrand& errand_;
  const Python& python_;
  base::ProcessRunner& processes_;
  PipProgram program_;
  PipSettings settings_;
};

/// "numpy==1.26.4 --hash=sha256:..." for each, as --require-hashes wants it.
std::string hashed_requirements(const std::vector<spec::LockedPackage>& packages);

/// Reads pip's installation report. Files without a digest that lie on this machine are hashed.
/// Throws Error{environment} for what has no digest or is no wheel or source distribution.
std::vector<spec::LockedPackage> read_pip_report(const std::string& text, const std::string& place);

}  // namespace sabath::env
