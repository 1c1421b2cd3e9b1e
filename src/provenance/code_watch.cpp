#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sabath::provenance {
namespace {

/// In place of a digest.
constexpr const char* gone = "gone";

std::string files_text(const std::vector<std::string>& files) {
  constexpr std::size_t shown = 3;
  if (files.empty()) return {};
  const auto end = files.begin() + static_cast<std::ptrdiff_t>(std::min(shown, files.size()));
  const std::string names = base::printable(fmt::format("{}", fmt::join(files.begin(), end, ", ")));
  const std::string more =
      files.size() > shown ? fmt::format(" and {} more", files.size() - shown) : "";
  return ": " + names + more;
}

using Stamps = std::map<std::string, std::string>;

/// Files that are not in both as they are in the other.
std::vector<std::string> differing(const Stamps& before, const Stamps& now) {
  std::vector<std::string> files;
  for (const auto& [path, stamp] : now) {
    const auto found = before.find(path);
    if (found == before.end() || found->second != stamp) files.push_back(path);
  }
  for (const auto& [path, stamp] : before) {
    if (!now.contains(path)) files.push_back(path);
  }
  return files;
}

}  // namespace

CodeWatch::CodeWatch(const spec::RunPlan& plan, const spec::Recipe& recipe)
    : state_directory_(plan.state_directory) {
  for (const spec::Stage& stage : recipe.stages) {
    const auto names = spec::names_in(stage);
    const bool is_named = std::ranges::any_of(
        names, [](const std::string& name) { return name == "recipe" || name == "code"; });
    if (is_named) stages_.insert(stage.name);
  }
  // Of the whole folder where some stage names that, else of the folder `code` in it.
  for (const auto& [item, place] : {std::pair("recipe", ""), std::pair("tree", "code")}) {
    const auto digest = plan.code.find(item);
    if (stages_.empty() || digest == plan.code.end()) continue;
    folder_ = std::filesystem::path(plan.recipe_directory) / place;
    planned_ = last_ = digest->second;
    return;
  }
  // A plan has no item for an empty folder, into which a file may come.
  const auto code = std::filesystem::path(plan.recipe_directory) / "code";
  std::error_code error;
  if (stages_.empty() || !std::filesystem::is_directory(code, error)) return;
  folder_ = code;
  planned_ = last_ = base::sha256_of("").text();
}

std::optional<std::string> CodeWatch::changed_digest(std::vector<std::string>& files) {
  constexpr int most_looks = 3;
  for (int look = 1; look <= most_looks; ++look) {
    try {
      const CodeFolder folder(folder_);
      bool is_settled = false;
      auto stamps = folder.stamps(is_settled);
      if (is_settled_ && stamps == stamps_) return std::nullopt;
      std::string digest = folder.digest(state_directory_).text();
      if (!stamps_.empty()) files = differing(stamps_, stamps);
      stamps_ = std::move(stamps);
      is_settled_ = is_settled;
      return digest;
    } catch (const base::Error&) {
      // A file may go while one looks: an editor's, or what another process renames.
      std::error_code code;
      if (std::filesystem::is_directory(folder_, code)) continue;
      stamps_.clear();
      return gone;
    }
  }
  is_settled_ = false;
  return std::nullopt;
}

CodeWatch::Look CodeWatch::look(const std::string& stage,
                                const std::string& seen,
                                base::Observer& observer) {
  if (folder_.empty() || !stages_.contains(stage)) return {};
  const std::lock_guard lock(mutex_);
  std::vector<std::string> files;
  const auto digest = changed_digest(files);
  if (digest && *digest != last_) {
    last_ = *digest;
    observer.warn("the recipe's folder was changed " + seen + files_text(files),
                  "the record says so; its code is kept as it was when the run was planned");
    files.resize(std::min(files.size(), spec::CodeChange::max_files));
    changes_.push_back(
        {seen, base::parse_digest(last_).value_or(base::Digest{}), std::move(files)});
  }
  return {last_ == planned_, changes_.size()};
}

std::vector<spec::CodeChange> CodeWatch::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void note_changes(const CodeWatch& watch, spec::RunPlan& plan, spec::RunRecord& record) {
  std::vector<spec::CodeChange> changes = watch.changes();
  if (!changes.empty() && plan.code_state) {
    auto& all = plan.code_state->changed;
    if (!all) all.emplace();
    std::move(changes.begin(), changes.end(), std::back_inserter(*all));
  }
  record.code_state = plan.code_state;
}

std::map<std::string, std::string> change_items(const std::vector<spec::CodeChange>& changes) {
  std::map<std::string, std::string> items;
  for (const spec::CodeChange& change : changes)
    items["changed " + change.seen] = change.code.hex.empty() ? gone : change.code.text();
  return items;
}

}  // namespace sabath::provenance
