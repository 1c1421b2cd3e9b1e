#pragma once

#include "execution_context.hpp"

#include <sabath/execution/run_hooks.hpp>
#include <sabath/spec/run_record.hpp>

#include <stop_token>
#include <thread>
#include <utility>

namespace sabath::execution {

/// Fires the hooks of one execution at its node.
class EventHooks {
 public:
  /// `context` must outlive it.
  explicit EventHooks(const ExecutionContext& context) : context_(context) {}

  /// Ends hooks that are under way; see HookSettings.
  void set_stop(std::stop_token stop) { stop_ = std::move(stop); }

  /// In the background: the stages do not wait for it.
  void start() {
    if (context_.node.hooks.hooks.empty()) return;
    const home::RunFiles& files = context_.files;
    spec::HookReport report = report_on(context_.plan, files.read_status(), files.directory());
    started_ = std::jthread([this, report = std::move(report)] { fire(report); });
  }

  /// Fires the end of the run, after what is still under way. `diverged`: that stopped it.
  void end(const spec::RunRecord& record, bool diverged) {
    if (started_.joinable()) started_.join();
    if (context_.node.hooks.hooks.empty()) return;
    spec::HookReport report = report_on(record, context_.files.directory());
    const spec::HookEvent event = std::exchange(report.event, spec::HookEvent::diverged);
    if (diverged) fire(report);
    report.event = event;
    fire(report);
  }

 private:
  void fire(const spec::HookReport& report) const {
    HookSettings settings = context_.node.hooks;
    settings.stop = stop_;
    fire_hooks(settings, spec::HookPlace::exec, report, context_.processes, context_.observer);
  }

  const ExecutionContext& context_;
  std::stop_token stop_{};
  std::jthread started_{};
};

}  // namespace sabath::execution
