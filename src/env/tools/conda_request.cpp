#include "conda_request.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* pip_hint =
    "conda layers hold packages of channels; put a pip layer after this one for those of an index";

/// "numpy" of "conda-forge::numpy >=1.26", "numpy=1.26" or "numpy[version='>=1']".
std::optional<std::string> name_in(const std::string& text) {
  static const base::Form form(
      "(?:[A-Za-z0-9_./:-]+::)?([A-Za-z0-9_][A-Za-z0-9_.-]*)\\s*(?:[=<>!~\\[ ][^\\x00-\\x1f]*)?");
  const auto parts = form.parts(text);
  if (!parts) return std::nullopt;
  return base::lower_case(parts->at(1));
}

[[noreturn]] void refuse(const std::string& place,
                         const std::string& problem,
                         const std::string& hint) {
  throw Error(ErrorKind::usage, place + ": " + problem, hint);
}

std::set<std::string> names_in(const std::vector<std::string>& specs, const std::string& place) {
  std::set<std::string> names;
  for (const std::string& text : specs) {
    const auto name = name_in(text);
    if (text.starts_with("pip:"))
      refuse(place, "'" + base::printable(text) + "' is not a package of conda", pip_hint);
    if (!name) {
      refuse(place,
             "'" + base::printable(text) + "' is not a package with versions",
             "as conda reads them: \"numpy >=1.26,<2\", \"conda-forge::zlib=1.3\"; URLs belong in "
             "an explicit list");
    }
    names.insert(*name);
  }
  return names;
}

void check_channels(const std::vector<std::string>& channels, const std::string& place) {
  for (const std::string& channel : channels) {
    if (without_login(channel) != channel) {
      refuse(place,
             "channel '" + base::printable(without_login(channel)) + "' was given with a login",
             "logins do not belong in documents: 'sabath fetch --help' says where they are kept");
    }
    if (channel.empty() || channel.starts_with('-'))
      refuse(place, "'" + base::printable(channel) + "' is not a channel", "");
  }
}

std::optional<base::Digest> digest_in(std::string_view text) {
  constexpr std::string_view label = "sha256:";
  if (text.starts_with(label)) text.remove_prefix(label.size());
  if (auto digest = base::parse_digest(base::DigestAlgorithm::sha256, text)) return digest;
  return base::parse_digest(base::DigestAlgorithm::md5, text);
}

/// `place` is that of the line.
CondaPackage listed_package(const std::string& line, const std::string& place) {
  const auto mark = line.find('#');
  const std::string url = line.substr(0, mark);
  if (without_login(url) != url)
    refuse(place, "the address has a login", "logins do not belong in documents");
  auto package = conda_package_at(url);
  if (!package) {
    refuse(place,
           "'" + base::printable(line) + "' is not the address of a package",
           "'conda list --explicit --md5' and 'micromamba env export --explicit --md5' write such "
           "lists");
  }
  const auto digest =
      mark == std::string::npos ? std::nullopt : digest_in(std::string_view(line).substr(mark + 1));
  if (!digest) {
    refuse(place,
           base::printable(url) + " has no digest",
           "write '#' and its MD5, or '#sha256:' and its SHA-256, behind the address: 'conda list "
           "--explicit --md5' does");
  }
  (digest->algorithm == base::DigestAlgorithm::md5 ? package->md5 : package->sha256) = digest;
  return *package;
}

std::vector<CondaPackage> read_list(const LayerContext& context, const std::string& place) {
  const fs::path path = spec::expand(
      context.spec.packages.explicit_file, {{"recipe", context.recipe_directory.string()}}, place);
  const auto text = base::read_file_if_exists(path);
  if (!text) {
    throw Error(ErrorKind::not_found,
                place + ": " + path.string() + ": no such file",
                "the recipe names it as \"explicit_file\"");
  }
  std::vector<CondaPackage> packages;
  std::set<std::string> names;
  bool is_explicit = false;
  int number = 0;
  for (std::string& line : base::text_lines(*text)) {
    const std::string at = place + ": " + path.string() + ":" + std::to_string(++number);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.starts_with("# pip "))
      refuse(at, "'" + base::printable(line.substr(2)) + "' is not a package of conda", pip_hint);
    if (line.empty() || line.starts_with('#')) continue;
    if (line == "@EXPLICIT") {
      is_explicit = true;
      continue;
    }
    if (!is_explicit) {
      refuse(at,
             "no explicit list: '@EXPLICIT' must come first",
             "packages without addresses belong in \"requirements\", with \"channels\"");
    }
    packages.push_back(listed_package(line, at));
    if (!names.insert(packages.back().name).second)
      refuse(at, packages.back().name + " is listed twice", "");
  }
  if (packages.empty()) refuse(place + ": " + path.string(), "lists no packages", "");
  return packages;
}

}  // namespace

