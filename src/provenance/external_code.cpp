#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/provenance/external_code.hpp>
#include <sabath/provenance/file_digests.hpp>
#include <sabath/provenance/git_state.hpp>
#include <sabath/spec/facet.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t most_bytes = 4U << 20U;
constexpr std::size_t most_outside_files = 2000;
constexpr std::size_t most_entries = 20'000;

template <class List>
bool contains(const List& list, std::string_view wanted) {
  return std::ranges::find(list, wanted) != list.end();
}

/// What is executed as it stands, or compiled from: not what a run writes beside it.
bool is_source(const fs::path& file) {
  constexpr std::array<std::string_view, 24> endings{
      ".R",  ".bash", ".c", ".cc", ".cpp", ".cu",  ".cuh", ".cxx", ".f",  ".f90", ".h",   ".hpp",
      ".jl", ".lua",  ".m", ".pl", ".pm",  ".pxd", ".py",  ".pyx", ".rb", ".sh",  ".F90", ".r"};
  return contains(endings, file.extension().string());
}

/// Where packages are installed: the record has their versions.
bool is_of_packages(const fs::path& folder) {
  return std::any_of(folder.begin(), folder.end(), [](const fs::path& part) {
    return part == "site-packages" || part == "dist-packages" || part == "node_modules";
  });
}

/// The sources beneath a folder; nothing where they are too many to be looked at. Throws
/// Error{not_found|storage}.
std::optional<std::vector<base::TreeFile>> sources_in(const fs::path& folder) {
  std::size_t entries = 0;
  const auto leaves_out = [&](const fs::directory_entry& entry) {
    std::error_code code;
    if (++entries > most_entries) return true;
    if (entry.is_directory(code) && !entry.is_symlink(code)) {
      return entry.path().filename().string().starts_with('.') ||
             is_of_packages(entry.path().lexically_relative(folder));
    }
    return !is_source(entry.path());
  };
  auto files = base::list_tree(folder, leaves_out);
  std::uint64_t bytes = 0;
  for (const base::TreeFile& file : files)
    bytes += file.size_bytes;
  if (entries > most_entries || files.size() > most_outside_files || bytes > most_bytes)
    return std::nullopt;
  return files;
}

/// Where a home, or everybody's folder for temporary files, is itself what is named, most of what
/// lies there has nothing to do with it.
bool is_of_all_kinds(const fs::path& folder) {
  std::error_code code;
  const base::Environment variables = base::current_environment();
  const auto home = variables.find("HOME");
  const bool is_sticky =
      (fs::status(folder, code).permissions() & fs::perms::sticky_bit) != fs::perms::none;
  return is_sticky || folder == folder.root_path() ||
         (home != variables.end() && fs::equivalent(folder, home->second, code));
}

/// Empty if it has no sources.
std::string state_of_folder(const fs::path& folder) {
  try {
    const auto files = sources_in(folder);
    if (!files) return "too large to be looked at";
    return files->empty() ? "" : base::tree_digest(folder, *files).text();
  } catch (const Error&) {
    return "cannot be read";
  }
}

/// What git does not know adds to what differs from the commit: results that lie there do not.
void add_untracked(const fs::path& top, const spec::GitState& git, std::string& changes) {
  for (const std::string& one : git.dirty) {
    if (!one.starts_with("? ")) continue;
    const fs::path relative = one.substr(2);
    const bool is_hidden = std::any_of(relative.begin(), relative.end(), [](const fs::path& part) {
      return part.string().starts_with('.');
    });
    if (is_hidden || is_of_packages(relative)) continue;
    const fs::path path = top / relative;
    std::error_code code;
    std::string state;
    if (fs::is_directory(path, code) && !fs::exists(path / ".git", code)) {
      state = state_of_folder(path);
    } else if (fs::is_regular_file(path, code) && is_source(path)) {
      state = fs::file_size(path, code) > most_bytes ? "too large to be looked at"
                                                     : base::digest_file(path).text();
    }
    if (!state.empty()) changes += one + "\n" + state + "\n";
  }
}

