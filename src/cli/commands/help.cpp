#include "commands.hpp"
#include "manual.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace sabath::cli {
namespace {

/// Text for roff: backslashes and leading dots would be commands; **bold** and `code` become bold.
std::string roff_inline(std::string_view line) {
  std::string text;
  bool bold = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '`' || line.substr(i, 2) == "**") {
      bold = !bold;
      text += bold ? "\\fB" : "\\fR";
      if (line[i] == '*') ++i;
      continue;
    }
    if (line[i] == '\\') {
      text += "\\e";
    } else if (line[i] == '-') {
      text += "\\-";
    } else {
      text += line[i];
    }
  }
  return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

/// The Markdown that the pages use: headings, fenced or indented code, lists, tables, paragraphs.
class RoffWriter {
 public:
  void line(std::string_view text) {
    if (text.starts_with("```")) {
      code_ = !code_;
      roff_ += code_ ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
    } else if (code_ || text.starts_with("    ")) {
      literal(text);
    } else if (text.starts_with("#")) {
      heading(text);
    } else if (text.starts_with("|")) {
      table_row(text);
    } else if (text.starts_with("- ")) {
      roff_ += ".IP \\(bu 3\n" + roff_inline(text.substr(2)) + "\n";
    } else if (const std::size_t number = number_length(text); number > 0) {
      roff_ += ".IP " + std::string(text.substr(0, number)) + " 3\n" +
               roff_inline(text.substr(number + 1)) + "\n";
    } else if (text.empty()) {
      roff_ += ".PP\n";
    } else {
      // Further lines of a list item are indented; roff would break the line before a blank.
      roff_ += roff_inline(text.substr(std::min(text.find_first_not_of(' '), text.size()))) + "\n";
    }
  }
  const std::string& roff() const { return roff_; }

 private:
  /// Of "12." at the begin of an item of a numbered list; else 0.
  static std::size_t number_length(std::string_view text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    return end > 0 && text.substr(end).starts_with(". ") ? end + 1 : 0;
  }
  void literal(std::string_view text) {
    const std::string safe = roff_inline(text);
    roff_ += code_ ? safe + "\n" : ".nf\n" + safe + "\n.fi\n";
  }
  void heading(std::string_view text) {
    const std::size_t level = text.find_first_not_of('#');
    roff_ += (level == 1 ? ".SH " : ".SS ") +
             roff_inline(text.substr(text.find_first_not_of("# "))) + "\n";
  }
  void table_row(std::string_view text) {
    if (text.find_first_not_of("|-: ") == std::string_view::npos) return;
    std::string row;
    for (const char c : text.substr(1, text.find_last_of('|') - 1))
      row += c == '|' ? "  \t" : std::string(1, c);
    roff_ += ".br\n" + roff_inline(row.substr(row.find_first_not_of(' '))) + "\n";
  }

  std::string roff_;
  bool code_ = false;
};

/// The whole manual as one man page (roff).
std::string manual_as_roff() {
  RoffWriter writer;
  for (const ManualPage& page : manual_pages()) {
    for (const std::string& line : base::text_lines(page.text))
      writer.line(line);
  }
  return ".TH SABATH 1 \"\" \"sabath " + std::string(base::version()) +
         "\" \"User commands\"\n.SH NAME\nsabath \\- from a name to a verdict: data, environments, "
         "runs and comparisons\n" +
         writer.roff();
}

struct HelpOptions {
  std::string page{};
  bool man = false;
};

std::string page_text(const std::string& name) {
  std::vector<std::string> names;
  for (const ManualPage& page : manual_pages()) {
    if (page.name == name) return std::string(page.text);
    names.emplace_back(page.name);
  }
  throw base::Error(
      base::ErrorKind::not_found,
      "help '" + base::printable(name) + "': this page does not exist",
      base::did_you_mean(name, names, fmt::format("pages: {}", fmt::join(names, ", "))));
}

}  // namespace

void setup_help(OptionParser& app, Action& action) {
  auto options = std::make_shared<HelpOptions>();
  OptionParser* command = app.add_subcommand("help", "show the manual page of a command");
  command->add_option("page", options->page, "a command, or exit-status, environment, selections");
  command->add_flag("--man", options->man, "the whole manual as a man page");
  command->callback([&action, &app, options] {
    action = [&app, options](Workspace& workspace) -> int {
      workspace.refuse_json();
      if (options->man) {
        workspace.answer(manual_as_roff());
      } else {
        workspace.answer(options->page.empty() ? app.help() : page_text(options->page));
      }
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
