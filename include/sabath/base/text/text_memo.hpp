#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sabath::base {

/// Cache of one-line answers by key, in a file of the user. Ignores a file that others could have
/// written, and failures to write. Of two processes that write at once, one may lose its answers.
/// Thread safety: one thread at a time.
class TextMemo {
 public:
  /// The first query reads the file. With more than `most` answers the oldest half is dropped.
  explicit TextMemo(std::filesystem::path file, std::size_t most = 20'000);

  std::optional<std::string> get(const std::string& key);
  /// Ignores a key or an answer with a tab or a newline.
  void put(const std::string& key, const std::string& answer);
  /// Writes new answers, merged with what other processes have written meanwhile.
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
