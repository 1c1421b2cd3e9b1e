#pragma once

#include "file_tool.hpp"

#include <filesystem>
#include <string>

namespace sabath::fetch {

/// One tree to be brought by a program.
struct TreeJob {
  ToolUrl url{};
  std::filesystem::path folder{};
  Credentials credentials{};
};

/// A fetcher whose program also brings all that is beneath a URL: one that ends with a slash.
class TreeTool : public FileTool {
 public:
  using FileTool::FileTool;

  bool names_many(const std::string& url) const override;
  bool takes_trees() const override { return true; }
  Outcome fetch_tree(const std::string& url,
                     const std::filesystem::path& folder,
                     base::Observer& observer,
                     std::stop_token stop) override;

 protected:
  /// Brings the tree. Nothing: it is there.
  virtual std::optional<Failure> bring_tree(const TreeJob& job,
                                            const std::string& task,
                                            base::Observer& observer,
                                            const std::stop_token& stop) = 0;
  /// Runs a call for a tree; a Failure when it did not end well.
  std::optional<Failure> run_for_tree(const ToolCall& call,
                                      const std::string& task,
                                      base::Observer& observer,
                                      const std::stop_token& stop,
                                      ToolEnd* ended = nullptr);
};

/// Throws what a listing that failed throws: Error{not_found|access|transfer}.
[[noreturn]] void throw_failure(const ToolUrl& url, const Failure& failure);

/// Sorts by path and keeps the first `limit`. Throws Error{transfer} where a path would leave its
/// folder.
void order_listing(std::vector<ListedFile>& files,
                   std::optional<std::uint64_t> limit,
                   const ToolUrl& url);

/// `path` percent-encoded for a URL, but for its slashes.
std::string encoded_path(const std::string& path);

}  // namespace sabath::fetch
