#pragma once

#include "layout.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cache {

/// A folder in trash/ for one collection. Only this user can write to it, so that nobody exchanges
/// an entry between its check and its removal. A killed collection leaves it to the next. A folder
/// `<uid>.0` with nothing but its mark stays for a collection on a full file system.
class Trash {
 public:
  explicit Trash(const Layout& layout) : layout_(layout) {}
  ~Trash();
  Trash(const Trash&) = delete;
  Trash& operator=(const Trash&) = delete;

  /// Moves an entry here and returns its name. Returns nothing where it is gone, belongs to another
  /// user, or is a folder that others could have moved there from anywhere (base::why_kept).
  std::optional<std::string> take(const std::filesystem::path& path);
  /// A folder becomes read-only again. Does nothing where another entry exists there by now.
  void put_back(const std::string& name, const std::filesystem::path& path);
  void remove(const std::string& name);
  /// Returns entries of earlier collections.
  std::vector<std::filesystem::path> leftovers() const;
  /// Removes them.
  void remove_leftovers();
  /// Returns the errno of a failure to make the folder, or 0.
  int problem() const noexcept { return problem_; }

 private:
  /// Makes the folder when it is first needed. Returns null where that fails.
  const base::Directory* own();
  int folder_problem() const;
  /// Makes a new folder, or on a full file system takes one of a killed collection.
  std::optional<base::Directory> make(const base::Directory& trash, const std::string& name);

  const Layout& layout_;
  std::optional<base::Directory> own_{};
  std::filesystem::path path_{};
  int problem_ = 0;
};

}  // namespace sabath::cache
