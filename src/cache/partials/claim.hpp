#pragma once

#include "layout.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace sabath::cache {

/// The content of a claim (docs/formats/cache.md).
struct ClaimRecord {
  std::string nonce{};              ///< of this one claim
  std::uint64_t beat = 0;           ///< counts the rewritings, so that the bytes change
  std::string host{};               ///< for people
  base::ProcessIdentity process{};  ///< for the judgement
  std::string job{};                ///< SLURM_JOB_ID, where there is one
  std::uint64_t done_bytes = 0;
  std::optional<std::uint64_t> total_bytes{};

  bool operator==(const ClaimRecord&) const = default;
};

std::string claim_text(const ClaimRecord& record);
/// Returns nothing when the text is not a whole record.
std::optional<ClaimRecord> parse_claim(std::string_view text);

/// A file that announces work in progress, so that other processes wait instead of doing it too.
/// Only time depends on it: without it, the work is done twice. Made by link(2), which network file
/// systems do once; no lock call is used.
class Claim {
 public:
  using Interval = std::chrono::nanoseconds;

  /// Returns null when another process has it. A claim that cannot be made (read-only, no links)
  /// counts as held. While it lives, a thread rewrites the file every `heartbeat`.
  static std::unique_ptr<Claim> take(const Layout& layout,
                                     const std::filesystem::path& path,
                                     const ClaimRecord& holder,
                                     Interval heartbeat);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// Sets the progress that waiting processes see with the next heartbeat.
  void set_progress(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes);

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
  std::thread heart_{};  ///< only with a file
};

/// Returns the text of a claim: empty when it is unreadable, nothing when it is missing (or
/// ESTALE).
std::optional<std::string> read_claim(const std::filesystem::path& path);

/// Removes the claim of a dead holder if it still has this text. Puts a newer claim back.
void bury_claim(const base::Beneath& beneath,
                const std::filesystem::path& path,
                const std::string& judged);

/// Returns a name that no other process uses.
std::string random_name();

}  // namespace sabath::cache
