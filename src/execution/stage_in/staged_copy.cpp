#include "staged_copy.hpp"

#include "copied_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/write_access.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::ProcessIdentity;

constexpr std::string_view loan_head = "loan-";  ///< then ProcessIdentity.NAME of the lender
constexpr std::string_view gone_head = ".gone-";
constexpr std::string_view new_head = "new-";  ///< then ProcessIdentity-DIGEST
constexpr auto pause = std::chrono::milliseconds(50);
constexpr std::uint64_t spare_bytes = std::uint64_t{64} << 20U;

fs::path users_of(const fs::path& place) {
  return place / "users";
}
fs::path closing_of(const fs::path& place) {
  return place / "closing";
}
fs::path maker_of(const fs::path& place) {
  return place / "maker";
}

std::string own_text() {
  return ProcessIdentity::current().text();
}

/// Unknown for a process that is gone, or a text that names none.
bool is_gone(const std::string& text) {
  const auto process = ProcessIdentity::parse(text);
  return !process || base::liveness_of(*process) == base::Liveness::gone;
}

/// A file of this process, removed with this.
class OwnFile {
 public:
  explicit OwnFile(fs::path file) : file_(std::move(file)) {}
  ~OwnFile() {
    std::error_code code;
    fs::remove(file_, code);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

 private:
  fs::path file_;
};

bool take(const fs::path& file);

/// Removes a file whose holder is gone. Between reading and removing it, the file may become that
/// of another process that found the same. So it is read again by the only process that may remove
/// what the holder left. Returns false where a process has it.
bool is_freed(const fs::path& file) {
  const auto holder = base::read_file_if_exists(file);
  if (!holder) return true;
  if (!is_gone(*holder)) return false;
  std::error_code code;
  const fs::path right = file.parent_path() / ("after-" + base::sha256_of(*holder).hex);
  if (right == file) return fs::remove(file, code);  // no process has written that
  if (!take(right)) return false;
  const OwnFile held(right);
  return base::read_file_if_exists(file) == holder && fs::remove(file, code);
}

/// The file belongs to this process alone, until it is removed or the process is gone.
bool take(const fs::path& file) {
  const std::string self = own_text();
  return base::write_file_once(file, self) || (is_freed(file) && base::write_file_once(file, self));
}

bool is_loan(const std::string& user) {
  return user.starts_with(loan_head);
}

bool is_lent_to(const std::string& user, const std::string& name) {
  return is_loan(user) && user.ends_with("." + name);
}

/// What was on a disk when the node went down may be incomplete.
bool is_of_earlier_boot(const std::string& identity) {
  const auto maker = ProcessIdentity::parse(identity);
  const ProcessIdentity self = ProcessIdentity::current();
  return !maker || (maker->host == self.host && maker->boot != self.boot);
}

bool is_loan_over(const fs::path& file) {
  if (is_of_earlier_boot(file.filename().string().substr(loan_head.size()))) return true;
  const std::string text = base::read_file_if_exists(file).value_or("");
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return false;  // it is being made
  std::error_code code;
  const auto type_of = [&](const std::string& path) { return fs::status(path, code).type(); };
  return type_of(text.substr(0, line)) == fs::file_type::not_found ||
         type_of(text.substr(line + 1)) == fs::file_type::regular;
}

bool is_over(const fs::path& user) {
  const std::string name = user.filename().string();
  return is_loan(name) ? is_loan_over(user) : is_gone(name);
}

/// Forgets those that are gone. In doubt the copy is in use.
bool has_users(const fs::path& place) noexcept {
  try {
    if (!fs::exists(users_of(place))) return false;
    bool any = false;
    for (const auto& entry : fs::directory_iterator(users_of(place))) {
      std::error_code none;
      if (is_over(entry.path())) {
        fs::remove(entry.path(), none);
      } else {
        any = true;
      }
    }
    return any;
  } catch (const std::exception&) {
    return true;
  }
}

/// The directory above is the user's own, whatever links the site's path has.
void remove_own(const fs::path& path) {
  base::remove_own_tree(base::Beneath(path.parent_path()), path);
}

/// Removes a copy without users. A new user first marks its use, then looks for a removal. The
/// removal first marks itself, then looks for users. So at least one of both sees the other.
void remove_unused(const fs::path& place) noexcept {
  try {
    std::error_code code;
    if (!fs::is_directory(place, code) || has_users(place)) return;
    const fs::path gone = place.parent_path() /
                          (std::string(gone_head) + own_text() + "-" + place.filename().string());
    if (!take(closing_of(place))) return;
    if (has_users(place)) {
      fs::remove(closing_of(place), code);
      return;
    }
    // An older version made copies without a mark. This folder lies in a private one.
    base::mark(base::Directory::open(place, base::Links::any));
    fs::rename(place, gone, code);
    remove_own(code ? place : gone);
  } catch (const std::exception&) {
    return;  // the next one does it
  }
}

/// Left by a process that was killed while it removed the copy.
void forget_closer(const fs::path& place) {
  try {
    is_freed(closing_of(place));
  } catch (const Error&) {
    return;  // it is being removed at this moment
  }
}

bool is_digest(std::string_view text) {
  return text.size() >= 32 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isxdigit(c) != 0;
         });
}

