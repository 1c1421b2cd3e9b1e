#pragma once

#include "plots/labelled_lines.hpp"

#include <sabath/spec/run_record.hpp>

#include <string>

namespace sabath::report {

/// Which code it was, and which bytes went in.
void add_code(LabelledLines& lines, const spec::RunRecord& record);
/// Which packages and libraries it ran with.
void add_software(LabelledLines& lines, const spec::RunRecord& record);
/// Parameters, seeds, switches, numbers of threads, order of the data.
void add_knobs(LabelledLines& lines, const spec::RunRecord& record);

/// Every program and library that was loaded, one in a line, and what could not be seen.
std::string libraries_text(const spec::Software& software);
/// Of the facet `opened`.
std::string opened_text(const spec::Facet& opened);

}  // namespace sabath::report
