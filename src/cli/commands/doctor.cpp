#include "doctor.hpp"

#include "commands.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/sites.hpp>

#include <algorithm>

#include <sys/statvfs.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::uint64_t little_space_bytes = std::uint64_t{1} << 30U;

Check check_folder(const std::string& what,
                   const std::filesystem::path& path,
                   const std::string& remedy) {
  try {
    base::make_directories(path);
    const base::TempDir probe(path, ".doctor-");
  } catch (const base::Error& error) {
    return {what, "bad", error.what(), remedy};
  }
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) return {what, "ok", path.string(), {}};
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::string detail = path.string() + ", " + base::format_bytes(free_bytes) + " free";
  if (free_bytes < little_space_bytes) return {what, "note", detail, "there is little space left"};
  return {what, "ok", detail, {}};
}

/// "scratch=$TMPDIR": a folder that a site names for this node.
Check check_node_folder(const std::string& text) {
  const std::size_t sign = std::min(text.find('='), text.size());
  const std::string what = text.substr(0, sign);
  const std::string named = sign < text.size() ? text.substr(sign + 1) : "";
  const auto folder = home::folder_on_node(named, base::current_environment());
  if (folder) return check_folder(what, *folder, "runs work without it, where their files are");
  return {what,
          "bad",
          "'" + named + "' is not a folder on this node, " +
              (named.starts_with('$') ? "where the variable is not set to one"
                                      : "as the path is not absolute"),
          "runs work without it, where their files are; \"setup\" or \"variables\" of the site "
          "can set "
          "it"};
}

Check check_program(const std::string& name, const std::string& purpose) {
  const auto path = base::find_program(name);
  if (!path) return {name, "note", "not found: " + purpose, "install it if a recipe asks for it"};
  return {name, "ok", path->string(), {}};
}

/// Which of the three ways files come out of the cache, tried with a real object.
Check check_placement(Workspace& workspace) {
  const base::TempDir folder(workspace.folders().home, ".doctor-");
  base::write_file_atomically(folder.path() / "file", "sabath doctor\n");
  const cache::Object object = workspace.cache().publish_file(folder.path() / "file");
  const cache::Placement how = workspace.cache().place(object, folder.path() / "placed");
  return {"placement",
          "ok",
          "files come out of the cache by " + std::string(cache::to_string(how)),
          {}};
}

/// What it means that others may write to the cache.
Check check_sharing(Workspace& workspace) {
  std::string beneath;
  for (const cache::LowerCache& lower : workspace.cache().lower()) {
    if (!lower.problem.empty()) {
      return {"sharing",
              "bad",
              lower.root.string() + ": " + lower.problem + ", so nothing is found in it",
              "correct cache.lower in config.json, or SABATH_LOWER_CACHES"};
    }
    beneath += ", " + lower.root.string() + " beneath it";
  }
  if (!workspace.cache().is_shared()) {
    return {"sharing", "ok", "the cache is written by its owner alone" + beneath, {}};
  }
  return {"sharing",
          "note",
          "the group may write to the cache" + beneath,
          "data are safe: you use nothing that you have not hashed yourself. Anybody of the group "
          "can remove what lies there. Environments in it are executed only where "
          "\"environments\": {\"trusted_groups\": ...} of the configuration has the group. "
          "Otherwise set "
          "SABATH_CACHE to a folder of your own for them, with this one as cache.lower"};
}

Check check_trust(Workspace& workspace) {
  std::error_code code;
  const std::filesystem::path path = workspace.folders().environments();
  if (!std::filesystem::exists(path, code)) return {"trust", "ok", "no environments yet", {}};
  if (const auto reason = base::why_untrusted(path, workspace.trust())) {
    return {"trust",
            "bad",
            *reason,
            "environments beneath are refused; chmod go-w, or choose another SABATH_CACHE"};
  }
  return {"trust", "ok", "only you, root and whom you trust can write where environments are", {}};
}

