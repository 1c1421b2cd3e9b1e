#include <sabath/base/archive/archive.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/text/line_diff.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/provenance/code_differences.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;
using base::Error;

constexpr std::size_t most_listed_files = 200;
constexpr std::size_t most_lines = 300;         ///< of a file's diff
constexpr std::size_t most_text = 128U << 10U;  ///< of all of them
constexpr std::uint64_t longest_file = 1U << 20U;

/// What a recipe's folder had in a run: unpacked, or just its document.
struct Folder {
  fs::path place{};
  std::map<std::string, base::TreeFile> files{};
};

/// Why a run's code cannot be looked at; nothing: it was unpacked into `folder`.
std::optional<std::string> unpack(const CodeSide& side, Folder& folder) {
  const auto& state = side.record.code_state;
  if (!state) return "was made by an earlier version, and kept no code";
  if (state->kept.empty()) return "kept no code: " + state->not_kept;
  base::ArchiveLimits limits;
  limits.entries = 10'000;
  limits.total_bytes = 64U << 20U;
  try {
    base::SilentObserver silent;
    const fs::path archive = side.run_directory / fs::path(state->kept).filename();
    std::error_code code;
    if (!fs::exists(archive, code)) return "has lost the code that it kept";
    base::extract_archive(archive, folder.place, limits, silent);
    if (base::tree_digest(folder.place) != state->tree) return "kept code that was changed since";
    const CodeFolder code_of(folder.place);  // earlier versions kept baselines, too
    for (const base::TreeFile& file : code_of.files())
      folder.files.emplace(file.path, file);
  } catch (const Error& error) {
    return std::string("kept code that cannot be read: ") + error.what();
  }
  return std::nullopt;
}

bool is_text(std::string bytes) {
  std::erase(bytes, '\r');
  // Binary data does not survive this; a comment in an older encoding may.
  return bytes.find('\0') == std::string::npos &&
         base::printable(bytes, true).size() <= bytes.size() + bytes.size() / 20;
}

/// Gathers the files that differ, within bounds.
class Differences {
 public:
  explicit Differences(spec::Comparison& comparison) : comparison_(comparison) {}

  void add_file(const std::string& path, const Folder* a, const Folder* b) {
    if (comparison_.code.size() == most_listed_files) {
      ++more_;
      return;
    }
    spec::CodeDifference difference;
    difference.path = path;
    difference.change = a == nullptr ? "added" : b == nullptr ? "removed" : "changed";
    const base::TreeFile* of_a = a == nullptr ? nullptr : &a->files.at(path);
    const base::TreeFile* of_b = b == nullptr ? nullptr : &b->files.at(path);
    const auto is_link = [](const base::TreeFile* file) {
      return file != nullptr && !file->link_target.empty();
    };
    if (is_link(of_a) || is_link(of_b)) {
      difference.note = fmt::format("link: {} in A, {} in B", target_of(of_a), target_of(of_b));
    } else if (std::max(size_of(of_a), size_of(of_b)) > longest_file) {
      difference.note = "too long for a diff";
    } else {
      add_text(read(a, path), read(b, path), difference);
      if (of_a != nullptr && of_b != nullptr && of_a->executable != of_b->executable) {
        difference.note += fmt::format("{}only {} can be executed",
                                       difference.note.empty() ? "" : "; ",
                                       of_a->executable ? "A's" : "B's");
      }
    }
    comparison_.code.push_back(std::move(difference));
  }

  void add_text(const std::string& a, const std::string& b, spec::CodeDifference& difference) {
    if (!is_text(a) || !is_text(b)) {
      difference.note = fmt::format("no text: {} bytes in A, {} in B", a.size(), b.size());
      return;
    }
    base::LineDiff diff = base::line_diff(a, b, most_lines);
    difference.added = diff.added;
    difference.removed = diff.removed;
    std::string text = base::printable(base::redact(diff.text), true);
    if (text_ + text.size() > most_text) {
      difference.note = "no room for its diff";
      return;
    }
    text_ += text.size();
    difference.diff = std::move(text);
    if (diff.is_cut) difference.note = fmt::format("the first {} lines of its diff", most_lines);
  }

  void finish(std::string note) {
    if (more_ > 0) {
      note += note.empty() ? "" : "; ";
      note += more_ == 1 ? "1 more file differs" : fmt::format("{} more files differ", more_);
    }
    comparison_.code_note = std::move(note);
  }

 private:
  static std::uint64_t size_of(const base::TreeFile* file) {
    return file == nullptr ? 0 : file->size_bytes;
  }
  static std::string target_of(const base::TreeFile* file) {
    if (file == nullptr) return "nothing";
    return file->link_target.empty() ? "a file" : "'" + file->link_target + "'";
  }
  static std::string read(const Folder* folder, const std::string& path) {
    return folder == nullptr ? "" : base::read_file(folder->place / path, longest_file);
  }

  spec::Comparison& comparison_;
  std::size_t text_ = 0;
  std::size_t more_ = 0;
};

bool is_same(const Folder& a, const Folder& b, const std::string& path) {
  const base::TreeFile& one = a.files.at(path);
  const base::TreeFile& other = b.files.at(path);
  if (one.executable != other.executable || one.link_target != other.link_target ||
      one.size_bytes != other.size_bytes)
    return false;
  if (!one.link_target.empty()) return true;
  return base::digest_file(a.place / path) == base::digest_file(b.place / path);
}

