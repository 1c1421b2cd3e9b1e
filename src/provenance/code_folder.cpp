#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/file_digests.hpp>

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_outer_entries = 20'000;
constexpr std::uint64_t most_outer_bytes = std::uint64_t{256} << 20U;
/// As many links in a row the kernel follows, too.
constexpr std::size_t deepest = 40;

bool can_read(const fs::path& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

}  // namespace

CodeFolder::CodeFolder(fs::path folder, const CodeLimits& limits)
    : folder_(std::move(folder)), limits_(limits) {
  std::vector<base::TreeFile> found =
      base::list_tree(folder_, [&](const auto& entry) { return leaves_out(entry); });
  std::error_code code;
  root_ = fs::canonical(folder_, code);
  for (base::TreeFile& file : found) {
    if (is_exceeded()) break;
    if (file.link_target.empty()) {
      files_.push_back(std::move(file));
    } else {
      follow(file, true);
    }
  }
  std::ranges::sort(files_, {}, &base::TreeFile::path);
}

bool CodeFolder::leaves_out(const fs::directory_entry& entry) {
  if (is_exceeded()) return true;
  std::error_code code;
  ++entries_;
  if (entry.is_symlink(code) || !entry.is_regular_file(code)) return false;
  if (home::is_baseline(entry.path())) return true;
  bytes_ += entry.file_size(code);
  return false;
}

/// `is_own`: it lies in the folder itself, and not in one that another link leads to.
void CodeFolder::follow(const base::TreeFile& link, bool is_own) {
  std::error_code code;
  const fs::path target = fs::canonical(folder_ / link.path, code);
  // What an absolute one, or one by the folder's own name, leads to is another file elsewhere.
  const bool stays = is_own && base::is_beneath(target, root_) &&
                     base::link_stays_beneath(link.link_target, link.path);
  if (!code && !stays && !is_of_system(target)) {
    const fs::file_status status = fs::status(target, code);
    if (status.type() == fs::file_type::regular && can_read(target)) {
      take_file(link.path, target);
      return;
    }
    if (status.type() == fs::file_type::directory && take_folder(link.path, target)) return;
  }
  files_.push_back(link);
}

void CodeFolder::take_file(std::string path, const fs::path& target) {
  base::TreeFile file;
  file.path = std::move(path);
  std::error_code code;
  file.size_bytes = fs::file_size(target, code);
  const auto permissions = fs::status(target, code).permissions();
  file.executable = (permissions & fs::perms::owner_exec) != fs::perms::none;
  if (outer_bytes_ + file.size_bytes > most_outer_bytes) {
    if (uncounted_.empty()) uncounted_ = file.path;
    const auto stamp = base::stamp_of(target);
    file.link_target = target.string() + " of " + std::to_string(file.size_bytes) + " bytes, " +
                       std::to_string(stamp ? stamp->modified_ns : 0);
  } else {
    outer_bytes_ += file.size_bytes;
    bytes_ += file.size_bytes;
  }
  files_.push_back(std::move(file));
}

/// False where it cannot be followed; then nothing of it was taken.
bool CodeFolder::take_folder(const std::string& path, const fs::path& target) {
  const bool is_loop = within_.size() == deepest || base::is_beneath(target, root_) ||
                       std::ranges::any_of(within_, [&](const fs::path& outer) {
                         return base::is_beneath(outer, target) || base::is_beneath(target, outer);
                       });
  if (is_loop) return false;
  const std::size_t before = files_.size();
  const auto give_up = [&] {
    files_.resize(before);
    if (uncounted_.empty()) uncounted_ = path;
    return false;
  };
  std::vector<base::TreeFile> found;
  try {
    found = base::list_tree(target, [&](const fs::directory_entry& entry) {
      std::error_code code;
      if (outer_entries_ > most_outer_entries || entry.path() == root_) return true;
      ++outer_entries_;
      ++entries_;
      return !entry.is_symlink(code) && entry.is_regular_file(code) &&
             home::is_baseline(entry.path());
    });
  } catch (const base::Error&) {
    return give_up();  // nor can it be read by the code
  }
  if (outer_entries_ > most_outer_entries) return give_up();
  within_.push_back(target);
  for (base::TreeFile& file : found) {
    const fs::path real = target / file.path;
    file.path = (fs::path(path) / file.path).string();
    if (!file.link_target.empty()) {
      follow(file, false);
    } else if (can_read(real)) {
      take_file(std::move(file.path), real);
    } else {
      file.link_target = real.string();
      files_.push_back(std::move(file));
    }
  }
  within_.pop_back();
  return true;
}

base::Digest CodeFolder::digest(const fs::path& state_directory,
                                const std::stop_token& stop) const {
  FileDigests digests(state_directory);
  base::Digest digest = base::tree_digest(folder_, files_, [&](const fs::path& file) {
    return digests.of(file, [&](std::uint64_t) {
      if (!stop.stop_requested()) return;
      throw base::Error(base::ErrorKind::interrupted,
                        file.string() + ": interrupted while it was hashed");
    });
  });
  digests.save();
  return digest;
}

std::map<std::string, std::string> CodeFolder::stamps(bool& is_settled) const {
  std::map<std::string, std::string> stamps;
  is_settled = true;
  for (const base::TreeFile& file : files_) {
    std::string& text = stamps[file.path];
    text = file.link_target;
    if (!file.link_target.empty()) continue;
    const auto stamp = base::stamp_of(folder_ / file.path);
    if (stamp) text = stamp->text();
    is_settled = is_settled && stamp && stamp->is_settled();
  }
  return stamps;
}

base::Digest code_digest(const fs::path& folder,
                         const fs::path& state_directory,
                         const std::stop_token& stop) {
  return CodeFolder(folder).digest(state_directory, stop);
}

}  // namespace sabath::provenance
