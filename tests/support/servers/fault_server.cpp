#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <thread>

namespace sabath::test {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

struct AskedRange {
  std::size_t begin = 0;
  std::size_t end = std::string::npos;
};

/// Of "bytes=N-" or "bytes=N-M".
std::optional<AskedRange> asked_range(const SeenRequest& request) {
  const std::string range = request.header("range");
  if (!range.starts_with("bytes=")) return {};
  AskedRange asked{.begin = std::stoull(range.substr(6))};
  const std::string last = range.substr(range.find('-') + 1);
  if (!last.empty()) asked.end = std::stoull(last) + 1;
  return asked;
}

Reply part_of(const std::string& content, std::size_t begin, std::size_t end) {
  Reply reply;
  reply.status = 206;
  reply.body = content.substr(begin, end - begin);
  reply.headers.emplace_back("Content-Range",
                             fmt::format("bytes {}-{}/{}", begin, end - 1, content.size()));
  return reply;
}

std::string chunks(std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const std::string_view chunk = body.substr(0, 1000);
    text += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
    body.remove_prefix(chunk.size());
  }
  return text + "0\r\n\r\n";
}

bool write_slowly(Connection& connection,
                  std::string_view text,
                  std::chrono::nanoseconds each_mebibyte) {
  constexpr std::size_t block_bytes = 1U << 18U;
  bool sent = true;
  while (sent && each_mebibyte.count() > 0 && text.size() > block_bytes) {
    sent = connection.write(text.substr(0, block_bytes));
    text.remove_prefix(block_bytes);
    std::this_thread::sleep_for(each_mebibyte / 4);
  }
  return sent && connection.write(text);
}

bool read_request(Connection& connection, SeenRequest& request) {
  std::string line;
  if (!connection.read_line(line)) return false;
  const auto blank = line.find(' ');
  request.method = line.substr(0, blank);
  request.target = line.substr(blank + 1, line.rfind(' ') - blank - 1);
  while (connection.read_line(line)) {
    if (line.empty()) {
      const std::string length = request.header("content-length");
      return length.empty() || connection.read_bytes(std::stoul(length), request.body);
    }
    const auto colon = line.find(':');
    request.headers[lower(line.substr(0, colon))] =
        line.substr(line.find_first_not_of(' ', colon + 1));
  }
  return false;
}

}  // namespace

FaultServer::FaultServer() : loopback_([this](Connection& connection) { serve(connection); }) {}

std::string FaultServer::url(const std::string& target) const {
  return fmt::format("http://127.0.0.1:{}{}", loopback_.port(), target);
}

void FaultServer::put(const std::string& target, const std::string& content) {
  const std::lock_guard lock(mutex_);
  const int second = versions_++ % 60;
  files_[target] = {content,
                    '"' + base::sha256_of(content).hex.substr(0, 16) + '"',
                    fmt::format("Fri, 20 Nov 2026 10:00:{:02} GMT", second)};
}

void FaultServer::once(const std::string& target, const Reply& reply) {
  const std::lock_guard lock(mutex_);
  once_[target].push_back(reply);
}

void FaultServer::always(const std::string& target, const Reply& reply) {
  const std::lock_guard lock(mutex_);
  always_[target] = reply;
}

Reply FaultServer::whole(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  return serve_file(files_.at(target), {});
}

Reply FaultServer::part(const std::string& target, std::size_t begin, std::size_t end) const {
  const std::lock_guard lock(mutex_);
  const File& file = files_.at(target);
  Reply reply = part_of(file.content, begin, end);
  reply.headers.emplace_back("ETag", file.etag);
  return reply;
}

std::vector<SeenRequest> FaultServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

Reply FaultServer::answer(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  auto& queue = once_[request.target];
  if (!queue.empty()) {
    Reply reply = std::move(queue.front());
    queue.pop_front();
    return reply;
  }
  if (const auto found = always_.find(request.target); found != always_.end()) return found->second;
  const auto file = files_.find(request.target);
  if (file == files_.end()) return {.status = 404, .body = "nothing here"};
  return serve_file(file->second, request);
}

Reply FaultServer::serve_file(const File& file, const SeenRequest& request) {
  if (!file.etag.empty() && request.header("if-none-match") == file.etag) return {304, {}, {}};
  const std::string condition = request.header("if-range");
  const bool same = condition.empty() || condition == file.etag || condition == file.last_modified;
  const auto range = asked_range(request);
  Reply reply;
  if (!range || !same) {
    reply.body = file.content;
  } else if (range->begin < file.content.size()) {
    reply = part_of(file.content, range->begin, std::min(range->end, file.content.size()));
  } else {
    reply.status = 416;
    reply.headers.emplace_back("Content-Range", fmt::format("bytes */{}", file.content.size()));
    return reply;
  }
  reply.headers.emplace_back("ETag", file.etag);
  reply.headers.emplace_back("Last-Modified", file.last_modified);
  return reply;
}

bool FaultServer::send(Connection& connection, const Reply& reply) {
  if (reply.status == 0) return false;
  if (!reply.instead.empty()) {
    connection.write(reply.instead);
    return false;
  }
  std::string head = fmt::format("HTTP/1.1 {} As Scripted\r\n", reply.status);
  for (const auto& [name, value] : reply.headers)
    head += fmt::format("{}: {}\r\n", name, value);
  if (reply.chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (reply.announce_length) {
    head += fmt::format("Content-Length: {}\r\n", reply.body.size());
  }
  const std::string body = reply.chunked ? chunks(reply.body) : reply.body;
  const auto limit = reply.cut_after_bytes ? reply.cut_after_bytes : reply.stall_after_bytes;
  const std::string text = head + "\r\n" + body.substr(0, limit.value_or(body.size()));
  const bool sent = write_slowly(connection, text, each_mebibyte_.load());
  if (sent && reply.stall_after_bytes) connection.wait_for_end();
  return sent && !limit && (reply.chunked || reply.announce_length);
}

void FaultServer::serve(Connection& connection) {
  while (true) {
    SeenRequest request;
    if (!read_request(connection, request) || !send(connection, answer(request))) return;
  }
}

}  // namespace sabath::test
