#include "claim.hpp"

#include "file_status.hpp"
#include "layout.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <random>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

enum class Linked { yes, taken, impossible };

/// link(2) may have worked although its answer was lost on the way; the count of links tells.
Linked link_once(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return Linked::yes;
  const int problem = errno;
  const auto status = link_status(from);
  if (status && status->st_nlink == 2) return Linked::yes;
  return problem == EEXIST ? Linked::taken : Linked::impossible;
}

Linked make_claim(const fs::path& path, const ClaimRecord& record) {
  const fs::path mine = path.parent_path() / (".claim-" + record.nonce);
  try {
    ensure_folder(path.parent_path());
    if (!base::write_file_once(mine, claim_text(record))) return Linked::impossible;
    const Linked linked = link_once(mine, path);
    ::unlink(mine.c_str());
    return linked;
  } catch (const base::Error&) {
    ::unlink(mine.c_str());
    return Linked::impossible;
  }
}

}  // namespace

std::string random_name() {
  std::random_device device;
  std::array<char, 16> digits{};
  const std::uint64_t number = (std::uint64_t{device()} << 32U) | device();
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

std::unique_ptr<Claim> Claim::take(const fs::path& path,
                                   const ClaimRecord& holder,
                                   Interval heartbeat) {
  std::unique_ptr<Claim> claim(new Claim(path, holder));
  const Linked linked = make_claim(path, holder);
  if (linked == Linked::taken) return nullptr;
  if (linked == Linked::yes) {
    try {
      claim->heart_ = std::thread([&claim = *claim, heartbeat] { claim.beat_every(heartbeat); });
    } catch (const std::system_error&) {
      ::unlink(path.c_str());  // without a heart it would seem dead
    }
  }
  return claim;
}

Claim::Claim(fs::path path, ClaimRecord record)
    : path_(std::move(path)), record_(std::move(record)) {}

Claim::~Claim() {
  if (!heart_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_one();
  heart_.join();
  if (is_ours()) ::unlink(path_.c_str());
}

void Claim::tell(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes) {
  const std::lock_guard lock(mutex_);
  record_.done_bytes = done_bytes;
  record_.total_bytes = total_bytes;
}

void Claim::beat_every(Interval heartbeat) {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, heartbeat, [this] { return ends_; })) {
    ++record_.beat;
    const std::string text = claim_text(record_);
    lock.unlock();
    try {
      // Who was taken for dead, and is not, leaves the claim to the one that has it now.
      if (is_ours()) base::write_file_atomically(path_, text, base::Durability::ordered_only);
    } catch (const std::exception&) {
      // A full disk or a file system that is away for a moment: the next beat may come through.
    }
    lock.lock();
  }
}

bool Claim::is_ours() const {
  const auto text = read_claim(path_);
  const auto record = text ? parse_claim(*text) : std::nullopt;
  return record && record->nonce == record_.nonce;
}

std::optional<std::string> read_claim(const fs::path& path) {
  constexpr std::uint64_t longest_claim_bytes = 1U << 16U;
  try {
    return base::read_file_if_exists(path, longest_claim_bytes);
  } catch (const base::Error&) {
    // One that stands there and cannot be read does not change either, and so is judged in the end.
    return link_status(path) ? std::optional<std::string>("") : std::nullopt;
  }
}

void bury_claim(const fs::path& path, const std::string& judged) {
  const fs::path grave = path.parent_path() / (path.filename().string() + ".dead." + random_name());
  if (::rename(path.c_str(), grave.c_str()) != 0) return;
  const auto buried = read_claim(grave);
  if (buried && *buried != judged && ::link(grave.c_str(), path.c_str()) != 0) {
    // A third one has claimed it meanwhile: two do the same, and both are right.
  }
  ::unlink(grave.c_str());
}

}  // namespace sabath::cache
