// Globus through its command line. Globus writes to a collection, not to a path: the configuration
// maps folders of this machine to a collection. A task lives in the service, so the next sabath
// finds the task of a killed one by its journal.

#include "builtin_tools.hpp"
#include "progress_meter.hpp"
#include "tool_answers_json.hpp"
#include "tree_tool.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

// Exit status of globus-cli: "a login, a consent or a session is required".
constexpr int login_required = 4;
/// Around an answer of the program.
constexpr std::string_view blanks = " \t\r\n\"";

fs::path journal_of(const ToolJob& job) {
  return job.output.parent_path() / (job.output.filename().string() + ".globus");
}

/// Returns the path in the collection; nothing where no mapped folder holds `path`.
std::optional<std::string> path_in_collection(const fs::path& path,
                                              const std::map<std::string, std::string>& paths) {
  const std::string text = path.string();
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& mapped : paths) {
    const std::string folder = mapped.first == "/" ? "/" : mapped.first + "/";
    const bool is_longer = best == nullptr || mapped.first.size() > best->first.size();
    if (text.starts_with(folder) && is_longer) best = &mapped;
  }
  if (best == nullptr) return std::nullopt;
  const std::string rest = text.substr(best->first == "/" ? 0 : best->first.size());
  return best->second == "/" ? rest : best->second + rest;
}

class GlobusTool final : public TreeTool {
 public:
  explicit GlobusTool(const ToolContext& context)
      : TreeTool({.name = "globus",
                  .program = "globus",
                  .package = "globus-cli ('pipx install globus-cli')",
                  .description = "collections of Globus through globus-cli",
                  .schemes = {"globus"},
                  .resumes = true,
                  .resume_is_safe = true,
                  .has_journal = true},
                 context) {}

 protected:
  Listing listed(const ToolJob& job, std::optional<std::uint64_t> /*limit*/) override {
    const ToolUrl& source = job.url();
    std::string answer;
    const std::string place = source.host + ":" + source.path;
    if (auto failure = ask({"ls", "--recursive", "-F", "json", "--", place}, answer, job.stop)) {
      return *std::move(failure);
    }
    auto files = parse_globus_listing(answer, source.displayed);
    const std::string base_url = source.plain + (source.plain.ends_with('/') ? "" : "/");
    for (ListedFile& file : files)
      file.url = base_url + encoded_path(file.path);
    return files;
  }

  std::optional<Failure> bring(const ToolJob& job) override {
    if (job.url().path.ends_with('/')) return Failure{.problem = "is a folder, not a file"};
    return copy(job);
  }
  std::optional<Failure> bring_tree(const ToolJob& job) override { return copy(job); }
  Failure failure_of(const ToolEnd& end, const ToolJob&) override { return judge(end); }

 private:
  static Failure judge(const ToolEnd& end) {
    Failure failure = failure_by_words("globus", end);
    if (end.process.end != base::ProcessEnd::exited || end.process.exit_code != login_required) {
      return failure;
    }
    failure.access_needed = true;
    failure.not_found = false;
    failure.retryable = false;
    failure.problem = "Globus requires a login or a consent";
    // The output names the command, with the missing scopes.
    const std::string said(base::trimmed(end.process.errors + end.process.output, blanks));
    failure.hint = said.empty() ? "run 'globus login'" : base::printable(said, true);
    return failure;
  }

  std::optional<Failure> copy(const ToolJob& job) {
    if (job.url().host.empty()) return Failure{.problem = "malformed URL: it names no collection"};
    GlobusJournal journal;
    if (const auto text = base::read_file_if_exists(journal_of(job))) {
      journal = parse_globus_journal(*text).value_or(GlobusJournal{});
      if (journal.source != job.url().plain) journal = {};
    }
    journal.source = job.url().plain;
    if (!journal.task_id.empty()) {
      job.observer.note(
          fmt::format("{}: going on with Globus task {}", job.url().displayed, journal.task_id));
    } else if (auto failure = submit(job, journal)) {
      // A refused submission is not repeated; one with a lost answer is.
      if (!failure->retryable) base::remove_tree(journal_of(job));
      return failure;
    }
    auto failure = follow(job, journal);
    // The next attempt finds a task that waits or did not answer.
    if (!failure || (!failure->access_needed && !failure->retryable)) {
      base::remove_tree(journal_of(job));
    }
    return failure;
  }

