#include "file_facts.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/private_address.hpp>
#include <sabath/exchange/croissant.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sabath::exchange {
namespace {

using std::string_view;

constexpr auto algorithms = std::to_array<std::pair<std::size_t, base::DigestAlgorithm>>(
    {{16, base::DigestAlgorithm::md5},
     {20, base::DigestAlgorithm::sha1},
     {32, base::DigestAlgorithm::sha256},
     {64, base::DigestAlgorithm::sha512}});

std::optional<base::DigestAlgorithm> algorithm_of(std::size_t bytes) {
  for (const auto& [size, algorithm] : algorithms)
    if (size == bytes) return algorithm;
  return std::nullopt;
}

/// The bytes of base64 with its padding; nothing for any other text.
std::optional<std::string> from_base64(string_view text) {
  constexpr string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0 || text.size() > 100) return std::nullopt;
  while (text.ends_with('='))
    text.remove_suffix(1);
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = letters.find(c);
    if (value == string_view::npos) return std::nullopt;
    bits = (bits << 6U | static_cast<unsigned>(value)) & 0xFFFFU;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return bytes;
}

std::string hex_of(string_view bytes) {
  constexpr string_view digits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

std::optional<double> factor_of(string_view unit) {
  constexpr string_view prefixes = "kmgtpe";
  std::string word = base::lower_case(unit);
  if (word.empty() || word == "b" || word == "bytes" || word == "byte") return 1.0;
  if (word.ends_with("bytes")) word.resize(word.size() - 5);
  if (word.ends_with('b')) word.pop_back();
  const bool is_binary = word.ends_with('i');
  if (is_binary) word.pop_back();
  const auto power = word.size() == 1 ? prefixes.find(word[0]) : string_view::npos;
  if (power == string_view::npos) return std::nullopt;
  return std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

constexpr auto suffixes = std::to_array<std::pair<string_view, string_view>>({
    {".tar", "tar"},
    {".tar.gz", "tar"},
    {".tgz", "tar"},
    {".tar.bz2", "tar"},
    {".tbz2", "tar"},
    {".tar.xz", "tar"},
    {".txz", "tar"},
    {".tar.zst", "tar"},
    {".zip", "zip"},
    {".gz", "gz"},
    {".bz2", "bz2"},
    {".xz", "xz"},
    {".zst", "zst"},
});

constexpr auto media_types = std::to_array<std::pair<string_view, string_view>>({
    {".csv", "text/csv"},
    {".tsv", "text/tab-separated-values"},
    {".txt", "text/plain"},
    {".md", "text/markdown"},
    {".json", "application/json"},
    {".jsonl", "application/jsonlines"},
    {".h5", "application/x-hdf5"},
    {".hdf5", "application/x-hdf5"},
    {".nc", "application/x-netcdf"},
    {".parquet", "application/x-parquet"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".tif", "image/tiff"},
    {".mp3", "audio/mpeg"},
    {".wav", "audio/wav"},
    {".pdf", "application/pdf"},
    {".zip", "application/zip"},
    {".tar", "application/x-tar"},
    {".tgz", "application/x-tar"},
    {".tar.gz", "application/x-tar"},
    {".gz", "application/gzip"},
    {".xz", "application/x-xz"},
    {".bz2", "application/x-bzip2"},
    {".zst", "application/zstd"},
});

/// The value of the longest suffix that a path ends with.
template <std::size_t n>
string_view of_suffix(const std::array<std::pair<string_view, string_view>, n>& table,
                      string_view path) {
  const std::string lower = base::lower_case(path);
  std::pair<string_view, string_view> best{};
  for (const auto& row : table)
    if (lower.ends_with(row.first) && row.first.size() > best.first.size()) best = row;
  return best.second;
}

}  // namespace

std::optional<base::Digest> digest_by_form(string_view text) {
  text = base::trimmed(text);
  if (text.size() % 2 == 0) {
    if (const auto algorithm = algorithm_of(text.size() / 2))
      if (auto digest = base::parse_digest(*algorithm, base::lower_case(text))) return digest;
  }
  const auto bytes = from_base64(text);
  const auto algorithm = bytes ? algorithm_of(bytes->size()) : std::nullopt;
  if (!algorithm) return std::nullopt;
  return base::parse_digest(*algorithm, hex_of(*bytes));
}

std::optional<std::uint64_t> size_in(string_view text) {
  constexpr double most = 9007199254740992.0;
  text = base::trimmed(text);
  const auto end = std::min(text.find_first_not_of("0123456789.,"), text.size());
  std::string digits(text.substr(0, end));
  std::erase(digits, ',');
  const auto number = base::number_in<double>(digits);
  const auto factor = factor_of(base::trimmed(text.substr(end)));
  if (!number || !factor) return std::nullopt;
  const double bytes = *number * *factor;
  if (bytes < 0 || bytes > most || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::string packing_of(string_view media_type, string_view path) {
  const std::string type = base::lower_case(media_type);
  std::string by_name(of_suffix(suffixes, path));
  if (type == "application/zip" || type == "application/x-zip-compressed") return "zip";
  if (type == "application/x-tar" || type == "application/tar") return "tar";
  return by_name;
}

std::string media_type_of(string_view path) {
  const string_view type = of_suffix(media_types, path);
  return type.empty() ? "application/octet-stream" : std::string(type);
}

bool is_private(string_view url) {
  return base::is_private_address(url);
}

std::string packing_of_bytes(string_view begin) {
  constexpr auto marks = std::to_array<std::pair<string_view, string_view>>({
      {"PK\x03\x04", "zip"},
      {"\x1f\x8b", "gz"},
      {"BZh", "bz2"},
      {string_view("\xFD"
                   "7zXZ\0",
                   6),
       "xz"},
      {"\x28\xB5\x2F\xFD", "zst"},
  });
  constexpr std::size_t place_of_tar = 257;
  if (begin.size() > place_of_tar && begin.substr(place_of_tar).starts_with("ustar")) return "tar";
  for (const auto& [mark, kind] : marks)
    if (begin.starts_with(mark)) return std::string(kind);
  return {};
}

std::string decoded_path(string_view reference) {
  reference = reference.substr(0, reference.find_first_of("?#"));
  while (reference.starts_with("./"))
    reference.remove_prefix(2);
  std::string path = base::percent_decoded(reference);
  return base::is_safe_relative_path(path) ? path : std::string{};
}

std::string last_segment(string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto scheme = url.find("://");
  if (scheme != string_view::npos) url.remove_prefix(scheme + 3);
  const auto slash = url.rfind('/');
  if (slash == string_view::npos) return {};
  return decoded_path(url.substr(slash + 1));
}

}  // namespace sabath::exchange
