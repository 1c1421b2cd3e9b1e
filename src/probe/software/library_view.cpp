#include "library_view.hpp"

#include "elf_file.hpp"
#include "fact_file.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool is_no_file(std::string_view path) {
  constexpr std::array<std::string_view, 4> heads{"/dev/", "/memfd:", "/SYSV", "/anon_hugepage"};
  return !path.starts_with('/') ||
         std::any_of(heads.begin(), heads.end(), [&](auto head) { return path.starts_with(head); });
}

constexpr std::size_t view_block_bytes = std::size_t{256} << 10U;
/// Limits memory for programs that map ever new files, such as just-in-time compilers.
constexpr std::size_t most_files = 20'000;
constexpr std::size_t most_notes = 20'000;

std::string whole_text(const fs::path& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd) return text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(fd.get(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

bool is_same_file(const std::optional<base::FileStamp>& a,
                  const std::optional<base::FileStamp>& b) {
  return a && b && a->device == b->device && a->inode == b->inode;
}

}  // namespace

std::vector<ExecutableMapping> executable_mappings(std::string_view maps) {
  constexpr std::string_view gone = " (deleted)";
  std::vector<ExecutableMapping> mappings;
  while (!maps.empty()) {
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    next_word(line);  // addresses
    const std::string_view mode = next_word(line);
    if (mode.size() < 3 || mode[2] != 'x') continue;
    next_word(line);  // offset
    next_word(line);  // device
    ExecutableMapping mapping;
    mapping.inode = base::leading_number<std::uint64_t>(next_word(line)).value_or(0);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (is_no_file(line)) continue;
    mapping.is_gone = line.ends_with(gone);
    if (mapping.is_gone) line.remove_suffix(gone.size());
    mapping.path = line;
    mappings.push_back(mapping);
  }
  return mappings;
}

LibraryView::LibraryView(fs::path proc, ProcessVisitor visitor)
    : proc_(std::move(proc)),
      visitor_(std::move(visitor)),
      self_(::getpid()),
      own_program_(base::stamp_of("/proc/self/exe")),
      own_mounts_(link_text("/proc/self/ns/mnt")) {}

void LibraryView::note(std::string text) {
  if (notes_.size() < most_notes) notes_.insert(std::move(text));
}

std::string LibraryView::name_of(int pid) const {
  std::string name = whole_text(folder_of(pid) / "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name.empty() ? std::to_string(pid) : base::printable(name);
}

bool LibraryView::look(const std::map<std::string, int>& stages) {
  is_new_ = false;
  visited_.clear();
  // Before `begin` was called for its stage it may have been taken for a daemon of another stage.
  std::erase_if(processes_, [&](const auto& one) {
    const auto its = std::find_if(
        stages.begin(), stages.end(), [&](const auto& stage) { return stage.second == one.first; });
    return its != stages.end() && its->first != one.second.stage;
  });
  for (const auto& [stage, pid] : stages)
    look_beneath(pid, stage, self_);
  // A daemon is a child of this process now. Its stage is certain where it was seen before or only
  // one stage runs.
  for (const int child : base::children_of(self_, proc_)) {
    if (visited_.contains(child)) continue;
    const auto known = processes_.find(child);
    if (known != processes_.end()) {
      look_beneath(child, std::string(known->second.stage), 0);
    } else if (stages.size() == 1) {
      look_beneath(child, stages.begin()->first, 0);
    }
  }
  std::erase_if(processes_, [&](const auto& one) { return !visited_.contains(one.first); });
  return is_new_;
}

void LibraryView::look_beneath(int pid, const std::string& stage, int parent) {
  std::deque<std::pair<int, int>> waiting{{pid, parent}};
  for (; !waiting.empty(); waiting.pop_front()) {
    const auto [process, its_parent] = waiting.front();
    const auto stat = base::process_stat(process, proc_);
    if (!stat || stat->has_ended() || !visited_.insert(process).second) continue;
    visit(*stat, stage, its_parent);
    for (const int child : base::children_of(process, proc_))
      waiting.emplace_back(child, process);
  }
}

void LibraryView::visit(const base::ProcessStat& stat, const std::string& stage, int parent) {
  auto known = processes_.find(stat.pid);
  const bool has_grown =
      known == processes_.end() || known->second.virtual_bytes != stat.virtual_bytes;
  if (has_grown) {
    // Between its fork and its program a child is a copy of this process.
    if (is_same_file(base::stamp_of(folder_of(stat.pid) / "exe"), own_program_)) return;
    if (known == processes_.end()) {
      is_new_ = true;
      known = processes_.emplace(stat.pid, Known{}).first;
      known->second.stage = stage;
    }
    known->second.virtual_bytes = stat.virtual_bytes;
    if (const auto its = processes_.find(parent); its != processes_.end())
      its->second.had_children = true;
    read_maps(stat.pid, stage, parent == self_);
  }
  look_for_missed(stat, known->second);
  if (visitor_ && visitor_(stat.pid, stage)) is_new_ = true;
}

/// The kernel adds the page faults of a child to its parent after a wait; every program has some.
void LibraryView::look_for_missed(const base::ProcessStat& stat, Known& known) {
  if (stat.child_faults > known.child_faults && !known.had_children) {
    note(fmt::format("stage {}: processes that '{}' started ended before they could be looked at",
                     known.stage,
                     name_of(stat.pid)));
  }
  known.child_faults = stat.child_faults;
}

void LibraryView::read_maps(int pid, const std::string& stage, bool is_first) {
  const std::string maps = whole_text(folder_of(pid) / "maps");
  if (maps.empty()) {
    if (base::process_stat(pid, proc_).value_or(base::ProcessStat{}).virtual_bytes > 0) {
      note(
          fmt::format("stage {}: what '{}' has loaded may not be seen (it runs as another user, "
                      "or does not let itself be looked at)",
                      stage,
                      name_of(pid)));
    }
    return;
  }
  if (is_first) seen_stages_.insert(stage);
  const std::string program = link_text(folder_of(pid) / "exe");
  const bool is_ours = sees_our_files(pid);
  for (const ExecutableMapping& mapping : executable_mappings(maps)) {
    if (mapping.is_gone) {
      note(fmt::format("{}: was removed or replaced while it was loaded",
                       base::printable(mapping.path)));
      continue;
    }
    const Key key{std::string(mapping.path), mapping.inode};
    const auto found = files_.find(key);
    if (found == files_.end() && files_.size() >= most_files) {
      note(fmt::format("only the first {} files that were loaded are listed", most_files));
      return;
    }
    MappedFile* file = found == files_.end() ? add(pid, is_ours, key) : &found->second;
    if (file == nullptr) {
      note(fmt::format("stage {}: not all that '{}' had loaded could be looked at in its time",
                       stage,
                       name_of(pid)));
      continue;
    }
    file->stages.insert(stage);
    file->is_program = file->is_program || file->path == program;
    file->is_first = file->is_first || (is_first && file->path == program);
  }
}

/// Called after the maps were read: an ended process gives false.
bool LibraryView::sees_our_files(int pid) const {
  const std::string mounts = link_text(folder_of(pid) / "ns" / "mnt");
  return !mounts.empty() && mounts == own_mounts_ && link_text(folder_of(pid) / "root") == "/";
}

MappedFile* LibraryView::add(int pid, bool is_ours, const Key& key) {
  const fs::path there = folder_of(pid) / "root" / fs::path(key.first).relative_path();
  const auto here = base::stamp_of(key.first);
  const auto seen = is_ours ? here : base::stamp_of(there);
  if (!is_ours && !seen) return nullptr;
  is_new_ = true;
  MappedFile& file = files_[key];
  file.path = key.first;
  file.is_hidden = !is_ours && !is_same_file(here, seen);
  file.stamp = seen.value_or(base::FileStamp{});
  if (file.is_hidden) {
    if (const auto facts = read_elf(there)) file.build_id = facts->build_id;
    hidden_.push_back({key, there});
  }
  return &file;
}

void LibraryView::begin_hashing() {
  const Hidden next = std::move(hidden_.front());
  hidden_.pop_front();
  base::UniqueFd fd(::open(next.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return;
  // Another process may have this id now.
  const auto now = base::stamp_of(fmt::format("/proc/self/fd/{}", fd.get()));
  if (now == files_[next.key].stamp) hashing_ = Hashing{next.key, std::move(fd), base::Hasher()};
}

void LibraryView::hash_some() {
  if (!hashing_) begin_hashing();
  if (!hashing_) return;
  std::string block(view_block_bytes, '\0');
  const ssize_t got = ::read(hashing_->fd.get(), block.data(), block.size());
  if (got > 0) {
    hashing_->hasher.update(std::string_view(block.data(), static_cast<std::size_t>(got)));
    return;
  }
  if (got == 0) files_[hashing_->key].digest = hashing_->hasher.finish();
  hashing_.reset();
}

SeenFiles LibraryView::finish(const std::set<std::string>& begun, double cpu_s) {
  for (const std::string& stage : begun) {
    if (seen_stages_.contains(stage)) continue;
    note("stage " + stage +
         ": its process ended before it could be looked at; what it had loaded is not known");
  }
  SeenFiles seen;
  for (auto& [key, file] : files_)
    seen.files.push_back(std::move(file));
  seen.notes.assign(notes_.begin(), notes_.end());
  seen.cpu_s = cpu_s;
  return seen;
}

}  // namespace sabath::probe
