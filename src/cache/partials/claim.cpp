#include "claim.hpp"

#include "objects/file_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

enum class Linked { yes, taken, impossible };

/// The answer of link(2) may be lost on its way: the count of links decides.
Linked link_once(const base::Beneath& beneath, const fs::path& from, const fs::path& to) {
  const int problem = beneath.make_hard_link(from, to);
  if (problem == 0) return Linked::yes;
  const auto status = link_status(from);
  if (status && status->st_nlink == 2) return Linked::yes;
  return problem == EEXIST ? Linked::taken : Linked::impossible;
}

Linked make_claim(const Layout& layout, const fs::path& path, const ClaimRecord& record) {
  const base::Beneath& beneath = layout.beneath();
  const fs::path mine = path.parent_path() / (".claim-" + record.nonce);
  try {
    layout.ensure_folder(path.parent_path());
    if (!beneath.write_once(mine, claim_text(record))) return Linked::impossible;
    const Linked linked = link_once(beneath, mine, path);
    beneath.unlink(mine);
    return linked;
  } catch (const base::Error&) {
    beneath.unlink(mine);
    return Linked::impossible;
  }
}

}  // namespace

std::string random_name() {
  std::random_device device;
  return fmt::format("{:x}", (std::uint64_t{device()} << 32U) | device());
}

std::unique_ptr<Claim> Claim::take(const Layout& layout,
                                   const fs::path& path,
                                   const ClaimRecord& holder,
                                   Interval heartbeat) {
  std::unique_ptr<Claim> claim(new Claim(layout, path, holder));
  const Linked linked = make_claim(layout, path, holder);
  if (linked == Linked::taken) return nullptr;
  if (linked == Linked::yes) {
    try {
      claim->heart_ = std::thread([&claim = *claim, heartbeat] { claim.beat_every(heartbeat); });
    } catch (const std::system_error&) {
      layout.beneath().unlink(path);  // without a heart it would seem dead
    }
  }
  return claim;
}

Claim::Claim(const Layout& layout, fs::path path, ClaimRecord record)
    : beneath_(layout.beneath()), path_(std::move(path)), record_(std::move(record)) {}

Claim::~Claim() {
  if (!heart_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_one();
  heart_.join();
  if (is_ours()) beneath_.unlink(path_);
}

void Claim::set_progress(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes) {
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
      // A holder that was wrongly taken for dead leaves the claim to the new holder.
      if (is_ours()) beneath_.write_atomically(path_, text, base::Durability::ordered_only);
    } catch (const std::exception&) {
      // The disk is full, or the file system is away for a moment: the next beat may succeed.
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
    // An unreadable claim does not change, and so counts as dead in the end.
    return link_status(path) ? std::optional<std::string>("") : std::nullopt;
  }
}

void bury_claim(const base::Beneath& beneath, const fs::path& path, const std::string& judged) {
  const fs::path grave = path.parent_path() / (path.filename().string() + ".dead." + random_name());
  if (beneath.rename(path, grave) != 0) return;
  const auto buried = read_claim(grave);
  if (buried && *buried != judged && beneath.make_hard_link(grave, path) != 0) {
    // A third process has claimed it meanwhile: two do the same, and both results are right.
  }
  beneath.unlink(grave);
}

}  // namespace sabath::cache
