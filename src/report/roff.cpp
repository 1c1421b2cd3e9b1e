#include <sabath/base/text/pieces.hpp>
#include <sabath/report/roff.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sabath::report {
namespace {

/// Text as roff prints it. Nothing in it is a command.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// Length of the link [TEXT](TARGET) at the begin of `text`; 0 without one.
std::size_t link_length(std::string_view text) {
  const std::size_t middle = text.find("](");
  if (!text.starts_with('[') || middle == std::string_view::npos ||
      text.substr(1, middle - 1).find('[') != std::string_view::npos)
    return 0;
  const std::size_t end = text.find(')', middle);
  return end == std::string_view::npos ? 0 : end + 1;
}

/// A line of prose: **bold** and `code` become bold. A leading dot or quote would be a command.
std::string inline_roff(std::string_view line) {
  std::string text;
  bool bold = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool stars = line.substr(i, 2) == "**";
    if (line[i] == '`' || stars) {
      bold = !bold;
      text += bold ? "\\fB" : "\\fR";
      if (stars) ++i;
    } else if (const std::size_t length = link_length(line.substr(i)); length > 0) {
      const std::string_view link = line.substr(i, length);
      const std::size_t middle = link.find("](");
      text += inline_roff(link.substr(1, middle - 1)) + " (" +
              escaped(link.substr(middle + 2, length - middle - 3)) + ")";
      i += length - 1;
    } else {
      text += escaped(line.substr(i, 1));
    }
  }
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

/// Length of "12." at the begin of an item of a numbered list; else 0.
std::size_t number_length(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return end > 0 && text.substr(end).starts_with(". ") ? end + 1 : 0;
}

/// A line of code: only what roff would take for a command is changed.
std::string code_line(std::string_view text) {
  const std::string safe = escaped(text);
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

std::string heading(std::string_view text) {
  const bool is_first = text.find_first_not_of('#') == 1;
  return (is_first ? ".SH " : ".SS ") + inline_roff(text.substr(text.find_first_not_of("# "))) +
         "\n";
}

/// A row of two cells is a tag and its text. The cells of a wider one are separated by tabs.
std::string table_row(std::string_view text) {
  if (text.find_first_not_of("|-: ") == std::string_view::npos) return {};
  std::vector<std::string> cells(1);
  for (const char c : text.substr(1, text.find_last_of('|') - 1)) {
    if (c == '|') {
      cells.emplace_back();
    } else if (c != ' ' || !cells.back().empty()) {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells)
    cell = inline_roff(cell.substr(0, cell.find_last_not_of(' ') + 1));
  if (cells.size() == 2 && !cells[0].empty())
    return ".TP 22\n" + cells[0] + "\n" + (cells[1].empty() ? "\\&" : cells[1]) + "\n";
  return fmt::format(".br\n{}\n", fmt::join(cells, "  \t"));
}

/// A line outside of code.
std::string prose_line(std::string_view text) {
  if (text.empty()) return ".PP\n";
  if (text.starts_with("<!--") || text.starts_with("![")) return {};
  if (text.starts_with('#')) return heading(text);
  if (text.starts_with('|')) return table_row(text);
  if (text.starts_with("- ")) return ".IP \\(bu 3\n" + inline_roff(text.substr(2)) + "\n";
  if (const std::size_t number = number_length(text); number > 0)
    return ".IP " + std::string(text.substr(0, number)) + " 3\n" +
           inline_roff(text.substr(number + 1)) + "\n";
  // Further lines of a list item are indented; roff would break the line before a blank.
  return inline_roff(text.substr(std::min(text.find_first_not_of(' '), text.size()))) + "\n";
}

}  // namespace

std::string roff_of_markdown(std::string_view page) {
  std::string roff;
  bool code = false;
  for (const std::string& line : base::text_lines(page)) {
    if (line.starts_with("```")) {
      code = !code;
      roff += code ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
    } else if (code) {
      roff += code_line(line) + "\n";
    } else if (line.starts_with("    ")) {
      roff += ".nf\n" + code_line(line) + "\n.fi\n";
    } else {
      roff += prose_line(line);
    }
  }
  return roff;
}

}  // namespace sabath::report
