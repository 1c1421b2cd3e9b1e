#pragma once

#include "file_tool.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// One tree to be brought by a program.
struct TreeJob {
  ToolUrl url{};
  std::filesystem::path folder{};
  Credentials credentials{};
  /// What `list` has just said of all of it, where it was asked.
  std::optional<std::vector<ListedFile>> listed{};
};

/// What is beneath a URL, or why it cannot be said.
using Listing = std::variant<std::vector<ListedFile>, Failure>;

/// A fetcher whose program also brings all that is beneath a URL: one that ends with a slash.
class TreeTool : public FileTool {
 public:
  using FileTool::FileTool;

  bool names_many(const std::string& url) const override;
  std::vector<ListedFile> list(const std::string& url,
                               std::optional<std::uint64_t> limit,
                               base::Observer& observer,
                               std::stop_token stop) override;
  bool takes_trees() const override { return true; }
  Outcome fetch_tree(const std::string& url,
                     const std::filesystem::path& folder,
                     base::Observer& observer,
                     std::stop_token stop) override;

 protected:
  /// What is beneath a URL, in any order; with a `limit` no more than that is needed of it.
  virtual Listing listed(const TreeJob& job,
                         std::optional<std::uint64_t> limit,
                         base::Observer& observer,
                         const std::stop_token& stop);
  /// The same sorted by path, the first `limit`; a Failure where a path would leave its folder.
  Listing ordered(const TreeJob& job,
                  std::optional<std::uint64_t> limit,
                  base::Observer& observer,
                  const std::stop_token& stop);
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

 private:
  std::string listed_url_{};
  std::vector<ListedFile> listed_{};  ///< for the next `fetch_tree` of that URL
};

/// `path` percent-encoded for a URL, but for its slashes.
std::string encoded_path(const std::string& path);

}  // namespace sabath::fetch
