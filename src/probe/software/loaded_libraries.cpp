#include "elf_file.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/text/text_memo.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/loaded_libraries.hpp>

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Digest and build id of a file. An empty digest means that the file is not ELF.
struct Content {
  std::string hex{};
  std::string build_id{};

  std::string text() const { return hex + " " + build_id; }
  static Content from(const std::string& text) {
    const auto space = std::min(text.find(' '), text.size());
    return {text.substr(0, space), text.substr(std::min(space + 1, text.size()))};
  }
};

constexpr std::size_t block_bytes = std::size_t{1} << 20U;

std::string key_of(const MappedFile& file) {
  return file.stamp.text() + ":" + file.path;
}

/// Content of a file, or why it was not read; neither where it was stopped.
struct Reading {
  std::optional<Content> content{};
  std::string problem{};
};

/// Calls `on_block` with the size of each block; false stops.
Reading read_content(const MappedFile& file, const std::function<bool(std::size_t)>& on_block) {
  const auto failed = [] { return Reading{{}, "could not be read: " + base::errno_text(errno)}; };
  const base::UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return failed();
  base::Hasher hasher;
  std::string block(block_bytes, '\0');
  for (bool is_first = true;; is_first = false) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    if (is_first && !bytes.starts_with(ELFMAG)) return {Content{}, {}};
    if (got == 0) break;
    hasher.update(bytes);
    if (!on_block(bytes.size())) return {};
  }
  if (base::stamp_of(file.path) != file.stamp) return {{}, "changed while it was hashed"};
  const auto facts = read_elf(file.path);
  if (!facts) return {Content{}, {}};
  return {Content{hasher.finish().hex, facts->build_id}, {}};
}

class Identification {
 public:
  Identification(const std::vector<MappedFile>& seen, const fs::path& state_directory)
      : seen_(seen), contents_(seen.size()), memo_(state_directory / "libraries") {}

  IdentifiedFiles run(const std::stop_token& stop, const HashedBytes& report) {
    find_known();
    hash_rest(stop, report);
    for (std::size_t i = 0; i < seen_.size(); ++i)
      add(i);
    memo_.save();
    result_.notes.assign(notes_.begin(), notes_.end());
    return std::move(result_);
  }

 private:
  void find_known() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const MappedFile& file = seen_[i];
      if (file.is_hidden) continue;
      if (base::stamp_of(file.path) != file.stamp) {
        notes_.insert(base::printable(file.path) + ": changed since it was loaded");
        continue;
      }
      if (const auto known = memo_.get(key_of(file))) {
        contents_[i] = Content::from(*known);
      } else {
        unknown_.push_back(i);
      }
    }
  }

  void hash_rest(const std::stop_token& stop, const HashedBytes& report) {
    // The largest first, so that all cores end together.
    std::sort(unknown_.begin(), unknown_.end(), [&](std::size_t a, std::size_t b) {
      return seen_[a].stamp.size_bytes > seen_[b].stamp.size_bytes;
    });
    std::uint64_t total = 0;
    for (const std::size_t i : unknown_)
      total += seen_[i].stamp.size_bytes;
    std::atomic<std::uint64_t> done = 0;
    std::vector<Reading> readings(unknown_.size());
    base::for_each_in_parallel(unknown_.size(), [&](std::size_t at) {
      if (stop.stop_requested()) return;
      readings[at] = read_content(seen_[unknown_[at]], [&](std::size_t bytes) {
        if (report) report(done += bytes, total);
        return !stop.stop_requested();
      });
    });
    take(readings);
  }

  void take(std::vector<Reading>& readings) {
    std::size_t left = 0;
    for (std::size_t at = 0; at < readings.size(); ++at) {
      const MappedFile& file = seen_[unknown_[at]];
      Reading& reading = readings[at];
      if (!reading.problem.empty()) {
        notes_.insert(base::printable(file.path) + ": " + reading.problem);
      } else if (!reading.content) {
        ++left;
      } else {
        if (file.stamp.is_settled()) memo_.put(key_of(file), reading.content->text());
        contents_[unknown_[at]] = std::move(reading.content);
      }
    }
    if (left == 0) return;
    notes_.insert(std::to_string(left) +
                  " loaded file(s) were not hashed, as the run was interrupted");
  }

  void add(std::size_t i) {
    const MappedFile& file = seen_[i];
    if (file.is_hidden && file.digest) contents_[i] = Content{file.digest->hex, file.build_id};
    if (file.is_hidden && !file.digest) {
      notes_.insert(
          "not all that was loaded in a container or namespace could be hashed in its "
          "time; such files are not listed");
    }
    if (!contents_[i] || contents_[i]->hex.empty()) return;
    IdentifiedFile identified{{file.path,
                               file.stamp.size_bytes,
                               {base::DigestAlgorithm::sha256, contents_[i]->hex},
                               contents_[i]->build_id,
                               {file.stages.begin(), file.stages.end()}},
                              file.is_program,
                              file.is_first,
                              file.is_hidden};
    result_.files.push_back(std::move(identified));
  }

  const std::vector<MappedFile>& seen_;
  std::vector<std::optional<Content>> contents_;
  std::vector<std::size_t> unknown_{};
  base::TextMemo memo_;
  std::set<std::string> notes_{};
  IdentifiedFiles result_{};
};

}  // namespace

IdentifiedFiles identify_files(const std::vector<MappedFile>& seen,
                               const fs::path& state_directory,
                               std::stop_token stop,
                               const HashedBytes& report) {
  return Identification(seen, state_directory).run(stop, report);
}

std::vector<std::string> compilers_of(const fs::path& file) {
  std::set<std::string> names;
  if (const auto facts = read_elf(file)) {
    for (const std::string& comment : facts->compilers)
      names.insert(compiler_name(comment));
  }
  return {names.begin(), names.end()};
}

}  // namespace sabath::probe