CondaRequest read_conda_request(const LayerContext& context) {
  const std::string place = place_of(context.spec.name);
  const spec::PackageRequest& asked = context.spec.packages;
  CondaRequest request{asked.requirements, asked.channels, {}, {}, {}};
  request.requested = names_in(request.specs, place);
  check_channels(request.channels, place);
  if (!asked.explicit_file.empty()) {
    if (!request.specs.empty()) {
      refuse(place,
             "\"requirements\" and \"explicit_file\" exclude each other",
             "an explicit list is complete: nothing is resolved");
    }
    request.listed = read_list(context, place);
  } else if (request.specs.empty() || request.channels.empty()) {
    refuse(place,
           request.specs.empty() ? "asks for nothing" : "names no channels",
           "give \"requirements\" with \"channels\", or an \"explicit_file\"");
  }
  std::ranges::sort(request.specs);
  base::Hasher hasher;
  hasher.update("sabath-conda/1\n");
  for (const std::string& channel : request.channels)
    hasher.update("channel " + channel + "\n");
  for (const std::string& text : request.specs)
    hasher.update("spec " + text + "\n");
  for (const CondaPackage& package : request.listed) {
    hasher.update("listed " + package.url + " " +
                  (package.sha256 ? package.sha256 : package.md5)->text() + "\n");
  }
  request.digest = hasher.finish();
  for (std::string& channel : request.channels) {
    if (!channel.starts_with('{')) continue;
    const fs::path recipe = fs::weakly_canonical(fs::absolute(context.recipe_directory));
    channel = file_url(spec::expand(channel, {{"recipe", recipe.string()}}, place));
  }
  return request;
}

std::string CondaPackage::subdir() const {
  const auto file = url.rfind('/');
  if (file == std::string::npos || file == 0) return {};
  const auto folder = url.rfind('/', file - 1);
  return folder == std::string::npos ? std::string() : url.substr(folder + 1, file - folder - 1);
}

std::optional<CondaPackage> conda_package_at(std::string_view url) {
  // Names and builds have no '-' that could be mistaken: the last two are those before version and
  // build.
  static const base::Form form(
      "(?:https?|file)://[^\\s#?]+/(?:noarch|[a-z]+-[a-z0-9_]+)/"
      "([a-z0-9_][a-z0-9_.+-]*)-([A-Za-z0-9_.+!]+)-([A-Za-z0-9_.+]+)\\.(?:conda|tar\\.bz2)");
  const auto parts = form.parts(url);
  if (!parts) return std::nullopt;
  return CondaPackage{parts->at(1), parts->at(2), parts->at(3), std::string(url), {}, {}};
}

std::string conda_subdir(std::string_view platform) {
  if (platform == "linux-x86_64") return "linux-64";
  if (platform == "linux-i686") return "linux-32";
  return std::string(platform);
}

std::string file_url(const fs::path& path) {
  return "file://" + base::percent_encoded(path.string(), "!$&'()*+,-./:;=@\\^_`{|}~");
}

std::string without_login(std::string url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const auto host = scheme + 3;
  const auto path = std::min(url.find('/', host), url.size());
  const auto at = url.rfind('@', path);
  if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
  const auto token = url.find("/t/", host);
  if (token != std::string::npos) {
    const auto end = std::min(url.find('/', token + 3), url.size());
    url.erase(token, end - token);
  }
  return url;
}

}  // namespace sabath::env