  std::optional<Failure> ask(std::vector<std::string> arguments,
                             std::string& answer,
                             const std::stop_token& stop) {
    ToolCall call;
    call.argv = {"globus"};
    call.argv.insert(call.argv.end(), arguments.begin(), arguments.end());
    call.variables["GLOBUS_CLI_INTERACTIVE"] = "0";
    const base::TempDir folder(fs::temp_directory_path(), "sabath-globus-");
    call.output = folder.path() / "answer";
    base::SilentObserver nobody;
    auto failure = run(call, {nobody, stop, "globus", {ToolUrl{}}});
    answer = base::read_file_if_exists(call.output, 1ULL << 30U).value_or("");
    return failure;
  }

  std::optional<Failure> submit(const ToolJob& job, GlobusJournal& journal) {
    const auto to = destination(job);
    if (const auto* failure = std::get_if<Failure>(&to)) return *failure;
    if (journal.submission_id.empty()) {
      std::string answer;
      if (auto failure = ask({"task", "generate-submission-id", "-F", "text"}, answer, job.stop)) {
        return failure;
      }
      journal.submission_id = base::trimmed(answer, blanks);
      if (journal.submission_id.empty()) return Failure{.problem = "globus gave no submission id"};
      base::write_file_atomically(journal_of(job), to_text(journal));
    }
    std::vector<std::string> arguments{"transfer",
                                       "--notify",
                                       "off",
                                       "--label",
                                       "sabath " + journal.submission_id,
                                       "--sync-level",
                                       "checksum",
                                       "--verify-checksum",
                                       "--fail-on-quota-errors",
                                       "--deadline",
                                       deadline(),
                                       "--submission-id",
                                       journal.submission_id,
                                       "--jmespath",
                                       "task_id",
                                       "-F",
                                       "unix"};
    if (job.is_tree) arguments.emplace_back("--recursive");
    for (const base::Digest& digest : job.digests) {
      if (digest.algorithm != base::DigestAlgorithm::sha256) continue;
      arguments.insert(arguments.end(),
                       {"--external-checksum", digest.hex, "--checksum-algorithm", "SHA256"});
    }
    arguments.insert(arguments.end(),
                     {"--", job.url().host + ":" + job.url().path, std::get<std::string>(to)});
    std::string answer;
    if (auto failure = ask(std::move(arguments), answer, job.stop)) return failure;
    journal.task_id = base::trimmed(answer, blanks);
    if (journal.task_id.empty()) return Failure{.problem = "globus gave no task id"};
    base::write_file_atomically(journal_of(job), to_text(journal));
    job.observer.note(fmt::format("{}: Globus task {}", job.url().displayed, journal.task_id));
    return std::nullopt;
  }

  std::optional<Failure> follow(const ToolJob& job, const GlobusJournal& journal) {
    ProgressMeter meter(job.task, job.observer, context().clock);
    std::string shown;
    while (true) {
      std::string answer;
      std::optional<Failure> failure;
      try {
        failure = ask({"task", "show", "-F", "json", "--", journal.task_id}, answer, job.stop);
      } catch (const base::Error& error) {
        if (error.kind() == base::ErrorKind::interrupted) cancel(job, journal);
        throw;
      }
      if (failure) return failure;
      const GlobusTask task = parse_globus_task(answer, job.url().displayed);
      meter.report_now(task.bytes, job.size_bytes);
      if (task.status == "SUCCEEDED") return std::nullopt;
      if (task.status != "ACTIVE") return judge_task(task, journal);
      std::string news = task.is_paused ? "paused" : task.nice_status;
      if (!task.details.empty()) news += ": " + task.details;
      if (news != shown && !news.empty() && task.nice_status != "OK") {
        job.observer.note(job.url().displayed + ": Globus: " + base::printable(news));
      }
      shown = news;
      base::wait_unless_stopped(context().options.poll, job.stop);
    }
  }

