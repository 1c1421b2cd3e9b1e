#include "elf_file.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/parallel.hpp>
#include <sabath/base/text_memo.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/probe/loaded_libraries.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// A file that was written within the clock's resolution of being hashed could change again without
/// its times changing.
constexpr std::int64_t settled_ns = 2'000'000'000;

bool is_settled(const FileStamp& stamp) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count() - stamp.changed_ns > settled_ns;
}

/// What is known of the bytes of a file: its digest and build id; an empty digest says that it is
/// no ELF file.
struct Content {
  std::string hex{};
  std::string build_id{};

  std::string text() const { return hex + " " + build_id; }
  static Content from(const std::string& text) {
    const auto space = std::min(text.find(' '), text.size());
    return {text.substr(0, space), text.substr(std::min(space + 1, text.size()))};
  }
};

/// Empty where the file changed since, or cannot be read.
std::optional<Content> read_content(const MappedFile& file) {
  const auto facts = read_elf(file.path);
  if (!facts) return Content{};
  try {
    Content content{base::digest_file(file.path).hex, facts->build_id};
    if (stamp_of(file.path) == file.stamp) return content;
  } catch (const base::Error&) {
    // Told as gone, as what was removed before.
  }
  return std::nullopt;
}

class Identification {
 public:
  Identification(const std::vector<MappedFile>& seen, const fs::path& state_directory)
      : seen_(seen), contents_(seen.size()), memo_(state_directory / "libraries") {}

  IdentifiedFiles run(const std::stop_token& stop) {
    find_known();
    hash_rest(stop);
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
      if (stamp_of(file.path) != file.stamp) {
        notes_.insert(base::printable(file.path) + ": changed since it was loaded");
        continue;
      }
      if (const auto known = memo_.get(file.stamp.text())) {
        contents_[i] = Content::from(*known);
      } else {
        unknown_.push_back(i);
      }
    }
  }

  void hash_rest(const std::stop_token& stop) {
    if (stop.stop_requested() && !unknown_.empty()) {
      notes_.insert(std::to_string(unknown_.size()) +
                    " loaded file(s) were not hashed, as the run was interrupted");
      return;
    }
    // The largest first, lest one core hashes it when the others are done.
    std::sort(unknown_.begin(), unknown_.end(), [&](std::size_t a, std::size_t b) {
      return seen_[a].stamp.size_bytes > seen_[b].stamp.size_bytes;
    });
    base::for_each_in_parallel(unknown_.size(), [&](std::size_t at) {
      contents_[unknown_[at]] = read_content(seen_[unknown_[at]]);
    });
    for (const std::size_t i : unknown_) {
      const MappedFile& file = seen_[i];
      if (!contents_[i]) {
        notes_.insert(base::printable(file.path) + ": changed while it was hashed");
      } else if (is_settled(file.stamp)) {
        memo_.put(file.stamp.text(), contents_[i]->text());
      }
    }
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
                               std::stop_token stop) {
  return Identification(seen, state_directory).run(stop);
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
