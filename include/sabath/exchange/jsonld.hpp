#pragma once

#include <sabath/exchange/imported_asset.hpp>
#include <sabath/spec/asset.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::exchange {

/// An asset as JSON-LD: a schema.org Dataset, or of a model an MLModel of FAIR4ML 0.1.0. The same
/// bytes for the same asset.
std::string write_jsonld(const spec::Asset& asset);
std::vector<std::string> missing_for_jsonld(const spec::Asset& asset);

/// An asset in the fields of DataCite 4, as JSON. Nothing is invented: what is missing is left out.
std::string write_datacite(const spec::Asset& asset);
std::vector<std::string> missing_for_datacite(const spec::Asset& asset);

/// An asset in the keys of the HPCFAIR paper (`hpc:tags`, `hpc:citation` ...), and such a document
/// as an asset. Throws Error{usage} for a text that is not such a document.
std::string write_hpcfair(const spec::Asset& asset);
std::vector<std::string> missing_for_hpcfair(const spec::Asset& asset);
ImportedAsset read_hpcfair(std::string_view text, const std::string& name);

/// Whether a text is a well-formed DOI, ARK, handle or `ni:` address.
bool is_persistent_identifier(const std::string& text);
/// The same as an address that can be opened; "" for another text.
std::string address_of_identifier(const std::string& identifier);

}  // namespace sabath::exchange
