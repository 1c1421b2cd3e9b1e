#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/sharing/export_asset.hpp>

#include <algorithm>

namespace sabath::sharing {

using base::Error;
using base::ErrorKind;

const std::vector<AssetFormat>& asset_formats() {
  static const std::vector<AssetFormat> formats{
      {"croissant",
       "Croissant 1.1, for machine learning tools and search engines",
       exchange::write_croissant,
       exchange::missing_for_croissant},
      {"jsonld",
       "schema.org and FAIR4ML, for search engines",
       exchange::write_jsonld,
       exchange::missing_for_jsonld},
      {"hpcfair",
       "the keys of the HPCFAIR paper",
       exchange::write_hpcfair,
       exchange::missing_for_hpcfair},
      {"datacite",
       "DataCite 4, for a repository that mints DOIs",
       exchange::write_datacite,
       exchange::missing_for_datacite},
  };
  return formats;
}

std::string export_asset(const spec::Asset& asset, const std::string& format, bool is_strict) {
  const auto& formats = asset_formats();
  const auto found = std::ranges::find(formats, format, &AssetFormat::name);
  if (found == formats.end()) {
    throw Error(ErrorKind::usage,
                "'" + base::printable(format) + "' is not a format of assets",
                "known are " + base::joined(formats, ", ", &AssetFormat::name));
  }
  const auto missing = found->missing(asset);
  if (is_strict && !missing.empty()) {
    throw Error(ErrorKind::usage,
                "asset '" + asset.name + "' is not complete for " + format + ": " +
                    base::joined(missing, "; "),
                "add what is missing to its document, or leave out --strict for a draft");
  }
  return found->write(asset);
}

}  // namespace sabath::sharing
