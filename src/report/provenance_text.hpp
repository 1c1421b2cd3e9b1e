#pragma once

#include "plots/labelled_lines.hpp"

#include <sabath/spec/facet.hpp>
#include <sabath/spec/software.hpp>

#include <string>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::report {

/// Code of the run, and digests of its inputs.
void add_code(LabelledLines& lines, const spec::RunRecord& record);
/// Packages and libraries of the run.
void add_software(LabelledLines& lines, const spec::RunRecord& record);
/// Parameters, seeds, switches, numbers of threads, order of the data.
void add_knobs(LabelledLines& lines, const spec::RunRecord& record);

/// All programs and libraries that were loaded, one a line, and what could not be seen.
std::string libraries_text(const spec::Software& software);
std::string opened_text(const spec::Facet& opened);

}  // namespace sabath::report
