#include "settings.hpp"

#include "option_parser.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/fetch/credential_store.hpp>

#include <optional>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

/// Records and plans name what lies there, and are UTF-8: another file would be meant.
fs::path utf8_place(const std::string& what, fs::path place) {
  if (base::is_utf8(place.native())) return place;
  throw usage_error(what + ": '" + base::printable(place.native()) +
                        "' is not UTF-8, so documents cannot name it",
                    "choose or make a folder whose whole path is UTF-8");
}

/// $`own`, else $`xdg`/sabath, else $HOME/`below_home`/sabath; nothing where none of them is set.
std::optional<fs::path> folder_from(const base::Environment& environment,
                                    const std::string& own,
                                    const std::string& xdg,
                                    const std::string& below_home) {
  if (const std::string given = base::variable_of(environment, own); !given.empty()) {
    return utf8_place(own, fs::absolute(given));
  }
  // The XDG base directory specification: relative values are to be ignored.
  if (const fs::path base = base::variable_of(environment, xdg); base.is_absolute())
    return utf8_place(xdg, base / "sabath");
  const std::string home = base::variable_of(environment, "HOME");
  if (home.empty()) return std::nullopt;
  return utf8_place("HOME", fs::absolute(home) / below_home / "sabath");
}

/// What --catalog names. Throws Error{usage} where it is not a folder.
fs::path catalog_folder(const std::string& typed) {
  fs::path folder = fs::absolute(typed).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "folder/"
  std::error_code code;
  if (fs::is_directory(folder, code)) return folder;
  std::vector<std::string> neighbours;
  for (const auto& entry : fs::directory_iterator(folder.parent_path(), code)) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) neighbours.push_back(entry.path().filename().string());
  }
  const std::string guess = base::nearest(folder.filename().string(), neighbours);
  fs::path shown(typed);
  if (!shown.has_filename()) shown = shown.parent_path();
  throw usage_error(
      "--catalog " + base::printable(typed) + ": is not a folder",
      guess.empty()
          ? "name a folder with assets and recipes"
          : "did you mean '" + base::printable(shown.replace_filename(guess).string()) + "'?");
}

}  // namespace

spec::Configuration read_configuration(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  const auto text = base::read_file_if_exists(path);
  if (!text) return {};
  spec::Configuration configuration = spec::parse_configuration(*text, path.string());
  const spec::EnvironmentSettings& environments = configuration.environments;
  const bool trusts = !environments.trusted_owners.empty() || !environments.trusted_groups.empty();
  const bool has_hooks = !configuration.hooks.empty();
  if (configuration.fetchers.empty() && !trusts && !has_hooks) return configuration;
  if (const auto why = base::why_untrusted(path)) {
    throw usage_error(
        path.string() + ": " +
            (trusts      ? "names trusted owners of environments"
             : has_hooks ? "defines hooks"
                         : "defines fetchers") +
            ", but cannot be trusted: " + *why,
        "sabath executes what the file names: use 'chmod go-w' on the file and its folders");
  }
  return configuration;
}

base::Trust read_trust(const spec::EnvironmentSettings& settings,
                       const fs::path& origin,
                       base::Observer& observer) {
  const auto ids = [&](const std::vector<std::string>& names, const char* key, auto id_of) {
    std::vector<unsigned> found;
    for (const std::string& name : names) {
      if (const auto id = id_of(name)) {
        found.push_back(*id);
        continue;
      }
      observer.warn(origin.string() + ":/environments/" + key + ": '" + base::printable(name) +
                        "' is not known on this machine",
                    "'getent passwd' and 'getent group' show names; a number does, too");
    }
    return found;
  };
  return {ids(settings.trusted_owners, "trusted_owners", base::user_id),
          ids(settings.trusted_groups, "trusted_groups", base::group_id)};
}

cache::CacheOptions read_cache_options(const base::Environment& environment,
                                       const spec::CacheSettings& settings) {
  cache::CacheOptions options;
  options.shared = settings.shared;
  const std::string shared = base::variable_of(environment, "SABATH_CACHE_SHARED");
  if (!shared.empty() && shared != "0" && shared != "1") {
    throw usage_error("SABATH_CACHE_SHARED: '" + shared + "' is neither 1 nor 0");
  }
  if (!shared.empty()) options.shared = shared == "1";
  const auto given = environment.find("SABATH_LOWER_CACHES");
  if (given == environment.end()) {
    for (const std::string& path : settings.lower)
      options.lower.push_back(fs::absolute(path));
    return options;
  }
  for (const std::string& path : base::split(given->second, ':'))
    options.lower.push_back(utf8_place("SABATH_LOWER_CACHES", fs::absolute(path)));
  return options;
}

fs::path program_path() {
  std::error_code code;
  fs::path path = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path("sabath") : path;
}

fs::path shipped_folder(const fs::path& program) {
  return program.parent_path().parent_path() / "share" / "sabath";
}

home::Folders read_folders(const base::Environment& environment,
                           const std::vector<std::string>& catalogs,
                           const fs::path& program) {
  home::Folders folders;
  const auto home = folder_from(environment, "SABATH_HOME", "XDG_DATA_HOME", ".local/share");
  if (!home) {
    throw usage_error("HOME: not set, so runs and the cache have no place", "set SABATH_HOME");
  }
  folders.home = *home;
  const std::string cache = base::variable_of(environment, "SABATH_CACHE");
  folders.cache =
      cache.empty() ? folders.home / "cache" : utf8_place("SABATH_CACHE", fs::absolute(cache));
  folders.configuration =
      folder_from(environment, "SABATH_CONFIG", "XDG_CONFIG_HOME", ".config").value_or("");
  const fs::path shipped = shipped_folder(program);
  for (const std::string& catalog : catalogs)
    folders.catalogs.push_back(catalog_folder(catalog));
  folders.assets = folders.recipes = folders.catalogs;
  folders.assets.push_back(folders.home / "assets");
  folders.assets.push_back(shipped / "catalog");
  folders.recipes.push_back(folders.home / "recipes");
  folders.recipes.push_back(shipped / "recipes");
  return folders;
}

std::vector<std::string> read_known_secrets(const std::filesystem::path& folder,
                                            base::Observer& observer) {
  std::vector<std::string> values;
  try {
    for (const spec::Secret& secret : fetch::load_secrets(folder / "credentials.json")) {
      values.insert(values.end(), {secret.bearer, secret.header.second, secret.password});
    }
  } catch (const base::Error& error) {
    observer.warn(error.what(), error.hint());  // no run fails for what it has no need of
  }
  return values;
}

}  // namespace sabath::cli
