#pragma once

#include "layout.hpp"
#include "objects/small_file.hpp"
#include "partials/attempt.hpp"
#include "tree_journal.hpp"
#include "tree_writer.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sabath::cache {

inline constexpr const char* staged_tree_name = "tree";

/// In an attempt's folder: the folder `tree`, with a `files` journal of what is finished in it, and
/// a folder for each borrower.
class StagedTree final : public TreeStaging {
 public:
  /// Adopts what the attempt's folder has. `layout` must outlive it. Throws Error{storage}.
  StagedTree(const Layout& layout, Attempt attempt);
  ~StagedTree() override;
  StagedTree(const StagedTree&) = delete;
  StagedTree& operator=(const StagedTree&) = delete;

  std::optional<FinishedFile> finished(const std::string& path) const override;
  base::StagedFile& open(const std::string& path,
                         const std::vector<base::Digest>& expected) override;
  FinishedFile finish(const std::string& path, const std::string& url) override;
  FinishedFile finish_soon(const std::string& path, const std::string& url) override;
  /// Also one that is finished.
  void abandon(const std::string& path) override;
  void add(const std::string& path, const Object& object) override;
  std::filesystem::path lend(std::string_view borrower) override;

  /// Ends the writing; only `discard` may be called afterwards. Gives what `folder` holds.
  std::vector<base::ArchiveEntry> seal();
  /// It was published, or is worth nothing: nothing stays for a later attempt.
  void discard() noexcept { is_discarded_ = true; }
  /// What becomes the tree.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  const std::filesystem::path& root() const noexcept { return layout_.root(); }
  const base::Beneath& beneath() const noexcept { return attempt_.beneath(); }

 private:
  struct OpenFile {
    std::vector<base::Digest> expected{};
    std::unique_ptr<SmallFile> file{};
  };

  /// Ends the writing of one that is open and checks its digests.
  std::unique_ptr<SmallFile> completed(const std::string& path, FinishedFile& finished);
  void check_free(const std::string& path) const;
  void make_folder_of(const std::string& path);

  const Layout& layout_;
  Attempt attempt_;
  std::filesystem::path tree_;  ///< where files are written
  /// A borrower of one file is none of the tree: its folder lies with those of the others, apart.
  std::filesystem::path lent_singly_;
  std::filesystem::path folder_;
  bool is_lent_ = false;
  bool is_discarded_ = false;
  FinishedFiles finished_;
  TreeJournal journal_;
  std::set<std::string> folders_{};  ///< that are there
  std::map<std::string, OpenFile> open_{};
  std::map<std::string, Object> objects_{};
  TreeWriter writer_;  // last: its thread uses the journal
};

/// What a tool has left beneath a folder, as a tree has it: files hashed with a thread a core,
/// links that stay beneath. Throws Error{integrity} for anything else, Error{storage}.
std::vector<base::ArchiveEntry> entries_beneath(const std::filesystem::path& folder);

}  // namespace sabath::cache
