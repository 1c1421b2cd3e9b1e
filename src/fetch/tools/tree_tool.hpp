#pragma once

#include "file_tool.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// Files beneath a URL, or why they cannot be listed.
using Listing = std::variant<std::vector<ListedFile>, Failure>;

/// A fetcher whose program also downloads all files beneath a URL that ends with a slash.
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
  /// Lists the files beneath a URL, in any order. `limit`: how many are needed.
  virtual Listing listed(const ToolJob& job, std::optional<std::uint64_t> limit);
  /// Returns the first `limit`, sorted by path. Fails where a path would leave its folder.
  Listing ordered(const ToolJob& job, std::optional<std::uint64_t> limit);
  /// Downloads the tree. Returns nothing on success.
  virtual std::optional<Failure> bring_tree(const ToolJob& job) = 0;

 private:
  std::string listed_url_{};
  std::vector<ListedFile> listed_{};  ///< for the next `fetch_tree` of that URL
};

}  // namespace sabath::fetch
