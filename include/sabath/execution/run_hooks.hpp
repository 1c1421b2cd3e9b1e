#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::execution {

/// Hooks of this machine's configuration.
struct HookSettings {
  std::vector<spec::Hook> hooks{};
  std::string sendmail = "/usr/sbin/sendmail";
  /// Secrets for a host that a report is posted to; may be empty.
  std::function<fetch::Credentials(std::string_view scheme, std::string_view host)>
      credentials_for{};
  /// Ends a hook that is under way. One that begins later has five seconds at most: the end of an
  /// interrupted run is reported, too.
  std::stop_token stop{};
};

/// Fires the hooks of `report.event` at `place`, each once in the life of the run: a marker in the
/// folder `hooks` of the run directory is made first. A hook that fails is a warning. Lost runs
/// have no place: all hooks for them fire. Takes at most the time limits of the hooks.
void fire_hooks(const HookSettings& settings,
                spec::HookPlace place,
                const spec::HookReport& report,
                base::ProcessRunner& processes,
                base::Observer& observer);

/// Fires at `submit` what the files of a run say: that it started, or how it ended. Where `exec`
/// did not end the run itself, as at a limit of time, fires the hooks of `exec`, too.
void fire_seen(const HookSettings& settings,
               const std::filesystem::path& run_directory,
               base::ProcessRunner& processes,
               base::Observer& observer);

/// The report on a run that has its record.
spec::HookReport report_on(const spec::RunRecord& record, const std::filesystem::path& directory);

/// The report on a run without a record, from its plan and status.
spec::HookReport report_on(const spec::RunPlan& plan,
                           const spec::RunStatus& status,
                           const std::filesystem::path& directory);

}  // namespace sabath::execution
