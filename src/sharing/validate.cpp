#include "local_files.hpp"
#include "validate_crate.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/lock_check.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/upstream.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/sharing/file_kind.hpp>
#include <sabath/sharing/validate.hpp>
#include <sabath/spec/package_lock.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using exchange::DocumentKind;

void add_notes(const std::vector<std::string>& notes, Validation& answer) {
  answer.notes.insert(answer.notes.end(), notes.begin(), notes.end());
}

/// Files of this machine that the document names are held against its digests.
void check_local_files(const spec::Asset& asset, const std::string& folder_url) {
  for (const spec::AssetFile& file : asset.files) {
    for (const std::string& source : file.sources) {
      if (!source.starts_with(folder_url)) continue;
      const fs::path path =
          base::percent_decoded(source.substr(std::string_view("file://").size()));
      for (const base::Digest& digest : file.digests) {
        if (base::digest_file(path, digest.algorithm) == digest) continue;
        throw Error(ErrorKind::integrity,
                    path.string() + ": its bytes are not those of " + digest.text());
      }
    }
  }
}

void validate_croissant(const fs::path& place, Validation& answer) {
  const fs::path folder = fs::absolute(place).parent_path();
  exchange::CroissantOrigin origin;
  origin.folder_url = "file://" + base::percent_encoded(folder.string(), "-._~/") + "/";
  origin.is_local = true;
  origin.local_files = [&folder](const std::string& pattern) {
    return files_matching(folder, pattern);
  };
  origin.local_packing = [&folder](const std::string& path) {
    return packing_of_file(folder / path);
  };
  const auto imported = exchange::read_croissant(base::read_file(place), place.string(), origin);
  add_notes(imported.notes, answer);
  check_local_files(imported.asset, origin.folder_url);
}

void validate_upstream(const fs::path& place, Validation& answer) {
  std::vector<exchange::UpstreamDocument> documents;
  std::error_code code;
  if (fs::is_directory(place, code)) {
    for (const fs::path& file : json_files(place))
      documents.push_back({file.stem(), base::read_file(file)});
  } else {
    documents.push_back({place.stem(), base::read_file(place)});
  }
  for (const auto& one : exchange::read_upstream(documents).assets)
    add_notes(one.notes, answer);
}

/// What is not ready: a problem where that was asked for, else notes.
void add_unready(const fs::path& place,
                 const std::vector<std::string>& unready,
                 bool ready,
                 Validation& answer) {
  if (!ready) return add_notes(unready, answer);
  if (unready.empty()) return;
  throw Error(ErrorKind::usage,
              base::printable(place.string()) + ": " + fmt::format("{}", fmt::join(unready, "; ")));
}

void validate_recipe(const fs::path& place, bool ready, Validation& answer) {
  const spec::Recipe recipe =
      home::load_recipe(fs::is_directory(place) ? place / "recipe.json" : place);
  std::vector<std::string> stale = env::lock_problems(recipe.environment, recipe.directory);
  for (std::string& problem : stale)
    problem = base::printable(problem) + "; 'sabath env lock RECIPE' resolves them";
  add_unready(place, stale, ready, answer);
}

/// The lock itself, and whether it is that of the recipe beside it.
void validate_lock(const fs::path& place, bool ready, Validation& answer) {
  spec::parse_package_lock(base::read_file(place), place.string());
  const fs::path recipe = fs::absolute(place).parent_path() / "recipe.json";
  std::error_code code;
  if (fs::exists(recipe, code)) validate_recipe(recipe, ready, answer);
}

void validate_baseline(const fs::path& place, bool ready, Validation& answer) {
  const spec::Baseline baseline = home::read_baseline(place);
  const auto proposed =
      std::ranges::count_if(baseline.entries, [](const auto& entry) { return !entry.accepted; });
  std::vector<std::string> unready;
  if (baseline.entries.empty()) unready.emplace_back("has no entry");
  if (proposed > 0) {
    unready.push_back(fmt::format(
        "nobody accepted {} of {} entries; 'sabath baseline accept FILE' does after a review",
        proposed,
        baseline.entries.size()));
  }
  add_unready(place, unready, ready, answer);
}

void check(const fs::path& place,
           bool ready,
           base::Observer& observer,
           const std::stop_token& stop,
           Validation& answer) {
  const DocumentKind kind = kind_of_file(place);
  answer.kind = spec::to_string(kind);
  switch (kind) {
    case DocumentKind::croissant:
    case DocumentKind::jsonld:
      return validate_croissant(place, answer);
    case DocumentKind::hpcfair:
      add_notes(exchange::read_hpcfair(base::read_file(place), place.string()).notes, answer);
      return;
    case DocumentKind::upstream:
      return validate_upstream(place, answer);
    case DocumentKind::crate:
      return add_notes(validate_crate(place, observer, stop), answer);
    case DocumentKind::asset:
      spec::parse_asset(base::read_file(place), place.string());
      return;
    case DocumentKind::recipe:
      return validate_recipe(place, ready, answer);
    case DocumentKind::baseline:
      return validate_baseline(place, ready, answer);
    case DocumentKind::lock:
      return validate_lock(place, ready, answer);
    default:
      throw Error(ErrorKind::usage,
                  place.string() + ": a " + answer.kind + " is not a document that is checked");
  }
}

}  // namespace

Validation validate(const fs::path& place,
                    bool ready,
                    base::Observer& observer,
                    const std::stop_token& stop) {
  Validation answer;
  answer.place = place;
  try {
    check(place, ready, observer, stop, answer);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    answer.problem = error.what();
    answer.has_wrong_digest = error.kind() == ErrorKind::integrity;
  } catch (const fs::filesystem_error& error) {
    answer.problem = error.what();
  }
  return answer;
}

std::string text_of(const std::vector<Validation>& answers) {
  std::string text;
  for (const Validation& one : answers) {
    const bool is_valid = one.problem.empty();
    text += (is_valid ? "valid    " : "invalid  ") + base::printable(one.place.string()) +
            (one.kind.empty() ? "" : "  " + one.kind) + "\n";
    if (!is_valid) text += "  " + base::printable(one.problem) + "\n";
    for (const std::string& note : one.notes)
      text += "  note: " + note + "\n";
  }
  return text;
}

}  // namespace sabath::sharing
