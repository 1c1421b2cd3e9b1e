#pragma once

#include "layout.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::cache {

/// A folder in trash/ for one collection. Only this user can write to it, so that what was moved
/// there and looked at stays what it is until it is removed. A killed collection leaves it to the
/// next. One empty folder, `<uid>.0`, stays in trash/ for a collection on a full file system.
class Trash {
 public:
  explicit Trash(const Layout& layout) : layout_(layout) {}
  ~Trash();
  Trash(const Trash&) = delete;
  Trash& operator=(const Trash&) = delete;

  /// Moves something here, so that it is gone at once, and returns its name here. Nothing where it
  /// is gone already, belongs to another user, or is a folder that others can write to: they could
  /// have moved that folder there from anywhere, with all that is in it.
  std::optional<std::string> take(const std::filesystem::path& path);
  /// Nothing happens where another one stands there by now.
  void put_back(const std::string& name, const std::filesystem::path& path);
  void remove(const std::string& name);
  /// What earlier collections left.
  void remove_leftovers();
  /// The errno with which no folder could be made here; 0 where there is one.
  int problem() const noexcept { return problem_; }

 private:
  /// Made when it is first needed. Nothing where it cannot be made.
  const base::Directory* own();
  int folder_problem() const;
  /// A new folder, or on a full file system one that a killed collection left.
  std::optional<base::Directory> make(const base::Directory& trash, const std::string& name);

  const Layout& layout_;
  std::optional<base::Directory> own_{};
  std::filesystem::path path_{};
  int problem_ = 0;
};

}  // namespace sabath::cache
