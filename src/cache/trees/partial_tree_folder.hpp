#pragma once

#include "layout.hpp"
#include "objects/small_file.hpp"
#include "partials/attempt_folder.hpp"
#include "tree_writer.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/cache/partial.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sabath::cache {

/// A partial tree in an attempt's folder: the folder `tree`, the journal `files` of its finished
/// files, and a folder for each borrower.
class PartialTreeFolder final : public PartialTree {
 public:
  /// Adopts the content of the attempt's folder. `layout` outlives this. Throws Error{storage}.
  PartialTreeFolder(const Layout& layout, Attempt attempt);
  ~PartialTreeFolder() override;
  PartialTreeFolder(const PartialTreeFolder&) = delete;
  PartialTreeFolder& operator=(const PartialTreeFolder&) = delete;

  std::optional<FinishedFile> finished(const std::string& path) const override;
  base::PartialFile& open(const std::string& path,
                          const std::vector<base::Digest>& expected) override;
  FinishedFile finish(const std::string& path, const std::string& url) override;
  FinishedFile finish_soon(const std::string& path, const std::string& url) override;
  /// Also abandons a finished file.
  void abandon(const std::string& path) override;
  void add(const std::string& path, const Object& object) override;
  std::filesystem::path lend(std::string_view borrower) override;

  /// Ends the writing and lists the content of `folder`; only `discard` may follow.
  std::vector<base::ArchiveEntry> seal();
  /// Leaves nothing to a later attempt: it was published, or is useless.
  void discard() noexcept { is_discarded_ = true; }
  /// The folder that becomes the tree.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  const std::filesystem::path& root() const noexcept { return layout_.root(); }
  const base::Beneath& beneath() const noexcept { return attempt_.beneath(); }

 private:
  struct OpenFile {
    std::vector<base::Digest> expected{};
    std::unique_ptr<SmallFile> file{};
  };

  /// Ends the writing of an open file and checks its digests.
  std::unique_ptr<SmallFile> completed(const std::string& path, FinishedFile& finished);
  void check_free(const std::string& path) const;
  void make_folder_of(const std::string& path);

  const Layout& layout_;
  Attempt attempt_;
  std::filesystem::path tree_;  ///< where files are written
  /// Folders of borrowers of single files, apart from those of the whole tree.
  std::filesystem::path single_borrowed_;
  std::filesystem::path folder_;
  bool is_borrowed_ = false;
  bool is_discarded_ = false;
  FinishedFiles finished_;
  JournalFile journal_;
  std::set<std::string> folders_{};  ///< that are there
  std::map<std::string, OpenFile> open_{};
  std::map<std::string, Object> objects_{};
  TreeWriter writer_;  // last: its thread uses the journal
};

}  // namespace sabath::cache