/// Never removes what is not a copy by its name and content.
void remove_all_unused(const fs::path& root) {
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    std::error_code none;
    if (!fs::is_directory(entry.symlink_status(none))) continue;
    const std::size_t dash = name.rfind('-');
    // A process was killed while it made the folder of a copy.
    if (name.starts_with(new_head) && is_digest(name.substr(dash + 1)) &&
        is_gone(name.substr(new_head.size(), dash - new_head.size())))
      remove_own(entry.path());
    if (!fs::is_directory(fs::symlink_status(users_of(entry.path()), none))) continue;
    if (name.starts_with(gone_head) && is_digest(name.substr(name.rfind('-') + 1))) {
      remove_own(entry.path());
    } else if (is_digest(name)) {
      remove_unused(entry.path());
    }
  }
}

fs::path root_in(const fs::path& folder) {
  return folder / ("sabath-staged-" + std::to_string(::getuid()));
}

/// In a directory that others may write to and that is not sticky, they can replace it at any
/// moment.
bool can_be_exchanged(const fs::path& root) {
  return base::can_others_exchange(root.parent_path());
}

bool is_users_own(const fs::path& root) {
  const base::UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  return folder && ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
         !base::can_others_write(folder.get()) && !can_be_exchanged(root);
}

/// The name of the directory is known, and others may write to the one above. It is used when it is
/// this user's own, and not a link.
bool is_own_folder(const fs::path& root, base::Observer& observer) {
  base::make_directories(root.parent_path());
  if (::mkdir(root.c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno(root.string(), "cannot make the folder", errno);
  if (!is_users_own(root)) {
    const bool exchanges = can_be_exchanged(root);
    observer.warn(exchanges ? root.parent_path().string() + ": others can exchange what is in it"
                            : root.string() + ": is not a folder of this user's own",
                  exchanges
                      ? "nothing is copied to this node; a sticky folder (chmod +t) can be used"
                      : "nothing is copied to this node");
    return false;
  }
  if (fs::status(root).permissions() != fs::perms::owner_all)
    fs::permissions(root, fs::perms::owner_all);
  return true;
}

/// The name says most; others may read it at any moment.
void make_mark(const fs::path& file, const std::string& text = {}) {
  const base::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) base::throw_errno(file.string(), "cannot make", errno);
  if (::write(fd.get(), text.data(), text.size()) < 0)
    base::throw_errno(file.string(), "cannot write", errno);
}

/// The folder appears with its mark, by which it may be removed (base::why_kept).
void make_place(const fs::path& place) {
  std::error_code none;
  if (!fs::exists(place, none)) {
    const base::Directory root = base::Directory::open(place.parent_path(), base::Links::any);
    const std::string name = place.filename().string();
    const std::string unnamed = std::string(new_head) + own_text() + "-" + name;
    int code = base::make_marked(root, unnamed, 0755);
    if (code == 0) code = root.rename_no_replace(unnamed, root, name);
    if (code != 0) remove_own(place.parent_path() / unnamed);
    if (code != 0 && code != EEXIST) base::throw_errno(place.string(), "cannot make", code);
  }
  if (::mkdir(users_of(place).c_str(), 0755) != 0 && errno != EEXIST)
    base::throw_errno(place.string(), "cannot make the folder", errno);
}

/// A process that removes an unused copy may take the directory away before this has ended.
void become_user(const fs::path& place, base::Clock& clock) {
  constexpr int most_tries = 20;
  for (int tries = 1;; ++tries) {
    try {
      make_place(place);
      make_mark(users_of(place) / own_text());
      return;
    } catch (const Error&) {
      if (tries == most_tries) throw;
    }
    clock.sleep_for(pause);
  }
}

std::vector<fs::path> users_in(const fs::path& place) {
  std::vector<fs::path> users;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(users_of(place), code))
    users.push_back(entry.path());
  return users;
}

bool is_lent(const fs::path& place, const std::string& name) {
  const std::vector<fs::path> users = users_in(place);
  return std::any_of(users.begin(), users.end(), [&](const fs::path& user) {
    return is_lent_to(user.filename().string(), name) && !is_loan_over(user);
  });
}

/// Returns false where it is kept for others, or is missing.
bool give_back(const fs::path& place, const std::string& name) {
  bool is_others = false;
  for (const fs::path& user : users_in(place)) {
    const std::string text = user.filename().string();
    if (is_lent_to(text, name)) {
      fs::remove(user);
    } else {
      is_others = is_others || (is_loan(text) && !is_loan_over(user));
    }
  }
  return !is_others && fs::exists(place);
}

