#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/sites.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string own_text(const fs::path& path) {
  std::string text = base::read_file(path);
  if (const auto why = base::why_untrusted(path)) {
    throw Error(ErrorKind::usage,
                path.string() + ": cannot be trusted: " + *why,
                "what stands there is executed: 'chmod go-w' the file and its folders");
  }
  return text;
}

spec::Site load_site(const fs::path& path) {
  return spec::parse_site(own_text(path), path.string());
}

/// The file of this name in the first folder that has one.
std::optional<fs::path> file_of(std::string_view name, const std::vector<fs::path>& folders) {
  if (!base::is_safe_name(name)) return std::nullopt;
  std::error_code code;
  for (const fs::path& folder : folders) {
    fs::path file = folder / (std::string(name) + ".json");
    if (fs::exists(file, code)) return file;
  }
  return std::nullopt;
}

[[noreturn]] void throw_unknown(const std::string& noun,
                                std::string_view name,
                                const std::vector<fs::path>& folders) {
  std::set<std::string> all;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : files_in(folder))
      all.insert(file.stem().string());
  }
  const std::vector<std::string> known(all.begin(), all.end());
  std::string hint = "it would be described in " + folders.front().string();
  if (!known.empty()) hint += base::printable(fmt::format("; there is {}", fmt::join(known, ", ")));
  throw Error(ErrorKind::not_found,
              noun + " '" + base::printable(name) + "': not found",
              name == "local" ? "runs on this machine need none: leave out --on; " + hint
                              : base::did_you_mean(name, known, hint));
}

}  // namespace

Sites::Sites(fs::path configuration, fs::path shipped)
    : configuration_(std::move(configuration)), shipped_(std::move(shipped)) {}

spec::Site Sites::site(std::string_view name) const {
  const std::vector<fs::path> folders{configuration_ / "sites"};
  const auto file = file_of(name, folders);
  if (!file) throw_unknown("site", name, folders);
  spec::Site site = load_site(*file);
  refuse_secrets(site, *file);
  return site;
}

spec::SchedulerDescription Sites::scheduler(std::string_view name) const {
  const std::vector<fs::path> folders{configuration_ / "schedulers", shipped_ / "schedulers"};
  const auto file = file_of(name, folders);
  if (!file) throw_unknown("scheduler", name, folders);
  const bool is_own = file->parent_path() == folders.front();
  return spec::parse_scheduler(is_own ? own_text(*file) : base::read_file(*file), file->string());
}

std::vector<SiteDocument> Sites::sites(std::vector<BadDocument>& bad) const {
  std::vector<SiteDocument> found;
  for (const fs::path& file : files_in(configuration_ / "sites")) {
    try {
      found.push_back({load_site(file), file});
    } catch (const Error& error) {
      bad.push_back({file, error.what()});
    }
  }
  return found;
}

std::vector<SchedulerDocument> Sites::schedulers(std::vector<BadDocument>& bad) const {
  std::vector<SchedulerDocument> found;
  std::set<std::string> seen;
  for (const fs::path& folder : {configuration_ / "schedulers", shipped_ / "schedulers"}) {
    for (const fs::path& file : files_in(folder)) {
      if (!seen.insert(file.stem().string()).second) continue;
      try {
        found.push_back({scheduler(file.stem().string()), file});
      } catch (const Error& error) {
        bad.push_back({file, error.what()});
      }
    }
  }
  return found;
}

std::vector<spec::ToolDescription> Sites::tools() const {
  std::map<std::string, fs::path> files;
  for (const fs::path& folder : {configuration_ / "tools", shipped_ / "tools"}) {
    for (const fs::path& file : files_in(folder))
      files.emplace(file.stem().string(), file);
  }
  std::vector<spec::ToolDescription> tools;
  for (const auto& [name, file] : files) {
    const bool is_own = file.parent_path() == configuration_ / "tools";
    tools.push_back(
        spec::parse_tool(is_own ? own_text(file) : base::read_file(file), file.string()));
  }
  return tools;
}

std::optional<fs::path> folder_on_node(const std::string& path,
                                       const base::Environment& environment) {
  std::string text = path;
  if (text.starts_with('$')) {
    const bool braced = text.size() > 1 && text[1] == '{';
    const std::size_t from = braced ? 2 : 1;
    const std::size_t to = std::min(text.find_first_of(braced ? "}" : "/", from), text.size());
    const auto value = environment.find(text.substr(from, to - from));
    const std::string rest = to < text.size() ? text.substr(to + (braced ? 1 : 0)) : std::string();
    text = value == environment.end() ? std::string() : value->second + rest;
  }
  return text.starts_with('/') ? std::optional<fs::path>(text) : std::nullopt;
}

}  // namespace sabath::home