void compare_folders(const Folder& a, const Folder& b, Differences& differences) {
  std::map<std::string, const base::TreeFile*> all;
  for (const Folder* folder : {&a, &b}) {
    for (const auto& [path, file] : folder->files)
      all.emplace(path, &file);
  }
  for (const auto& [path, file] : all) {
    const bool in_a = a.files.contains(path);
    const bool in_b = b.files.contains(path);
    if (in_a && in_b && is_same(a, b, path)) continue;
    differences.add_file(path, in_a ? &a : nullptr, in_b ? &b : nullptr);
  }
}

void compare_documents(const CodeSide& a,
                       const CodeSide& b,
                       Differences& differences,
                       spec::Comparison& comparison) {
  if (a.record.recipe_text == b.record.recipe_text) return;
  spec::CodeDifference difference;
  difference.path = "recipe.json";
  difference.change = "changed";
  differences.add_text(a.record.recipe_text, b.record.recipe_text, difference);
  comparison.code.push_back(std::move(difference));
}

/// What was kept is of when the run was planned.
std::string changes_text(const CodeSide& side, const std::string& before) {
  const auto& state = side.record.code_state;
  if (!state || !state->changed) return {};
  std::string text;
  for (const spec::CodeChange& change : *state->changed) {
    text += fmt::format(
        "{}{}{}",
        text.empty() ? "" : ", ",
        change.seen,
        change.files.empty() ? std::string() : fmt::format(" ({})", fmt::join(change.files, ", ")));
  }
  return before + side.record.run_id + " had its code changed " + text;
}

/// The path that a header "diff --git a/PATH b/PATH" names; git quotes odd ones as a whole.
std::string path_in(std::string_view header) {
  constexpr std::string_view plain = " b/";
  constexpr std::string_view quoted = " \"b/";
  for (const std::string_view mark : {quoted, plain}) {
    const auto at = header.rfind(mark);
    if (at == std::string_view::npos) continue;
    header.remove_prefix(at + mark.size());
    if (header.ends_with('"')) header.remove_suffix(1);
    break;
  }
  return std::string(header);
}

/// The parts of a diff by the files that they are of.
void add_diff(const std::string& diff, std::map<std::string, std::string>& items) {
  constexpr std::string_view head = "diff --git ";
  const auto next = [&](std::size_t from) {
    const auto at = diff.find("\n" + std::string(head), from);
    return at == std::string::npos ? diff.size() : at + 1;
  };
  for (std::size_t at = diff.starts_with(head) ? 0 : next(0); at < diff.size();) {
    const std::size_t end = next(at);
    const std::string_view part = std::string_view(diff).substr(at, end - at);
    items[path_in(part.substr(0, part.find('\n')))] = base::sha256_of(part).text();
    at = end;
  }
}

}  // namespace

void add_code_differences(const CodeSide& a, const CodeSide& b, spec::Comparison& comparison) {
  const bool differs = std::ranges::any_of(comparison.differences, [](const auto& difference) {
    return difference.facet == "code" ||
           (difference.facet == "recipe" && difference.item == "definition");
  });
  // Of two recipes each file would be another.
  if (!differs || a.record.recipe_name != b.record.recipe_name) return;
  Differences differences(comparison);
  try {
    const base::TempDir of_a(fs::temp_directory_path(), "sabath-code-");
    const base::TempDir of_b(fs::temp_directory_path(), "sabath-code-");
    Folder in_a{of_a.path(), {}};
    Folder in_b{of_b.path(), {}};
    std::string note;
    for (const auto& [side, folder] : {std::pair(&a, &in_a), std::pair(&b, &in_b)}) {
      if (const auto why = unpack(*side, *folder))
        note += (note.empty() ? "" : "; ") + side->record.run_id + " " + *why;
    }
    if (note.empty()) {
      compare_folders(in_a, in_b, differences);
    } else {
      compare_documents(a, b, differences, comparison);
      note += "; of the code only the recipe's documents were looked at";
    }
    for (const CodeSide* side : {&a, &b})
      note += changes_text(*side, note.empty() ? "" : "; ");
    differences.finish(note);
  } catch (const Error& error) {
    differences.finish(std::string("the code was not looked at: ") + error.what());
  } catch (const fs::filesystem_error& error) {
    differences.finish(std::string("the code was not looked at: ") + error.what());
  }
}

std::map<std::string, std::string> worktree_state(const spec::RunRecord& record,
                                                  const fs::path& run_directory) {
  std::map<std::string, std::string> items;
  if (!record.code_state || !record.code_state->git) return items;
  const spec::GitState& git = *record.code_state->git;
  if (!git.diff.empty()) {
    try {
      add_diff(base::read_file(run_directory / fs::path(git.diff).filename()), items);
    } catch (const base::Error&) {
      items.clear();  // then there are the names
    }
  }
  for (const std::string& one : git.dirty) {
    if (one.size() < 3) continue;
    const std::string path = one.substr(2);
    // Of a submodule that was changed the diff has the files.
    const auto part = items.lower_bound(path + "/");
    if (part != items.end() && part->first.starts_with(path + "/")) continue;
    items.emplace(path, one.substr(0, 1));
  }
  for (const auto& [path, commit] : git.submodules)
    items.emplace(path, commit);
  std::erase_if(items, [&](const auto& item) {
    return git.path.empty() || base::is_beneath(item.first, git.path);
  });
  items.emplace("the commit", git.commit);
  return items;
}

}  // namespace sabath::provenance
