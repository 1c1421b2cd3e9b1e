#include "commands.hpp"
#include "manual.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>
#include <sabath/report/roff.hpp>

#include <fmt/format.h>

#include <memory>

namespace sabath::cli {
namespace {

/// A man page with this name, section, line of NAME and body.
std::string man_page(std::string_view title,
                     int section,
                     std::string_view line,
                     std::string_view body) {
  return fmt::format(".TH {} {} \"\" \"sabath {}\" \"{}\"\n.SH NAME\n{}\n{}",
                     title,
                     section,
                     base::version(),
                     section == 1 ? "User commands" : "sabath manual",
                     line,
                     body);
}

/// The pages of all commands as one man page (roff).
std::string manual_as_roff() {
  std::string body;
  for (const ManualPage& page : manual_pages()) {
    if (!page.is_topic) body += report::roff_of_markdown(page.text);
  }
  return man_page("SABATH",
                  1,
                  "sabath \\- from a name to a verdict: data, environments, runs and comparisons",
                  body);
}

/// One page as a man page: `man sabath-NAME`. The page's title is its line of NAME.
std::string page_as_roff(const ManualPage& page) {
  const std::size_t end = page.text.find('\n');
  const std::string title(page.text.substr(2, end - 2));
  const std::string name = "sabath-" + std::string(page.name);
  return man_page(name,
                  page.is_topic ? 7 : 1,
                  report::roff_of_markdown(name + " - " + title),
                  report::roff_of_markdown(page.text.substr(end)));
}

struct HelpOptions {
  std::string page{};
  bool man = false;
};

const ManualPage& page_of(const std::string& name) {
  std::vector<std::string> names;
  for (const ManualPage& page : manual_pages()) {
    if (page.name == name) return page;
    names.emplace_back(page.name);
  }
  throw base::Error(
      base::ErrorKind::not_found,
      "help '" + base::printable(name) + "': this page does not exist",
      base::did_you_mean(name, names, fmt::format("pages: {}", fmt::join(names, ", "))));
}

/// The commands, and the other pages of `help`.
std::string overview(const OptionParser& app) {
  std::string text = app.help() + "\nPages of 'sabath help':\n";
  for (const ManualPage& page : manual_pages()) {
    if (page.is_topic)
      text +=
          fmt::format("  {:<27} {}\n", page.name, page.text.substr(2, page.text.find('\n') - 2));
  }
  return text;
}

}  // namespace

void setup_help(OptionParser& app, Action& action) {
  auto options = std::make_shared<HelpOptions>();
  OptionParser* command = app.add_subcommand("help", "show the page of a command or a topic");
  command->add_option("page", options->page, "a command or a topic; none: list both");
  command->add_flag("--man", options->man, "as a man page; without a page: all commands");
  command->callback([&action, &app, options] {
    action = [&app, options](Workspace& workspace) -> int {
      workspace.refuse_json();
      if (options->page.empty()) {
        workspace.answer(options->man ? manual_as_roff() : overview(app));
      } else {
        const ManualPage& page = page_of(options->page);
        workspace.answer(options->man ? page_as_roff(page) : std::string(page.text));
      }
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
