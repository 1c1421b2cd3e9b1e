#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/env/environment_layer.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// The whole URL of a submodule: "../other.git" as seen from its parent, and what .gitmodules names
/// by ssh by https where the parent is fetched so.
std::string submodule_url(const std::string& parent, const std::string& url);

/// git, on a stranger's repository. The repository is bare, so that its hooks, filters, attributes
/// and submodules have no effect. Few protocols are allowed.
class Git {
 public:
  /// Keeps its repositories in `request.work`. Of the `user`'s environment it takes how hosts are
  /// reached. Throws Error{environment} where git is missing.
  Git(const LockRequest& request, base::ProcessRunner& processes, const base::Environment& user);

  /// "git 2.39.5".
  std::string version();
  /// The commit that a branch, a tag, or a full name of one ("refs/tags/v1") is now; a whole commit
  /// is what it is. Throws Error{environment} for none, or where a branch and a tag differ;
  /// Error{transfer}.
  std::string resolve(const std::string& url, const std::string& ref);
  /// Writes the files of a commit and of all its submodules as one plain tar, the same bytes for
  /// the same commit everywhere. Throws Error{transfer|environment}.
  void write_tree(const std::string& url,
                  const std::string& commit,
                  const std::filesystem::path& file);

 private:
  /// A repository inside of another one.
  struct Submodule {
    std::string path{};
    std::string url{};
    std::string commit{};
  };

  /// Brings a commit into a repository of its own and returns its folder. Throws Error{transfer}.
  std::filesystem::path fetch(const std::string& url, const std::string& commit);
  /// Returns those of a commit in `repository`; their URLs are whole and checked.
  std::vector<Submodule> submodules(const std::filesystem::path& repository,
                                    const std::string& url,
                                    const std::string& commit);
  /// Writes a commit's files as a plain tar, beneath the folder `prefix` ("a/b/").
  void archive(const std::filesystem::path& repository,
               const std::string& commit,
               const std::filesystem::path& file,
               const std::string& prefix = {});
  void add_submodules(const std::filesystem::path& repository,
                      const std::string& url,
                      const std::string& commit,
                      const std::string& folder,
                      const std::filesystem::path& file,
                      int depth);
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::filesystem::path& repository);
  /// Ends with an error where git does; `doing` names it to people.
  std::string must(std::vector<std::string> arguments,
                   const std::filesystem::path& repository,
                   const std::string& doing);
  [[noreturn]] void fail(const base::ProcessResult& result, const std::string& doing) const;

  const LockRequest& request_;
  base::ProcessRunner& processes_;
  base::Environment variables_;
  std::string program_;
  std::string place_;
  int repositories_ = 0;
};

}  // namespace sabath::env