Check check_environments(Workspace& workspace) {
  const auto entries = workspace.environments().list();
  for (const env::EnvironmentEntry& entry : entries) {
    const std::string name =
        "'" + entry.lock.name + "' (" + entry.lock.key.hex.substr(0, 16) + "): ";
    const std::string remove = "'sabath env rm " + entry.lock.key.hex.substr(0, 16) + "'";
    if (!entry.drift.empty()) {
      return {"environments", "bad", name + entry.drift.front(), remove + ", and build it again"};
    }
    if (entry.state == "failed" || entry.state == "untrusted") {
      return {"environments", "note", name + entry.problem, remove + " removes what is left of it"};
    }
  }
  return {"environments", "ok", std::to_string(entries.size()) + " layers", {}};
}

Check check_documents(Workspace& workspace) {
  std::vector<home::BadDocument> bad;
  const auto assets = workspace.documents().assets(bad).size();
  const auto recipes = workspace.documents().recipes(bad).size();
  const std::string detail =
      std::to_string(assets) + " assets, " + std::to_string(recipes) + " recipes";
  if (!bad.empty())
    return {
        "documents", "bad", bad.front().problem, std::to_string(bad.size()) + " cannot be read"};
  if (recipes == 0)
    return {"documents", "note", detail, "the shipped ones were not found beside the program"};
  return {"documents", "ok", detail, {}};
}

template <class Function>
void add(std::vector<Check>& checks, const std::string& what, Function&& function) {
  try {
    checks.push_back(function());
  } catch (const base::Error& error) {
    checks.push_back({what, "bad", error.what(), error.hint()});
  }
}

std::vector<Check> check_here(const std::vector<std::string>& node_folders, Workspace& workspace) {
  std::vector<Check> checks;
  const home::Folders& folders = workspace.folders();
  checks.push_back(check_folder("home", folders.home, "make it writable, or set SABATH_HOME"));
  checks.push_back(check_folder("cache", folders.cache, "make it writable, or set SABATH_CACHE"));
  for (const std::string& folder : node_folders)
    checks.push_back(check_node_folder(folder));
  add(checks, "catalog", [&] {
    const auto stats = workspace.catalog().stats();
    return Check{
        "catalog", "ok", std::to_string(stats.runs) + " runs, SQLite " + stats.sqlite_version, {}};
  });
  add(checks, "placement", [&] { return check_placement(workspace); });
  add(checks, "sharing", [&] { return check_sharing(workspace); });
  add(checks, "trust", [&] { return check_trust(workspace); });
  add(checks, "environments", [&] { return check_environments(workspace); });
  add(checks, "documents", [&] { return check_documents(workspace); });
  checks.push_back(check_program("c++", "recipes that compile C++ need it"));
  checks.push_back(check_program("cmake", "recipes that build with CMake need it"));
  checks.push_back(check_program("make", "recipes that build with make need it"));
  checks.push_back(check_program("gfortran", "recipes in Fortran need it"));
  return checks;
}

struct DoctorOptions {
  std::string site{};
  std::string timeout = "5m";
  std::string report{};
  std::vector<std::string> node_folders{};
};

std::string text_of(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    std::string line = check.state;
    line.resize(6, ' ');
    text += line + base::printable(check.what + ": " + check.detail) + "\n";
    if (!check.remedy.empty()) text += "      " + base::printable(check.remedy) + "\n";
  }
  return text;
}

int run_doctor(const DoctorOptions& options, Workspace& workspace) {
  const std::chrono::seconds limit =
      duration_of("--timeout", options.timeout, "90s, 15m, 2h or 00:30:00");
  const std::vector<Check> checks = options.site.empty()
                                        ? check_here(options.node_folders, workspace)
                                        : check_site(options.site, limit, workspace);
  if (!options.report.empty()) base::write_file_atomically(options.report, json_answer(checks));
  workspace.answer(workspace.json() ? json_answer(checks) : text_of(checks));
  const bool bad =
      std::ranges::any_of(checks, [](const Check& check) { return check.state == "bad"; });
  return bad ? exit_no : exit_done;
}

}  // namespace

void setup_doctor(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "doctor",
                  "check that sabath can work here, and say what to do where it cannot",
                  run_doctor);
  command.add_option("--site", options.site, "check a site by a job that looks at its node");
  command.add_option("--timeout", options.timeout, "with --site: how long to wait (5m)");
  command.add_option("--report", options.report, "write the findings as JSON to this file too");
  // Given to the job of --site; not for people.
  command.add_option("--node-folder", options.node_folders, "")->one_each()->group("");
}

}  // namespace sabath::cli
