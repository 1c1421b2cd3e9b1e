#pragma once

#include "documents/document_json.hpp"

#include <sabath/spec/events/hook.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, HookReport> report) {
  SABATH_FIELDS(io, report, event, run, recipe, state);
  io("reason", report.reason, "why it did not end well; may be empty");
  io("directory", report.directory, "of the run");
  io("host", report.host, "that executes it; empty: not known");
  io("study", report.study, "that it belongs to; absent: none");
  io("created", report.created, "RFC 3339");
  SABATH_FIELDS(io, report, started, ended, wall_s);
  io("reproduce", report.reproduce, "the command that repeats it");
  SABATH_FIELDS(io, report, sabath_version);
}

}  // namespace sabath::spec
