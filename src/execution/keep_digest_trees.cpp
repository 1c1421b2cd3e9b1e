#include "real_folders.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/compare/array_trees.hpp>
#include <sabath/execution/keep_digest_trees.hpp>
#include <sabath/spec/output_rule.hpp>

#include <chrono>

namespace sabath::execution {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint64_t least_bytes = 1U << 20U;
constexpr std::uint64_t most_text = 1U << 30U;
/// Reading may take without end, as the values of some files do.
constexpr std::chrono::seconds least_time{60};
constexpr std::uint64_t bytes_per_second = 8U << 20U;

}  // namespace

std::filesystem::path trees_file(const home::RunFiles& files, const spec::OutputRecord& output) {
  return files.directory() / "trees" / output.stage / (output.path + ".json");
}

void keep_trees(spec::OutputRecord& output,
                const home::RunFiles& files,
                const std::string& recipe_text,
                base::Observer& observer,
                const std::stop_token& stop) {
  if (output.size_bytes < least_bytes) return;
  const spec::Recipe recipe = spec::parse_recipe(recipe_text, "recipe");
  const spec::OutputRule rule = spec::rule_for(recipe.compare, output.stage, output.path);
  const std::chrono::seconds most =
      least_time + std::chrono::seconds(output.size_bytes / bytes_per_second);
  const base::ReadLimits limits{stop, std::chrono::steady_clock::now() + most};
  const auto between = [&] {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::interrupted,
                  "interrupted while the values of its output '" + output.path + "' were hashed");
    }
    if (std::chrono::steady_clock::now() < limits.until) return;
    throw Error(ErrorKind::integrity,
                "reading them takes longer than " + base::format_duration(most));
  };
  const auto warn = [&](const char* why) {
    observer.note("output " + output.stage + "/" + output.path +
                  ": no digests of its values: " + why);
  };
  try {
    const auto source =
        arrays::open_arrays(files.outputs(output.stage) / output.path, rule, limits);
    if (!source) return;
    between();
    const std::string text = spec::text_of(compare::make_trees(*source, rule.tolerance, between));
    const std::filesystem::path file = trees_file(files, output);
    make_real_folders(files.directory(), file.parent_path());
    base::write_file_atomically(file, text, base::Durability::ordered_only);
    output.trees = base::sha256_of(text);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    warn(error.what());
  } catch (const std::exception& error) {
    warn(error.what());  // such as out of memory, for a hostile file
  }
}

std::optional<spec::OutputTrees> read_trees(const home::RunFiles& files,
                                            const spec::OutputRecord& output) {
  const std::filesystem::path file = trees_file(files, output);
  const auto text = base::read_file_if_exists(file, most_text);
  if (!text) return std::nullopt;
  if (base::sha256_of(*text) != output.trees) {
    throw Error(ErrorKind::integrity,
                file.string() + ": was changed after the run",
                "its digest differs from the one in the record of the run");
  }
  return spec::parse_output_trees(*text, file.string());
}

}  // namespace sabath::execution
