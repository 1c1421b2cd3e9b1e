#include "commands.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/serve/browser.hpp>
#include <sabath/serve/relay.hpp>

namespace sabath::cli {
namespace {

struct ViewOptions {
  std::string host{};
  std::string remote = "sabath";
  std::vector<std::string> ssh_options{};
  int port = 0;
  bool no_browser = false;
};

int run_view(const ViewOptions& options, Workspace& workspace) {
  workspace.refuse_json("'sabath serve --json' answers with the address of a view here");
  // A word that begins with '-' is an option to ssh, which may start commands here.
  if (options.host.empty() || options.host.starts_with('-')) {
    throw usage_error("'" + base::printable(options.host) + "' is not the name of a host",
                      "such as 'sabath view me@login.site.org'");
  }
  serve::RelayOptions how;
  how.command = {"ssh", "-T"};
  how.command.insert(how.command.end(), options.ssh_options.begin(), options.ssh_options.end());
  how.command.insert(how.command.end(), {"--", options.host, options.remote + " serve --stdio"});
  how.port = static_cast<std::uint16_t>(options.port);
  how.printed = [&](const std::string& line) {
    workspace.observer().note(options.host + ": " + base::printable(line));
  };
  how.ready = [&](const std::string& address, const std::string& once) {
    workspace.answer(address + "\n");
    const std::string problem = options.no_browser ? "" : serve::open_browser(once);
    if (!problem.empty()) workspace.observer().note(problem);
  };
  serve::relay(how);
  workspace.observer().note("the view of " + base::printable(options.host) + " has ended");
  return exit_done;
}

}  // namespace

void setup_view(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "view", "show the runs of another machine in the browser here", run_view);
  command.add_option("host", options.host, "where the runs are: HOST or USER@HOST")->required();
  command.add_option("--remote", options.remote, "how sabath is started there")
      ->capture_default_str();
  command.add_option("--ssh-option", options.ssh_options, "a word for ssh, such as -Jbastion")
      ->one_each();
  command.add_option("--port", options.port, "this port instead of a free one")->range(0, 65535);
  command.add_flag("--no-browser", options.no_browser, "open no browser");
}

}  // namespace sabath::cli
