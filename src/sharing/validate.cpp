#include "local_files.hpp"
#include "validate_crate.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/upstream.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/sharing/file_kind.hpp>
#include <sabath/sharing/validate.hpp>

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

void check(const fs::path& place,
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
      home::load_recipe(fs::is_directory(place) ? place / "recipe.json" : place);
      return;
    default:
      throw Error(ErrorKind::usage,
                  place.string() + ": a " + answer.kind + " is not a document that is checked");
  }
}

}  // namespace

Validation validate(const fs::path& place, base::Observer& observer, const std::stop_token& stop) {
  Validation answer;
  answer.place = place;
  try {
    check(place, observer, stop, answer);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    answer.problem = error.what();
    answer.has_wrong_digest = error.kind() == ErrorKind::integrity;
  } catch (const fs::filesystem_error& error) {
    answer.problem = error.what();
  }
  return answer;
}

}  // namespace sabath::sharing
