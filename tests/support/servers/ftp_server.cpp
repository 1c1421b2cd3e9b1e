#include "support/servers/ftp_server.hpp"

#include <fmt/format.h>

#include <future>
#include <memory>

namespace sabath::test {

/// One control connection and the data connection that it has opened.
struct FtpServer::Session {
  Connection& control;
  std::string folder = "/";
  std::size_t offset = 0;
  std::optional<std::promise<std::string>> data{};  ///< what the data connection will send
  std::unique_ptr<Loopback> passive{};

  explicit Session(Connection& connection) : control(connection) {}
  ~Session() { send_data({}); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool say(const std::string& line) const { return control.write(line + "\r\n"); }
  std::string absolute(const std::string& name) const {
    return name.starts_with('/') ? name : folder + name;
  }
  void send_data(const std::string& content) {
    if (data) data->set_value(content);
    data.reset();
  }
  bool open_data() {
    send_data({});
    data.emplace();
    auto content = std::make_shared<std::future<std::string>>(data->get_future());
    passive = std::make_unique<Loopback>(
        [content](Connection& connection) { connection.write(content->get()); });
    return say(fmt::format("229 Entering Extended Passive Mode (|||{}|)", passive->port()));
  }
};

FtpServer::FtpServer() : loopback_([this](Connection& connection) { serve(connection); }) {}

std::string FtpServer::url(const std::string& path) const {
  return fmt::format("ftp://127.0.0.1:{}{}", loopback_.port(), path);
}

void FtpServer::put(const std::string& path, const std::string& content) {
  const std::lock_guard lock(mutex_);
  files_[path] = {content, fmt::format("202611201000{:02}", versions_++ % 60)};
}

void FtpServer::cut_once(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  cut_ = bytes;
}

void FtpServer::refuse_once(const std::string& line) {
  const std::lock_guard lock(mutex_);
  refusal_ = line;
}

std::vector<std::string> FtpServer::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

std::optional<FtpServer::File> FtpServer::find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

bool FtpServer::send_file(Session& session, const std::string& name) {
  const auto file = find(session.absolute(name));
  if (!file || !session.data) return session.say("550 No such file");
  std::string content = file->content.substr(std::min(session.offset, file->content.size()));
  session.offset = 0;
  std::string ending = "226 Transfer complete";
  {
    const std::lock_guard lock(mutex_);
    if (!refusal_.empty()) return session.say(std::exchange(refusal_, {}));
    if (cut_) {
      content.resize(std::min(*cut_, content.size()));
      ending = "426 Connection closed; transfer aborted";
    }
    cut_.reset();
  }
  session.say("150 Opening BINARY mode data connection");
  session.send_data(content);
  return session.say(ending);
}

bool FtpServer::obey(Session& session, const std::string& verb, const std::string& argument) {
  if (verb == "USER") return session.say("331 Any password will do");
  if (verb == "PASS") return session.say("230 Welcome");
  if (verb == "PWD") return session.say("257 \"/\" is the current folder");
  if (verb == "TYPE") return session.say("200 Binary it is");
  if (verb == "EPSV") return session.open_data();
  if (verb == "CWD") {
    session.folder = session.absolute(argument) + (argument.ends_with('/') ? "" : "/");
    return session.say("250 Done");
  }
  if (verb == "REST") {
    session.offset = std::stoull(argument);
    return session.say("350 Restarting there");
  }
  if (verb == "RETR") return send_file(session, argument);
  if (verb == "SIZE" || verb == "MDTM") {
    const auto file = find(session.absolute(argument));
    if (!file) return session.say("550 No such file");
    return session.say("213 " +
                       (verb == "SIZE" ? std::to_string(file->content.size()) : file->modified));
  }
  if (verb == "QUIT") {
    session.say("221 Goodbye");
    return false;
  }
  return session.say("502 Not implemented");
}

void FtpServer::serve(Connection& connection) {
  Session session(connection);
  session.say("220 A small FTP server");
  std::string line;
  while (connection.read_line(line)) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(line);
    }
    const auto blank = std::min(line.find(' '), line.size());
    if (!obey(session, line.substr(0, blank), line.substr(std::min(blank + 1, line.size())))) break;
  }
}

}  // namespace sabath::test
