#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/base/version.hpp>
#include <sabath/execution/run_hooks.hpp>
#include <sabath/fetch/post_document.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/recipe.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;

constexpr std::size_t kept_output_bytes = 4096;
/// What is left for hooks that begin after a stop.
constexpr std::chrono::seconds after_stop{5};
constexpr std::uint64_t longest_output_bytes = std::uint64_t{1} << 20U;

/// What tells two hooks apart, whatever their order.
std::string name_of(const spec::Hook& hook) {
  std::string text;
  for (const std::string& word : hook.command)
    text += word + '\0';
  text += '\n' + hook.post + '\n' + hook.mail + '\n' + hook.where;
  constexpr std::size_t letters = 16;
  return base::sha256_of(text).hex.substr(0, letters);
}

/// Makes the marker of an event of a hook. Returns false if it exists, or if the folder may not be
/// written: then the run belongs to somebody else.
bool claim(const fs::path& run, const std::string& event, const spec::Hook& hook) {
  const fs::path folder = run / "hooks";
  std::error_code code;
  fs::create_directory(folder, code);
  const fs::path marker = folder / (event + "-" + name_of(hook));
  constexpr mode_t mode = 0644;
  const base::UniqueFd file(
      ::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (file.get() >= 0) return true;
  if (errno == EEXIST || errno == EACCES || errno == EROFS) return false;
  base::throw_errno(marker.string(), "cannot be made", errno);
}

void run_program(const std::vector<std::string>& argv,
                 const std::string& input,
                 const spec::Hook& hook,
                 const std::stop_token& stop,
                 base::ProcessRunner& processes) {
  base::Command command;
  command.argv = argv;
  command.input = input;
  command.capture_limit = kept_output_bytes;
  command.output_limit = longest_output_bytes;
  command.deadline = hook.timeout;
  command.grace = std::chrono::seconds(1);
  const base::ProcessResult result = processes.run(command, stop);
  if (result.ok()) return;
  const auto secrets = home::known_secrets(base::current_environment(), {});
  const std::string last = secrets.masked(base::last_lines(result.errors, 1, ""));
  throw Error(base::ErrorKind::launch,
              argv.front() + ": " + result.describe() +
                  (last.empty() ? "" : ": " + base::redact(base::printable(last))));
}

/// RFC 5322. All texts are of one line.
std::string mail_text(const spec::HookReport& report, const std::string& address) {
  const std::string state(spec::to_string(report.state));
  const std::string event(spec::to_string(report.event));
  std::string text = "To: " + address + "\nSubject: sabath: " + report.run + " " + event;
  if (event != state) text += " (" + state + ")";
  text +=
      "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
      "Auto-Submitted: auto-generated\n\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<10}{}\n", name, base::printable(value));
  };
  add("run", report.run);
  add("event", event);
  add("state", state);
  add("reason", report.reason);
  add("recipe", report.recipe);
  add("study", report.study.value_or(""));
  add("host", report.host);
  add("directory", report.directory);
  add("created", report.created);
  add("started", report.started.value_or(""));
  add("ended", report.ended.value_or(""));
  add("again", report.reproduce.value_or(""));
  return text;
}

void fire(spec::Hook hook,
          const HookSettings& settings,
          const spec::HookReport& report,
          base::ProcessRunner& processes) {
  std::stop_token stop = settings.stop;
  if (stop.stop_requested()) {
    stop = {};
    hook.timeout = std::min<decltype(hook.timeout)>(hook.timeout, after_stop);
  }
  const std::string json = base::pretty_json(spec::to_json(report));
  if (!hook.command.empty()) return run_program(hook.command, json, hook, stop, processes);
  if (!hook.mail.empty()) {
    const std::string mail = mail_text(report, hook.mail);
    return run_program({settings.sendmail, "-t"}, mail, hook, stop, processes);
  }
  fetch::post_document({hook.post,
                        json,
                        hook.timeout,
                        "sabath/" + std::string(base::version()),
                        settings.credentials_for,
                        stop});
}