std::string state_of_repository(const fs::path& top,
                                base::ProcessRunner& processes,
                                const std::stop_token& stop) {
  try {
    std::error_code code;
    fs::path temporary = fs::temp_directory_path(code);
    if (code) temporary = "/tmp";  // $TMPDIR is not there
    const base::TempDir scratch(temporary, "sabath-code-");
    const fs::path diff = scratch.path() / "diff";
    const spec::GitState git = look_at_git(top, diff, processes, stop);
    std::string changes;
    if (!git.diff.empty()) {
      changes = base::read_file(diff);
      for (const auto& [path, commit] : git.submodules)
        changes += path + " " + commit + "\n";
    }
    add_untracked(top, git, changes);
    std::string text = git.commit.empty() ? "no commit" : git.commit;
    if (!changes.empty()) text += " + " + base::sha256_of(changes).text();
    if (!git.no_diff.empty() || git.dirty_files > git.dirty.size()) text += " + unknown changes";
    return text;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return "git cannot tell";
  }
}

/// Folders, by whether they are the top of a repository.
using Places = std::map<fs::path, bool>;

void add_place(const fs::path& named, Places& places) {
  std::error_code code;
  const fs::path path = fs::canonical(named, code);
  if (code || is_of_system(path) || is_of_packages(path)) return;
  const bool is_folder = fs::is_directory(path, code);
  const fs::path folder = is_folder ? path : path.parent_path();
  // Who keeps a home's settings in git has not all that lies there in it.
  if (const auto top = repository_around(folder); top && !is_of_all_kinds(*top)) {
    places[*top] = true;
    return;
  }
  // Python looks for modules beside its script; another script's neighbours are its own affair.
  if ((is_folder || path.extension() == ".py") && !is_of_all_kinds(folder)) places[folder] = false;
}

/// Adds the folders of a PYTHONPATH among `variables`, but for those beneath `prefix`.
void add_python_path(const std::map<std::string, std::string>& variables,
                     const std::string& prefix,
                     Places& places) {
  const auto own = variables.find("PYTHONPATH");
  if (own == variables.end()) return;
  std::istringstream value(own->second);
  for (std::string entry; std::getline(value, entry, ':');) {
    const bool is_absolute = entry.starts_with('/') && entry.find('{') == std::string::npos;
    if (is_absolute && !base::is_beneath(entry, prefix)) add_place(entry, places);
  }
}

Places places_of(const spec::Recipe& recipe,
                 const spec::RunPlan& plan,
                 const base::Environment& session) {
  Places places;
  for (const fs::path& path : named_code(recipe, plan.parameters))
    add_place(path, places);
  for (const spec::Stage& stage : recipe.stages)
    add_python_path(stage.variables, "", places);
  for (const spec::BuiltEnvironment& environment : plan.environments()) {
    for (const spec::BuiltLayer& layer : environment.layers)
      add_python_path(layer.variables, layer.prefix, places);
  }
  if (session.contains("PYTHONPATH"))
    add_python_path(home::variables_facet(plan, session).items, "", places);
  return places;
}

}  // namespace

bool has_external_code(const spec::Recipe& recipe,
                       const spec::RunPlan& plan,
                       const base::Environment& session) {
  return !places_of(recipe, plan, session).empty();
}

std::map<std::string, std::string> external_code(const spec::Recipe& recipe,
                                                 const spec::RunPlan& plan,
                                                 const base::Environment& session,
                                                 base::ProcessRunner& processes,
                                                 const std::stop_token& stop) {
  // By name alone, and in an order that does not depend on where each lies.
  std::map<std::string, std::set<std::string>> states;
  for (const auto& [folder, is_repository] : places_of(recipe, plan, session)) {
    const std::string state =
        is_repository ? state_of_repository(folder, processes, stop) : state_of_folder(folder);
    if (state.empty()) continue;
    states[std::string(is_repository ? spec::repository_item : spec::folder_item) +
           folder.filename().string()]
        .insert(state);
  }
  std::map<std::string, std::string> items;
  for (const auto& [name, its] : states) {
    for (const std::string& state : its)
      items[name] += (items[name].empty() ? "" : "; ") + state;
  }
  return items;
}

}  // namespace sabath::provenance
