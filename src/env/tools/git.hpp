#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// Refuses what is no URL of a repository that sabath talks to, and one that holds a password.
/// Throws Error{usage}.
void require_repository_url(const std::string& url, const std::string& place);

/// A repository inside of another one.
struct Submodule {
  std::string path{};
  std::string url{};
  std::string commit{};
};

/// git, on a stranger's repository: bare, so that no hook, filter, attribute or submodule of its
/// own has a say, and with the protocols of `require_repository_url` only.
class Git {
 public:
  /// Keeps its repositories in `errand.work`. Of the `user`'s environment it takes how hosts are
  /// reached. Throws Error{environment} where there is no git.
  Git(const LayerErrand& errand, base::ProcessRunner& processes, const base::Environment& user);

  /// "git 2.39.5".
  std::string version();
  /// The commit that a branch, a tag, or a full name of one ("refs/tags/v1") is now; a whole commit
  /// is what it is. Throws Error{environment} for none, or where a branch and a tag differ;
  /// Error{transfer}.
  std::string resolve(const std::string& url, const std::string& ref);
  /// Brings a commit into a repository of its own and returns its folder. Throws Error{transfer}.
  std::filesystem::path fetch(const std::string& url, const std::string& commit);
  /// Of a commit that lies in `repository`; their URLs are whole and checked.
  std::vector<Submodule> submodules(const std::filesystem::path& repository,
                                    const std::string& url,
                                    const std::string& commit);
  /// Writes a commit's files as a plain tar, beneath the folder `prefix` ("a/b/"), byte for byte
  /// the same everywhere.
  void archive(const std::filesystem::path& repository,
               const std::string& commit,
               const std::filesystem::path& file,
               const std::string& prefix = {});

 private:
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::filesystem::path& repository);
  /// Ends with an error where git does; `doing` names it to people.
  std::string must(std::vector<std::string> arguments,
                   const std::filesystem::path& repository,
                   const std::string& doing);
  [[noreturn]] void fail(const base::ProcessResult& result, const std::string& doing) const;

  const LayerErrand& errand_;
  base::ProcessRunner& processes_;
  base::Environment variables_;
  std::string program_;
  std::string place_;
  int repositories_ = 0;
};

/// "../other.git" of a submodule, as seen from its parent's URL; what is whole stays.
std::string submodule_url(const std::string& parent, const std::string& url);

}  // namespace sabath::env
