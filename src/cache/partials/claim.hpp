#pragma once

#include "claim_record.hpp"
#include "layout.hpp"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sabath::cache {

/// A file that says that somebody does something right now, so that others wait instead of doing it
/// too. Nothing depends on it but time: where it cannot be made, or is lost, the same is done
/// twice. Made by link(2), which network file systems do once; no lock call is used.
class Claim {
 public:
  using Interval = std::chrono::nanoseconds;

  /// Nothing when somebody else has it. A claim that cannot be made (read-only, no links) counts as
  /// held. While it lives a thread rewrites the file every `heartbeat`.
  static std::unique_ptr<Claim> take(const Layout& layout,
                                     const std::filesystem::path& path,
                                     const ClaimRecord& holder,
                                     Interval heartbeat);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// For those that wait; they see it with the next heartbeat.
  void tell(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes);

 private:
  Claim(const Layout& layout, std::filesystem::path path, ClaimRecord record);
  void beat_every(Interval heartbeat);
  bool is_ours() const;

  base::Beneath beneath_;
  std::filesystem::path path_;
  std::mutex mutex_{};
  std::condition_variable end_{};
  bool ends_ = false;
  ClaimRecord record_;
  std::thread heart_{};  ///< none where there is no file
};

/// The text of a claim, empty when it cannot be read; nothing when there is none (ESTALE counts as
/// that).
std::optional<std::string> read_claim(const std::filesystem::path& path);

/// Removes a claim whose holder is dead, if it still is the one with this text; one that another
/// holder has made meanwhile is put back.
void bury_claim(const base::Beneath& beneath,
                const std::filesystem::path& path,
                const std::string& judged);

/// A name that nobody else uses.
std::string random_name();

}  // namespace sabath::cache
