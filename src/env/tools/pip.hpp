#pragma once

#include "pip_settings.hpp"
#include "store/memo.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>
#include <sabath/spec/package_lock.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::env {

/// An interpreter that environments can be made of.
struct Python {
  std::filesystem::path executable{};  ///< not a link, and outside of virtual environments.
  std::string implementation{};        ///< "cpython"
  std::string version{};               ///< "3.11.7"
  std::string tag{};                   ///< "cp311"
  std::string platform{};              ///< "linux-x86_64"
  std::string build{};                 ///< its build description; does not identify it
  std::string pip{};                   ///< version of its pip; empty without one
};

/// Finds the interpreter that the layer asks for on the PATH of its variables, and remembers its
/// answer. Throws Error{environment} that names the interpreters found.
Python find_python(const LayerContext& context, base::ProcessRunner& processes, Memo& memo);

/// A pip that can resolve without installing, and install for another interpreter.
struct PipProgram {
  std::vector<std::string> command{};
  std::string version{};
};

/// Returns uv on the PATH of `variables`, if any.
std::optional<std::filesystem::path> find_uv(const base::Environment& variables);

/// Returns the pip of `python` if it is new enough, else makes one beneath `work`: with venv, else
/// with uv, which asks the indexes of `user`. Throws Error{environment}.
PipProgram find_pip(const LayerContext& context,
                    const Python& python,
                    const std::filesystem::path& work,
                    const base::Environment& user,
                    base::ProcessRunner& processes,
                    const std::stop_token& stop);

/// Requirements of a pip layer, including those of its files.
struct PackageList {
  std::vector<std::string> requirements{};
  std::vector<std::string> constraints{};
  std::set<std::string> requested{};  ///< normalised names
  /// sha256 of "sabath-packages/1\n" and a line for each; a lock names it as its request.
  base::Digest digest{};
};

/// Reads the requirements. Refuses options and URLs: the site decides where packages come from.
/// Throws Error{not_found|usage} that names file and line.
PackageList read_packages(const LayerContext& context);

/// Another machine for which packages are resolved.
struct PipTarget {
  std::string platform{};  ///< "linux-aarch64"
  std::string version{};   ///< Python: "3.12", or with a third number
  std::string tag{};       ///< "cp312"
};

/// Returns the target, completed from `python`. Throws Error{usage}; `place` begins its message.
PipTarget pip_target(const LockTarget& target, const Python& python, const std::string& place);

/// Returns pip's options for wheels of that machine, with a C library as old as RHEL 8's. `folder`
/// is never made.
std::vector<std::string> wheel_options(const PipTarget& target,
                                       const std::filesystem::path& folder);

/// Returns a `python -m pip` that evaluates markers ("platform_machine == 'aarch64'") as that
/// machine would; pip itself uses those of its interpreter. Then it compares the report with the
/// requirements of the packages and fails where packages are missing or superfluous. Arguments of
/// pip follow.
std::vector<std::string> pip_command_for(const PipTarget& target,
                                         const std::filesystem::path& python,
                                         const std::filesystem::path& requirements,
                                         const std::filesystem::path& report);

/// pip that asks an index, with the user's settings for reaching packages only.
class Pip {
 public:
  /// Throws as find_pip.
  Pip(const LockRequest& request,
      const Python& python,
      base::ProcessRunner& processes,
      const base::Environment& user);

  const std::string& version() const { return program_.version; }
  const PipSettings& settings() const { return settings_; }
  /// Resolves `list` for this interpreter, or for `target`. Throws Error{environment|transfer} with
  /// pip's message.
  std::vector<spec::LockedPackage> resolve(const PackageList& list,
                                           const std::optional<PipTarget>& target);
  /// Downloads files, whose digests pip checks. Returns their paths, in order. Throws
  /// Error{transfer|integrity}.
  std::vector<std::filesystem::path> download(const std::vector<spec::LockedPackage>& packages,
                                              const std::filesystem::path& folder);

 private:
  base::ProcessResult run(std::vector<std::string> program, std::vector<std::string> arguments);
  [[noreturn]] void fail(const std::string& doing, const base::ProcessResult& result) const;

  const LockRequest& request_;
  const Python& python_;
  base::ProcessRunner& processes_;
  PipProgram program_;
  PipSettings settings_;
};

/// Returns a line "numpy==1.26.4 --hash=sha256:..." for each package, as --require-hashes needs.
std::string hashed_requirements(const std::vector<spec::LockedPackage>& packages);

/// Reads pip's installation report. Hashes local files without a digest. Throws Error{environment}
/// for packages without a digest or from a URL or folder.
std::vector<spec::LockedPackage> read_pip_report(const std::string& text, const std::string& place);

}  // namespace sabath::env