  std::optional<Failure> judge_task(const GlobusTask& task, const GlobusJournal& journal) const {
    const std::string page = "https://app.globus.org/activity/" + journal.task_id;
    if (task.status == "FAILED") {
      std::string why = task.fatal.empty() ? task.nice_status : task.fatal;
      if (!task.details.empty()) why += (why.empty() ? "" : ": ") + task.details;
      Failure failure{.problem = "the Globus task failed: " + base::printable(why), .hint = page};
      failure.not_found = why.find("NOT_FOUND") != std::string::npos;
      failure.access_needed = why.find("PERMISSION_DENIED") != std::string::npos;
      if (why.find("QUOTA") != std::string::npos) {
        throw base::Error(base::ErrorKind::storage, "globus: " + failure.problem, page);
      }
      return failure;
    }
    if (task.status == "INACTIVE") {
      return Failure{
          .problem = "the Globus task waits for a login: " + base::printable(task.details),
          .hint =
              "log in ('globus login', 'globus session update'), then fetch again: the "
              "task continues; " +
              page,
          .access_needed = true};
    }
    return Failure{.problem = "the Globus task is in a state that is not known: " +
                              base::printable(task.status),
                   .hint = page};
  }

  void cancel(const ToolJob& job, const GlobusJournal& journal) {
    std::string answer;
    const auto failure = ask({"task", "cancel", journal.task_id}, answer, {});
    if (failure) {
      job.observer.warn("Globus task " + journal.task_id +
                        " could not be cancelled: " + failure->problem);
      return;
    }
    job.observer.note("Globus task " + journal.task_id + " is cancelled");
    base::remove_tree(journal_of(job));
  }

  std::variant<std::string, Failure> destination(const ToolJob& job) const {
    const spec::GlobusSettings& settings = context().options.configuration.globus;
    if (settings.local_collection.empty()) {
      return Failure{.problem = "no Globus collection that sees this machine's files is configured",
                     .hint =
                         "put \"globus\": {\"local_collection\": UUID, \"paths\": {...}} into "
                         "config.json"};
    }
    std::error_code code;
    const fs::path whole = fs::weakly_canonical(job.output, code);
    const auto path = path_in_collection(code ? job.output : whole, settings.paths);
    if (path) return settings.local_collection + ":" + *path + (job.is_tree ? "/" : "");
    std::vector<std::string> mapped;
    for (const auto& [here, there] : settings.paths)
      mapped.push_back(here);
    return Failure{
        .problem = fmt::format("the cache ({}) is beneath no folder that the local collection sees",
                               job.output.parent_path().string()),
        .hint = mapped.empty()
                    ? "put \"paths\": {\"/folder/here\": \"/folder/there\"} into config.json"
                    : fmt::format("mapped are {}: set SABATH_CACHE to a place there, or add to "
                                  "\"globus\": {{\"paths\": ...}} in config.json",
                                  fmt::join(mapped, ", "))};
  }

  std::string deadline() const {
    const auto hours = std::chrono::hours(context().options.configuration.globus.deadline_hours);
    const auto time =
        std::chrono::time_point_cast<std::chrono::seconds>(context().clock.now() + hours);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                       fmt::gmtime(static_cast<std::time_t>(time.time_since_epoch().count())));
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_globus_tool(const ToolContext& context) {
  return std::make_unique<GlobusTool>(context);
}

}  // namespace sabath::fetch
