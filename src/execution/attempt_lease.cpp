#include "attempt_lease.hpp"

#include "record/job_facts.hpp"
#include "record/run_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_files.hpp>

namespace sabath::execution {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

Admission AttemptLease::admit_run(const std::stop_token& stop) {
  const home::RunFiles& files = context_.files;
  const std::size_t step = context_.step();
  const auto start = context_.job ? std::optional(context_.job->start) : std::nullopt;
  const auto begun = context_.clock.steady();
  while (true) {
    status_ = files.read_status();
    const auto process = base::ProcessIdentity::parse(status_.process);
    const auto liveness = process ? base::liveness_of(*process) : base::Liveness::unknown;
    Admission admission = admit(status_, liveness, start, counts_restarts(context_.job));
    std::error_code code;
    const bool is_ready = step == 1 || fs::exists(step_file(files, attempt(), step - 1), code);
    if (admission.reason.empty() && is_ready) return admission;
    const std::string place = files.directory().string() + ": ";
    if (admission.answer == Admission::Answer::never)
      throw Error(ErrorKind::usage, place + admission.reason, "'sabath run' makes a new one");
    const bool is_late =
        step == 1 || context_.clock.steady() - begun > context_.node.batch->plan.site.grace;
    if (is_late && !admission.reason.empty())
      throw Error(ErrorKind::usage, place + admission.reason);
    if (is_late) {
      throw Error(ErrorKind::usage,
                  place + "step " + std::to_string(step - 1) + " of it has not ended well");
    }
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, place + "stopped before it was begun");
    context_.clock.sleep_for(std::chrono::milliseconds(500));
  }
}

void AttemptLease::begin_attempt(bool is_again) {
  const home::RunFiles& files = context_.files;
  const int before = attempt();
  if (is_again) keep_attempt(files, status_);
  if (is_again || before == 0) ++status_.attempt;
  base::make_directories(files.attempt(attempt()));
  if (is_again && before > 0) take_over_steps(files, before, attempt(), context_.step() - 1);
  status_.message.clear();
  status_.stage.clear();
  if (context_.job) status_.job = context_.job->start;
}

void AttemptLease::start() {
  home::stamp_process(status_);
  set_state(spec::RunState::running);
}

void AttemptLease::leave(const std::string& message) {
  status_.process.clear();
  status_.pid = 0;
  end(spec::RunState::planned, message);
}

void AttemptLease::end(spec::RunState state, const std::string& message) {
  status_.message = message;
  set_state(state);
}

void AttemptLease::set_message(const std::string& text) {
  const std::lock_guard lock(mutex_);
  status_.message = text;
  write_status();
}

void AttemptLease::set_stage(const std::string& names) {
  const std::lock_guard lock(mutex_);
  status_.stage = names;
  write_status();
}

bool AttemptLease::is_superseded() const {
  return newest_attempt(context_.files) > attempt();
}

void AttemptLease::set_state(spec::RunState state) {
  const std::lock_guard lock(mutex_);
  status_.state = state;
  write_status();
}

void AttemptLease::write_status() {
  if (is_superseded()) {
    own_stop_.request_stop();
    return;
  }
  status_.updated = base::format_rfc3339(context_.clock.now());
  context_.files.write_status(status_);
}

}  // namespace sabath::execution
