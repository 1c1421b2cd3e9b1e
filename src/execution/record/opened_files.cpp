#include "opened_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/provenance/file_digests.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;

constexpr std::uint64_t largest_hashed = std::uint64_t{64} << 20U;
constexpr std::size_t most_files = 2000;
constexpr std::size_t most_file_notes = 20;

/// Modules of Python itself, packages, and what is compiled from listed sources.
bool is_of_packages(std::string_view path) {
  constexpr auto folders = std::to_array<std::string_view>(
      {"/site-packages/", "/dist-packages/", "/node_modules/", "/__pycache__/", "/lib/python3."});
  return std::ranges::any_of(folders, [&](std::string_view folder) {
    return path.find(folder) != std::string_view::npos;
  });
}

/// Stops a digest that takes longer than the time that is left.
struct OutOfTime {};

class Budget {
 public:
  Budget(std::chrono::nanoseconds time, const std::stop_token& stop)
      : until_(std::chrono::steady_clock::now() + time), stop_(stop) {}

  bool is_spent() const {
    return stop_.stop_requested() || std::chrono::steady_clock::now() >= until_;
  }

 private:
  std::chrono::steady_clock::time_point until_;
  std::stop_token stop_;
};

/// "12 bytes, sha256:...", or the size alone without a digest.
std::string content_of(const probe::SeenOpen& file,
                       provenance::FileDigests& digests,
                       const Budget& budget) {
  std::string size = fmt::format("{} bytes", file.stamp.size_bytes);
  if (file.stamp.size_bytes > largest_hashed || budget.is_spent()) return size;
  try {
    const base::Digest digest = digests.of(file.path, [&](std::uint64_t) {
      if (budget.is_spent()) throw OutOfTime();
    });
    // Else the digest would be of another file than the opened one.
    return base::stamp_of(file.path) == file.stamp ? size + ", " + digest.text() : size;
  } catch (const OutOfTime&) {
    return size;
  } catch (const Error&) {
    return size;  // it was readable to another user only
  }
}

void add_notes(std::vector<std::string> notes, spec::Facet& facet) {
  if (notes.size() > most_file_notes) {
    const std::size_t more = notes.size() - most_file_notes;
    notes.resize(most_file_notes);
    notes.push_back(fmt::format("and {} more", more));
  }
  for (std::size_t i = 0; i < notes.size(); ++i)
    facet.items[fmt::format("{}{}", spec::opened_note, i + 1)] = notes[i];
}

}  // namespace

std::function<bool(const std::string& path)> known_places(const spec::RunPlan& plan,
                                                          const fs::path& run_directory) {
  std::vector<fs::path> folders{
      run_directory, plan.recipe_directory, plan.cache_directory, plan.state_directory};
  for (const spec::BuiltEnvironment& environment : plan.environments()) {
    for (const spec::BuiltLayer& layer : environment.layers)
      folders.emplace_back(layer.prefix);
  }
  for (const spec::PlannedInput& input : plan.inputs) {
    folders.emplace_back(input.path);
    folders.emplace_back(input.copy);
  }
  // Processes report the targets of links.
  for (std::size_t i = 0, count = folders.size(); i < count; ++i) {
    std::error_code code;
    const fs::path target = fs::canonical(folders[i], code);
    if (!code && target != folders[i]) folders.push_back(target);
  }
  std::erase_if(folders, [](const fs::path& folder) { return folder.empty(); });
  return [folders = std::move(folders)](const std::string& path) {
    if (is_of_packages(path) || provenance::is_of_system(path)) return true;
    return std::ranges::any_of(
        folders, [&](const fs::path& folder) { return base::is_beneath(path, folder); });
  };
}

spec::Facet opened_facet(const probe::SeenOpens& seen,
                         const std::set<std::string>& loaded,
                         const fs::path& state_directory,
                         std::chrono::nanoseconds time,
                         const std::stop_token& stop) {
  spec::Facet facet{std::string(spec::opened_facet),
                    {{std::string(spec::opened_method), seen.method}}};
  std::vector<std::string> notes = seen.notes;
  std::vector<const probe::SeenOpen*> files;
  for (const probe::SeenOpen& file : seen.files) {
    const bool is_own = std::max(file.stamp.modified_ns, file.stamp.changed_ns) >= seen.began_ns;
    if (is_own || loaded.contains(file.path)) continue;
    if (base::stamp_of(file.path) == file.stamp) {
      files.push_back(&file);
    } else {
      notes.push_back(base::printable(file.path) + ": was changed after it was opened");
    }
  }
  if (files.size() > most_files) {
    notes.push_back(fmt::format("only {} of {} files are listed", most_files, files.size()));
    files.resize(most_files);
  }
  std::ranges::stable_sort(files, [](const auto* a, const auto* b) {
    return a->stamp.size_bytes < b->stamp.size_bytes;
  });
  const Budget budget(time, stop);
  provenance::FileDigests digests(state_directory);
  for (const probe::SeenOpen* file : files)
    facet.items[base::printable(file->path)] = content_of(*file, digests, budget);
  digests.save();
  add_notes(std::move(notes), facet);
  return facet;
}

}  // namespace sabath::execution
