#include "list_text.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>

#include <array>
#include <set>

namespace sabath::assets {
namespace {

constexpr std::size_t shown_problems = 5;

std::string_view path_part(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

bool is_url(std::string_view text) {
  const auto end = text.find("://");
  return end != std::string_view::npos && end > 0 && text.find('/') > end;
}

/// Takes the digest off "DIGEST  PATH" or "DIGEST *PATH", as sha256sum writes it.
std::optional<base::Digest> take_digest(std::string_view& line) {
  constexpr std::array algorithms{base::DigestAlgorithm::sha256,
                                  base::DigestAlgorithm::sha512,
                                  base::DigestAlgorithm::sha1,
                                  base::DigestAlgorithm::md5};
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos || blank + 2 >= line.size()) return std::nullopt;
  if (line[blank + 1] != ' ' && line[blank + 1] != '*') return std::nullopt;
  for (const auto algorithm : algorithms) {
    if (auto digest = base::parse_digest(algorithm, line.substr(0, blank))) {
      line.remove_prefix(blank + 2);
      return digest;
    }
  }
  return std::nullopt;
}

spec::AssetFile file_of(std::string_view line, const std::string& base) {
  spec::AssetFile file;
  if (auto digest = take_digest(line)) file.digests.push_back(*std::move(digest));
  if (is_url(line)) {
    file.sources = {std::string(line)};
    file.path = line.starts_with(base) && line.size() > base.size()
                    ? base::percent_decoded(path_part(line.substr(base.size())))
                    : name_at_end(file.sources.front());
    return file;
  }
  while (line.starts_with("./"))
    line.remove_prefix(2);
  file.path = line;
  file.sources = {url_beneath(base, file.path)};
  return file;
}

}  // namespace

std::string folder_of_url(const std::string& url) {
  const std::string_view path = path_part(url);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(path)
                                         : std::string(path.substr(0, slash + 1));
}

std::string name_at_end(const std::string& url) {
  // In a DOI the file follows '#'.
  if (const auto hash = url.find('#'); url.starts_with("doi:") && hash != std::string::npos) {
    return name_at_end(url.substr(hash + 1));
  }
  const std::string_view path = path_part(url);
  const std::string name = base::percent_decoded(path.substr(path.rfind('/') + 1));
  const bool fit = base::is_safe_relative_path(name) && name.find('/') == std::string::npos &&
                   base::is_utf8_without_controls(name) && name != ".";
  return fit ? name : "download";
}

std::string url_beneath(const std::string& base, const std::string& path) {
  return (base.ends_with('/') ? base : base + '/') +
         base::percent_encoded(path, "-._~/!$'()*+,=:@");
}

std::vector<spec::AssetFile> parse_list(std::string_view text,
                                        const std::string& origin,
                                        const std::string& base,
                                        std::optional<std::uint64_t> limit) {
  std::vector<spec::AssetFile> files;
  std::set<std::string> paths;
  std::string problems;
  std::size_t problem_count = 0;
  const auto note = [&](std::size_t number, const std::string& problem) {
    if (++problem_count > shown_problems) return;
    problems +=
        (problems.empty() ? "" : "\n") + origin + ":" + std::to_string(number) + ": " + problem;
  };
  for (std::size_t number = 1; !text.empty() && (!limit || files.size() < *limit); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    spec::AssetFile file = file_of(line, base);
    const bool safe =
        base::is_safe_relative_path(file.path) && base::is_utf8_without_controls(file.path);
    if (!safe) {
      note(number, "'" + base::printable(line) + "' is neither a URL nor a relative path");
    } else if (!paths.insert(file.path).second) {
      note(number, "a second file '" + file.path + "'");
    } else {
      files.push_back(std::move(file));
    }
  }
  if (problem_count > shown_problems) {
    problems += "\n" + origin + ": " + std::to_string(problem_count - shown_problems) + " more";
  }
  if (problem_count > 0) {
    throw base::Error(base::ErrorKind::integrity,
                      problems,
                      "a list has one URL or relative path a line, with a digest before it or not");
  }
  if (files.empty()) throw base::Error(base::ErrorKind::integrity, origin + ": lists no files");
  return files;
}

}  // namespace sabath::assets
