#include "commands.hpp"
#include "made_documents.hpp"

#include <sabath/app/import_table.hpp>
#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/fetch_assets.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/remote_commit.hpp>
#include <sabath/sharing/file_kind.hpp>
#include <sabath/sharing/group_crate.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/sharing/import_documents.hpp>

#include <fmt/format.h>

#include <map>
#include <set>

namespace sabath::cli {
namespace {

struct ImportOptions {
  std::string what{};
  std::string from{};
  app::ImportRequest request{};
  std::vector<std::string> counts{};
  sharing::DocumentRequest documents{};
};

std::string import_text(const app::ImportReport& report, const std::string& recipe) {
  std::string text =
      fmt::format("{} of {} imported", base::counted(report.imported, "run"), recipe);
  if (report.present > 0) text += fmt::format(", {} were there", report.present);
  if (report.missing > 0)
    text += fmt::format("; {} missing", base::counted(report.missing, "value"));
  if (report.doubts > 0)
    text += fmt::format("; {} cannot be right", base::counted(report.doubts, "value"));
  return text + fmt::format("\nselection  tag=import:{}\n", report.id);
}

/// "mnist_convnet=10000": the metric is a share of so many.
std::map<std::string, std::uint64_t> counts_of(const std::vector<std::string>& words) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& word : words) {
    const std::size_t sign = word.rfind('=');
    const std::string number = sign == std::string::npos ? "" : word.substr(sign + 1);
    const std::uint64_t count = base::number_in<std::uint64_t>(number).value_or(0);
    if (count == 0 || sign == 0)
      throw usage_error("--count: '" + base::printable(word) + "' is not METRIC=N",
                        "such as mnist_convnet=10000, the number of test images");
    if (!counts.emplace(word.substr(0, sign), count).second)
      throw usage_error("--count: '" + base::printable(word.substr(0, sign)) + "' stands twice");
  }
  return counts;
}

int import_rows(const ImportOptions& options, Workspace& workspace) {
  app::ImportRequest request = options.request;
  request.table = options.what;
  if (request.recipe.empty() || request.metrics.empty())
    throw usage_error(
        "a table needs --recipe and --metrics: what the runs are runs of, and the columns that are "
        "metrics",
        "'sabath help import' shows an import; --from names another kind of file");
  request.counts = counts_of(options.counts);
  const app::ImportReport report = app::import_table(request,
                                                     workspace.catalog(),
                                                     workspace.folders().runs(),
                                                     workspace.clock(),
                                                     workspace.observer(),
                                                     workspace.stop());
  workspace.refresh_catalog();
  return answer_with(report, import_text(report, request.recipe), workspace);
}

}  // namespace

std::filesystem::path fetched_document(const std::string& url, Workspace& workspace) {
  assets::FetchOptions how;
  how.refresh = true;
  how.has_login = workspace.fetching().login_lookup();
  auto fetcher = workspace.runner().preparer().fetcher(workspace.observer(), workspace.stop());
  return fetcher.fetch_url(url, {}, how, workspace.observer(), workspace.stop()).path;
}

std::string documents_text(const std::vector<sharing::MadeDocument>& made, bool is_dry) {
  std::string text;
  for (const sharing::MadeDocument& one : made) {
    const char* const done = one.was_there ? "is there" : is_dry ? "would be made" : "imported";
    text += fmt::format("{} {}{}  {}\n",
                        one.kind,
                        one.name,
                        one.version.empty() ? "" : "@" + base::printable(one.version),
                        done);
    for (const std::string& note : one.notes)
      text += "  " + note + "\n";
    for (const std::string& other : one.same_as)
      text += "  has the same bytes as '" + other + "'\n";
    if (is_dry) text += one.text;
  }
  return text;
}

namespace {

/// Asks repositories for commits. A host that does not answer is not asked again.
exchange::CommitLookup asked_commits(Workspace& workspace) {
  return [&workspace, silent = std::set<std::string>()](const std::string& url,
                                                        const std::string& reference) mutable {
    const std::string host = url.substr(0, url.find('/', url.find("://") + 3));
    if (silent.contains(host)) return std::string();
    const base::TempDir work(std::filesystem::temp_directory_path());
    base::SystemProcessRunner processes;
    try {
      return env::remote_commit(
          url, reference, work.path(), processes, workspace.observer(), workspace.stop());
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) throw;
      if (error.kind() == base::ErrorKind::transfer) silent.insert(host);
      workspace.observer().warn(error.what());
      return std::string();
    }
  };
}

