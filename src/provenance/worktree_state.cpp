#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/provenance/worktree_state.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <string_view>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;
using Items = std::map<std::string, std::string>;

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
void add_diff(const std::string& diff, Items& items) {
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

Items worktree_state(const spec::RunRecord& record, const fs::path& run_directory) {
  Items items;
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
