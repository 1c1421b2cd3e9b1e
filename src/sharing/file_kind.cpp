#include "local_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/sharing/file_kind.hpp>

#include <algorithm>
#include <fstream>
#include <optional>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using exchange::DocumentKind;

constexpr std::string_view zip_mark = "PK\x03\x04";

[[noreturn]] void throw_unknown(const fs::path& path) {
  throw Error(ErrorKind::usage,
              base::printable(path.string()) + ": no kind of document that sabath knows",
              "name the kind with --from; 'sabath help import' lists them");
}

bool has_upstream_documents(const fs::path& folder) {
  return std::ranges::any_of(json_files(folder), [](const fs::path& file) {
    return exchange::kind_of_document(base::read_file(file), file.string()) ==
           DocumentKind::upstream;
  });
}

DocumentKind kind_of_folder(const fs::path& folder) {
  std::error_code code;
  if (fs::exists(folder / "ro-crate-metadata.json", code)) return DocumentKind::crate;
  if (fs::exists(folder / "recipe.json", code)) return DocumentKind::recipe;
  if (has_upstream_documents(folder)) return DocumentKind::upstream;
  throw_unknown(folder);
}

}  // namespace

DocumentKind kind_of_file(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return kind_of_folder(path);
  std::ifstream file(path, std::ios::binary);
  std::string begin(zip_mark.size(), '\0');
  // A crate may be far larger than a document.
  if (file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == zip_mark)
    return DocumentKind::crate;
  const std::string text = base::read_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (text.find('\0') != std::string::npos) throw_unknown(path);
  if (first == std::string::npos || text[first] != '{') return DocumentKind::table;
  const auto kind = exchange::kind_of_document(text, path.string());
  if (kind == DocumentKind::crate)
    throw Error(ErrorKind::usage,
                base::printable(path.string()) + ": is only the metadata of a crate",
                "name the crate's folder or its zip file");
  if (kind) return *kind;
  throw_unknown(path);
}

}  // namespace sabath::sharing
