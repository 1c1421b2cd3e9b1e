#pragma once

#include <string>
#include <string_view>

namespace sabath::report {

/// Returns the body of a man page (roff) for a page in the Markdown of docs: headings, fenced or
/// indented code, lists, tables, paragraphs. A link becomes its text and its target; comments and
/// images are left out.
std::string roff_of_markdown(std::string_view page);

}  // namespace sabath::report
