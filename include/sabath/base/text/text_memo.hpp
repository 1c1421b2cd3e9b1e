#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sabath::base {

/// One-line answers that are costly to find again, by key, in a file of this user's own. An
/// accelerator: a file that others could have written is not believed, what cannot be written is
/// forgotten, and of two processes that write at once one loses what it found. One thread at a
/// time.
class TextMemo {
 public:
  /// Read when it is first asked. When there are more than `most` answers the oldest half goes.
  explicit TextMemo(std::filesystem::path file, std::size_t most = 20'000);

  std::optional<std::string> get(const std::string& key);
  /// Neither may hold a tab or the end of a line.
  void put(const std::string& key, const std::string& answer);
  /// Writes what was put since, with what others have written meanwhile.
  void save() noexcept;

 private:
  void load();

  std::filesystem::path file_;
  std::size_t most_;
  bool loaded_ = false;
  std::map<std::string, std::string> known_{};
  std::map<std::string, std::string> added_{};
};

}  // namespace sabath::base