/// Returns false where there is too little room. The copy appears when it is complete.
bool fill(const fs::path& place, const CopySource& source, base::Observer& observer) {
  const std::uint64_t bytes = source.bytes();
  const std::uint64_t free_bytes = fs::space(place).available;
  if (bytes + spare_bytes > free_bytes) {
    observer.warn(source.path.string() + ": is not copied to this node: it takes " +
                      base::format_bytes(bytes) + ", and " + place.parent_path().string() +
                      " has " + base::format_bytes(free_bytes),
                  "it is read where it is");
    return false;
  }
  const fs::path unfinished = place / ("making-" + own_text());
  remove_own(unfinished);
  try {
    source.make(unfinished);
  } catch (...) {
    remove_own(unfinished);
    throw;
  }
  fs::rename(unfinished, place / "data");
  return true;
}

}  // namespace

std::optional<StagedCopy> StagedCopy::find(const fs::path& folder,
                                           const std::string& key,
                                           const std::string& name,
                                           base::Clock& clock) noexcept {
  try {
    const fs::path place = root_in(folder) / key;
    if (!is_users_own(root_in(folder)) || !is_lent(place, name)) return std::nullopt;
    become_user(place, clock);
    StagedCopy copy(place);
    // In the same order as when one is made.
    const bool is_closing = fs::exists(closing_of(place));
    const bool is_there = fs::exists(users_of(place) / own_text()) && fs::exists(copy.path());
    return is_closing || !is_there ? std::nullopt : std::optional(std::move(copy));
  } catch (const std::exception&) {
    return std::nullopt;  // it was removed meanwhile
  }
}

void StagedCopy::lend(const Loan& loan) const {
  make_mark(users_of(place_) / (std::string(loan_head) + own_text() + "." + loan.name),
            loan.while_there.string() + "\n" + loan.until_there.string());
}

void StagedCopy::end_loans(const fs::path& folder,
                           const std::vector<std::string>& keys,
                           const std::string& name,
                           base::Clock& clock) noexcept {
  try {
    const fs::path root = root_in(folder);
    if (!is_users_own(root)) return;
    std::vector<fs::path> places;
    for (const std::string& key : keys) {
      if (give_back(root / key, name)) places.push_back(root / key);
    }
    constexpr int most_looks = 60;
    for (int looks = 0; looks < most_looks && !places.empty(); ++looks) {
      std::erase_if(places, [](const fs::path& place) {
        remove_unused(place);
        return !fs::exists(place);
      });
      if (!places.empty()) clock.sleep_for(pause);
    }
  } catch (const std::exception&) {
    return;  // the next one that comes removes it
  }
}

CopySource files_to_copy(const std::string& key,
                         const fs::path& path,
                         const std::stop_token& stop) {
  return {key,
          path,
          [path] { return copied_bytes(path); },
          [path, stop](const fs::path& copy) { copy_files(path, copy, stop); }};
}

std::optional<StagedCopy> StagedCopy::make(const fs::path& folder,
                                           const CopySource& source,
                                           base::Clock& clock,
                                           base::Observer& observer,
                                           const std::stop_token& stop) {
  std::string problem;
  try {
    return try_make(folder, source, clock, observer, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    problem = error.what();
  } catch (const fs::filesystem_error& error) {
    problem = error.what();
  }
  observer.warn(source.path.string() + ": is not copied to this node: " + problem,
                "it is read where it is");
  return std::nullopt;
}

std::optional<StagedCopy> StagedCopy::try_make(const fs::path& folder,
                                               const CopySource& source,
                                               base::Clock& clock,
                                               base::Observer& observer,
                                               const std::stop_token& stop) {
  const fs::path root = root_in(folder);
  if (!is_own_folder(root, observer)) return std::nullopt;
  remove_all_unused(root);
  const fs::path place = root / source.key;
  while (true) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the node");
    become_user(place, clock);
    StagedCopy copy(place);
    std::error_code code;
    // In this order: a copy that was removed in between has no user either.
    const bool is_closing = fs::exists(closing_of(place), code);
    if (!is_closing && fs::exists(users_of(place) / own_text(), code)) {
      if (fs::exists(copy.path(), code)) return copy;
      if (take(maker_of(place))) {
        const OwnFile making(maker_of(place));  // where it fails, others are not to wait for it
        // The process that made it last may have come in between.
        if (fs::exists(copy.path(), code) || fill(place, source, observer)) return copy;
        return std::nullopt;
      }
    } else {
      forget_closer(place);
    }
    clock.sleep_for(pause);
  }
}

StagedCopy::StagedCopy(StagedCopy&& other) noexcept : place_(std::move(other.place_)) {
  other.place_.clear();
}

StagedCopy::~StagedCopy() {
  if (place_.empty()) return;
  try {
    std::error_code code;
    fs::remove(users_of(place_) / own_text(), code);
    remove_unused(place_);
  } catch (const std::exception&) {
    return;  // once this process is gone, the next one does it
  }
}

}  // namespace sabath::execution
