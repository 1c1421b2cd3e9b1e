#include "commands.hpp"
#include "commands/view/live_parts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/live/live_view.hpp>
#include <sabath/report/report.hpp>
#include <sabath/serve/browser.hpp>
#include <sabath/serve/server.hpp>
#include <sabath/serve/server_record.hpp>

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include <sys/resource.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

using serve::ServerPlace;
using serve::ServerRecord;
using serve::Transport;

struct ServeOptions {
  bool tcp = false;
  std::string socket{};
  bool uses_socket = false;
  bool stdio = false;
  int port = 0;
  bool no_browser = false;
  std::string base_path{};
  std::vector<std::string> host_names{};
  std::string frame_ancestors{};
  std::string idle = "30m";
  std::string web{};
  bool stop = false;
};

Transport transport_of(const ServeOptions& options) {
  if (options.stdio) return Transport::stdio;
  if (options.uses_socket || !options.socket.empty()) return Transport::socket;
  // A port of a login node is of no use to a browser elsewhere.
  const bool is_remote = base::current_environment().contains("SSH_CONNECTION") && !options.tcp;
  return is_remote ? Transport::socket : Transport::tcp;
}

std::string base_path_of(const ServeOptions& options) {
  std::string path = options.base_path;
  while (path.ends_with('/'))
    path.pop_back();
  if (!path.empty() && !path.starts_with('/'))
    throw usage_error("--base-path: '" + base::printable(path) + "' does not begin with '/'");
  return path;
}

/// What is sent as part of a policy has no further parts.
std::string ancestors_of(const ServeOptions& options) {
  if (options.frame_ancestors.find_first_of(";,\r\n") == std::string::npos)
    return options.frame_ancestors;
  throw usage_error("--frame-ancestors: has a ';' or a ','",
                    "give one address, such as https://portal");
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string socket_text(const std::string& socket, const std::string& token) {
  return fmt::format(
      "The view is at a socket of {0}. On your own machine run\n"
      "  ssh -NL 8080:{1} {0}\n"
      "and open\n"
      "  http://127.0.0.1:8080/#t={2}\n"
      "Or run there: sabath view {0}\n",
      host_name(),
      socket,
      token);
}

std::string place_text(const ServerRecord& record) {
  return record.socket.empty() ? record.url + "#t=" + record.token + "\n"
                               : socket_text(record.socket, record.token);
}

int show_running(const ServeOptions& options, const ServerPlace& place, Workspace& workspace) {
  const auto record = place.read();
  if (!record || record->token.empty()) {
    throw base::Error(base::ErrorKind::storage,
                      "another server of this home is starting or ending",
                      "run the command again");
  }
  workspace.observer().note("a server of this home runs already");
  if (!options.tcp && !options.uses_socket && options.socket.empty())
    return answer_with(*record, place_text(*record), workspace);
  const bool is_other = record->socket.empty() ? !options.tcp : options.tcp;
  if (is_other) {
    throw base::Error(base::ErrorKind::usage,
                      "the server of this home has another transport",
                      "end it first: sabath serve --stop");
  }
  return answer_with(*record, place_text(*record), workspace);
}

int stop_running(const ServerPlace& place, Workspace& workspace) {
  const auto record = place.read();
  if (!record) {
    workspace.observer().note("no server of this home runs on this machine");
    return exit_done;
  }
  if (::kill(record->process.pid, SIGTERM) != 0)
    base::throw_errno("process " + std::to_string(record->process.pid), "cannot end it", errno);
  constexpr int most_looks = 100;
  for (int i = 0; i < most_looks && place.read(); ++i)
    workspace.clock().sleep_for(std::chrono::milliseconds(100));
  return exit_done;
}

int serve_now(const serve::ServerOptions& how,
              const ServeOptions& options,
              const ServerPlace* place,
              Workspace& workspace) {
  constexpr int polite = 10;
  ::setpriority(PRIO_PROCESS, 0, polite);
  live::LiveView view(live_parts(workspace));
  serve::Server server(how, view, workspace.clock());
  if (place != nullptr) {
    const bool is_tcp = how.transport == Transport::tcp;
    const ServerRecord record{base::ProcessIdentity::current(),
                              is_tcp ? server.url() : "",
                              is_tcp ? "" : how.socket.string(),
                              server.token()};
    place->write(record);
    workspace.answer(workspace.json() ? json_answer(record) : place_text(record));
    const bool opens = is_tcp && !options.no_browser && !workspace.json();
    const std::string problem = opens ? serve::open_browser(server.url_for_browser()) : "";
    if (!problem.empty()) workspace.observer().note(problem);
    workspace.observer().note("Ctrl-C ends the view; runs do not depend on it");
  }
  const std::stop_token stop = workspace.stop();
  const std::stop_callback end(stop, [&server] { server.end(); });
  server.run();
  if (place != nullptr) place->forget();
  if (!stop.stop_requested()) return exit_done;
  // An answer that takes long is not waited for.
  if (how.transport == Transport::socket) ::unlink(how.socket.c_str());
  std::quick_exit(exit_done);
}

int run_serve(const ServeOptions& options, Workspace& workspace) {
  serve::ServerOptions how;
  how.transport = transport_of(options);
  how.port = static_cast<std::uint16_t>(options.port);
  how.host_names = options.host_names;
  how.base_path = base_path_of(options);
  how.frame_ancestors = ancestors_of(options);
  if (options.idle != "0") how.idle = duration_of("--idle", options.idle, "30m, 8h or 0");
  how.web = options.web;
  how.style = report::html_style();
  if (how.transport == Transport::stdio) return serve_now(how, options, nullptr, workspace);
  ServerPlace place(serve::runtime_folder(), workspace.folders().home);
  if (options.stop) return stop_running(place, workspace);
  if (!place.take()) return show_running(options, place, workspace);
  how.socket = options.socket.empty() ? place.socket() : std::filesystem::path(options.socket);
  return serve_now(how, options, &place, workspace);
}

}  // namespace

void setup_serve(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "serve", "show runs, studies and assets in a browser", run_serve);
  command.add_flag("--tcp", options.tcp, "at a port of this machine (default at a workstation)");
  command.add_flag(
      "--unix", options.uses_socket, "at a Unix socket of this user (default within ssh)");
  command.add_option("--socket", options.socket, "at this Unix socket");
  command.add_flag("--stdio", options.stdio, "on standard input and output, for 'sabath view'");
  command.add_option("--port", options.port, "this port instead of a free one")->range(0, 65535);
  command.add_flag("--no-browser", options.no_browser, "open no browser");
  command.add_option("--idle", options.idle, "end after so long without a request; 0: never")
      ->capture_default_str();
  command.add_flag("--stop", options.stop, "end the server of this home on this machine");
  command.add_option("--base-path", options.base_path, "behind a portal: what precedes each path");
  command.add_option("--host-name", options.host_names, "behind a portal: a name that clients use")
      ->one_each();
  command.add_option(
      "--frame-ancestors", options.frame_ancestors, "behind a portal: the page that may embed it");
  command.add_option("--web", options.web, "pages from this folder, for development")->group("");
}

}  // namespace sabath::cli
