#pragma once

#include "support/memory_partial_file.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>

#include <string>
#include <string_view>

namespace sabath::test {

/// A partial file for tools that write by themselves: each borrower has a folder of its own.
class LentFile final : public MemoryPartialFile {
 public:
  std::filesystem::path lend(std::string_view borrower) override {
    const auto folder = home_ / std::string(borrower);
    base::make_directories(folder);
    return lent = folder / "file";
  }
  /// What the tool has left.
  std::string text() const { return base::read_file_if_exists(lent).value_or("(no file)"); }
  /// Makes it what an attempt that broke off after so many bytes would have left.
  void cut(std::size_t bytes) const { std::filesystem::resize_file(lent, bytes); }

  std::filesystem::path lent{};

 private:
  TempHome home_;
};

}  // namespace sabath::test