int import_documents(const ImportOptions& options,
                     exchange::DocumentKind kind,
                     Workspace& workspace) {
  sharing::DocumentRequest request = options.documents;
  request.kind = kind;
  request.commit_of = asked_commits(workspace);
  const auto made = sharing::import_documents(request, workspace.folders(), workspace.documents());
  return answer_with(made, documents_text(made, request.is_dry), workspace);
}

void warn_of_unlisted(const std::vector<std::string>& members, Workspace& workspace) {
  for (const std::string& member : members)
    workspace.observer().warn("the crate's manifest does not name '" + member +
                              "': it is not used");
}

int import_runs(const std::filesystem::path& place, Workspace& workspace) {
  const sharing::ImportedGroup group = sharing::import_group(
      place, workspace.folders(), workspace.clock(), workspace.observer(), workspace.stop());
  workspace.refresh_catalog();
  warn_of_unlisted(group.unlisted, workspace);
  std::string text;
  for (const sharing::ImportedRun& run : group.runs)
    text += fmt::format("run {}  {}\n", run.run_id, run.was_there ? "is there" : "imported");
  text += "  study, baselines and verdict in " + group.documents.string() + "\n";
  return answer_with(group, text, workspace);
}

int import_run(const std::filesystem::path& place, Workspace& workspace) {
  if (sharing::is_group_crate(place)) return import_runs(place, workspace);
  const sharing::ImportedRun run = sharing::import_crate(
      place, workspace.folders(), workspace.clock(), workspace.observer(), workspace.stop());
  workspace.refresh_catalog();
  warn_of_unlisted(run.unlisted, workspace);
  const std::string text = fmt::format("run {}  {}\n  in {}\n",
                                       run.run_id,
                                       run.was_there ? "is there" : "imported",
                                       run.directory.string());
  return answer_with(run, text, workspace);
}

int run_import(const ImportOptions& given, Workspace& workspace) {
  ImportOptions options = given;
  sharing::DocumentRequest& request = options.documents;
  request.place = options.what;
  if (assets::is_url(options.what)) {
    request.url = options.what;
    request.place = fetched_document(options.what, workspace);
  }
  const exchange::DocumentKind kind =
      !options.from.empty()             ? *spec::parse_enum<exchange::DocumentKind>(options.from)
      : !options.request.recipe.empty() ? exchange::DocumentKind::table
                                        : sharing::kind_of_file(request.place);
  if (kind == exchange::DocumentKind::crate) return import_run(request.place, workspace);
  if (kind == exchange::DocumentKind::table) return import_rows(options, workspace);
  return import_documents(options, kind, workspace);
}

void add_table_options(OptionParser& command, ImportOptions& options) {
  const char* const table = "Tables";
  app::ImportRequest& request = options.request;
  command.add_option("--recipe", request.recipe, "what the runs are runs of: a name")->group(table);
  command.add_option("--metrics", request.metrics, "the columns that are metrics")
      ->comma_separated()
      ->group(table);
  command
      .add_option(
          "--facets", request.facets, "the columns that say what a run was: site, host, ...")
      ->comma_separated()
      ->group(table);
  command
      .add_option("--count",
                  options.counts,
                  "METRIC=N: its values are shares k/N, such as accuracies of N images; others are "
                  "likely misprints")
      ->comma_separated()
      ->group(table);
  command.add_option("--tag", request.tags, "a word to find the runs by")->one_each()->group(table);
}

}  // namespace

void setup_import(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app,
                                        action,
                                        "import",
                                        "bring in documents of other tools, or a table of results",
                                        run_import);
  command.add_option("what", options.what, "a file, a folder or a URL")->required();
  command.add_option("--from", options.from, "what it is; else it is recognised")
      ->one_of(spec::enum_words<exchange::DocumentKind>());
  const char* const documents = "Documents";
  command.add_option("--name", options.documents.name, "the asset's name here")->group(documents);
  command.add_option("--commit", options.documents.commit, "of a model's code: 40 digits")
      ->group(documents);
  command
      .add_flag(
          "--trust-form", options.documents.trusts_form, "take a digest for what its length says")
      ->group(documents);
  command.add_flag("--replace", options.documents.replaces, "replace an asset of this name")
      ->group(documents);
  command.add_flag("--dry-run", options.documents.is_dry, "print the documents; write nothing")
      ->group(documents);
  add_table_options(command, options);
}

}  // namespace sabath::cli