/// Whether nobody is left on the node who fires its hooks: `exec` ended without the record of the
/// run, or left that of an attempt, which became the run's later.
bool was_closed_by_others(const home::RunFiles& files, bool has_record, spec::RunState state) {
  if (!has_record) return spec::is_final(state);
  std::error_code code;
  return fs::exists(home::RunFiles(files.last_attempt()).record(), code);
}

}  // namespace

void fire_hooks(const HookSettings& settings,
                spec::HookPlace place,
                const spec::HookReport& report,
                base::ProcessRunner& processes,
                base::Observer& observer) {
  const std::string event(spec::to_string(report.event));
  const bool is_anywhere = report.event == spec::HookEvent::lost;
  for (const spec::Hook& hook : settings.hooks) {
    if (!hook.is_on(report.event) || !(is_anywhere || hook.is_at(place))) continue;
    try {
      if (claim(report.directory, event, hook)) fire(hook, settings, report, processes);
    } catch (const std::exception& error) {
      observer.warn("hook for '" + event + "' of run " + report.run + ", " +
                        base::printable(hook.label()) + ": " + error.what(),
                    "the run is not affected; the hook is not tried again");
    }
  }
}

spec::HookReport report_on(const spec::RunRecord& record, const fs::path& directory) {
  spec::HookReport report;
  report.event = spec::event_of(record.state).value_or(spec::HookEvent::finished);
  report.run = record.run_id;
  report.recipe = record.recipe_name;
  report.state = record.state;
  report.reason = base::redact(record.message);
  report.directory = directory.string();
  if (!record.hosts.empty()) report.host = record.hosts.front().node;
  if (!record.study_id.empty()) report.study = record.study_id;
  report.created = record.created;
  if (!record.started.empty()) report.started = record.started;
  if (!record.ended.empty()) report.ended = record.ended;
  report.wall_s = record.wall_s;
  if (!record.reproduce.empty()) report.reproduce = record.reproduce;
  report.sabath_version = base::version();
  return report;
}

spec::HookReport report_on(const spec::RunPlan& plan,
                           const spec::RunStatus& status,
                           const fs::path& directory) {
  spec::HookReport report;
  report.event = spec::event_of(status.state).value_or(spec::HookEvent::started);
  report.run = plan.run_id;
  report.recipe = spec::parse_recipe(plan.recipe_text, plan.run_id).name;
  report.state = status.state;
  report.reason = spec::is_final(status.state) ? base::redact(status.message) : "";
  report.directory = directory.string();
  report.host = status.node;
  if (!plan.study_id.empty()) report.study = plan.study_id;
  report.created = plan.created;
  if (status.state == spec::RunState::running && !status.updated.empty())
    report.started = status.updated;
  if (!plan.reproduce.empty()) report.reproduce = plan.reproduce;
  report.sabath_version = base::version();
  return report;
}

void fire_seen(const HookSettings& settings,
               const fs::path& run_directory,
               base::ProcessRunner& processes,
               base::Observer& observer) {
  if (settings.hooks.empty()) return;
  try {
    const home::RunFiles files(run_directory);
    std::error_code code;
    // The record of an attempt is not the run's.
    const auto record = fs::exists(files.record(), code) ? files.read_record() : std::nullopt;
    const bool may_come_back = !record && files.read_record().has_value();
    if (may_come_back) return;  // its job continues, or closes the run later
    const auto report = record ? report_on(*record, run_directory)
                               : report_on(files.read_plan(), files.read_status(), run_directory);
    if (!spec::event_of(report.state)) return;
    fire_hooks(settings, spec::HookPlace::submit, report, processes, observer);
    if (was_closed_by_others(files, record.has_value(), report.state))
      fire_hooks(settings, spec::HookPlace::exec, report, processes, observer);
  } catch (const Error& error) {
    observer.warn(error.what(), error.hint());
  }
}

}  // namespace sabath::execution
