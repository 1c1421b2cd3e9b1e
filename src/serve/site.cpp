#include "site.hpp"

#include "error_json.hpp"
#include "web_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sabath::serve {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::chrono::seconds ticket_life(60);
constexpr std::size_t most_tickets = 64;
constexpr std::size_t most_query_characters = 4096;
constexpr std::uint64_t most_web_bytes = 4U << 20U;

int status_of(ErrorKind kind) {
  if (kind == ErrorKind::not_found) return 404;
  return kind == ErrorKind::usage ? 400 : 500;
}

std::optional<char> byte_of(std::string_view two) {
  unsigned value = 0;
  const auto end = std::from_chars(two.data(), two.data() + two.size(), value, 16);
  if (two.size() != 2 || end.ec != std::errc() || end.ptr != two.data() + 2) return std::nullopt;
  return static_cast<char>(value);
}

std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto byte = byte_of(text.substr(i + 1, 2));
    if (!byte || *byte == '\0') return std::nullopt;
    result += *byte;
    i += 2;
  }
  return result;
}

Response not_found(std::string_view what) {
  return Site::refusal({404, fmt::format("there is nothing at {}", base::printable(what)), ""});
}

/// The key of an answer: everything that it depends on.
std::string key_of(const Query& query) {
  std::string key;
  for (const std::string& word : query.words)
    key += word + "/";
  for (const auto& [name, value] : query.parameters)
    key += "?" + std::to_string(value.size()) + name + "=" + value;
  return key;
}

/// A name for a downloaded file that no client misunderstands.
std::string disposition_of(const std::string& name) {
  std::string plain;
  std::string encoded;
  for (const char c : name) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
    plain += is_plain ? c : '_';
    encoded += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, encoded);
}

std::string digest_of_web(std::string_view style) {
  base::Hasher hasher;
  for (const WebFile& file : web_files()) {
    hasher.update(std::string(file.name) + "\n");
    hasher.update(file.bytes);
  }
  hasher.update(style);
  return hasher.finish().hex.substr(0, 16);
}

}  // namespace

std::string_view media_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

std::optional<Query> parse_query(std::string_view text) {
  if (text.size() > most_query_characters) return std::nullopt;
  const std::size_t mark = std::min(text.find('?'), text.size());
  Query query;
  for (std::string_view rest = text.substr(0, mark); !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (slash == 0 || slash + 1 == rest.size()) return std::nullopt;
    query.words.emplace_back(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  if (query.words.empty()) return std::nullopt;
  for (const std::string& pair : base::split(text.substr(std::min(mark + 1, text.size())), '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(std::string_view(pair).substr(0, equals));
    const auto value = decoded(std::string_view(pair).substr(std::min(equals + 1, pair.size())));
    if (!name || !value || !query.parameters.emplace(*name, *value).second) return std::nullopt;
  }
  return query;
}

Site::Site(const ServerOptions& options, std::string token, LiveSource& source, base::Clock& clock)
    : rules_{std::move(token), {"127.0.0.1", "localhost", "[::1]"}, options.base_path},
      frame_ancestors_(options.frame_ancestors),
      web_(options.web),
      style_(options.style),
      web_digest_(digest_of_web(options.style)),
      source_(source),
      clock_(clock),
      answers_(clock) {
  rules_.hosts.insert(rules_.hosts.end(), options.host_names.begin(), options.host_names.end());
}

bool Site::is_heavy(const RequestHead& head) const {
  const std::string_view path = without_base(head.target);
  if (!path.starts_with("/api/")) return false;
  const auto query = parse_query(path.substr(5));
  return query && source_.kind_of(*query) == LiveSource::Kind::heavy;
}

Response Site::handle(const RequestHead& head) {
  Response response;
  try {
    const auto refused = refuse(head, rules_);
    response = refused ? refusal(*refused) : route(head);
  } catch (const Error& error) {
    response = {status_of(error.kind()), "application/json", error_json(error), {}, {}};
  } catch (const std::exception& error) {
    const Error internal(ErrorKind::internal, error.what());
    response = {500, "application/json", error_json(internal), {}, {}};
  }
  set_policy(response, response.file.has_value());
  return response;
}

Response Site::refusal(const Refusal& refusal) {
  const Error error(ErrorKind::access, refusal.problem, refusal.hint);
  Response response{refusal.status, "application/json", error_json(error), {}, {}};
  if (refusal.status == 401) response.fields.emplace_back("WWW-Authenticate", "Bearer");
  if (refusal.status == 405) response.fields.emplace_back("Allow", "GET, HEAD");
  return response;
}

std::string_view Site::without_base(std::string_view path) const {
  const std::string& base = rules_.base_path;
  // A portal may or may not leave the prefix away.
  if (!base.empty() && path.starts_with(base) &&
      (path.size() == base.size() || path[base.size()] == '/'))
    path.remove_prefix(base.size());
  return path;
}

Response Site::route(const RequestHead& head) {
  const std::string_view target = without_base(head.target);
  const std::string_view path = target.substr(0, target.find('?'));
  if (path.empty()) {
    return {308, "text/plain", "", {{"Location", rules_.base_path + "/"}}, {}};
  }
  if (path == "/") return shell();
  constexpr std::string_view web = "/web/";
  constexpr std::string_view api = "/api/";
  constexpr std::string_view files = "/d/";
  if (path.starts_with(web)) return web_file(path.substr(web.size()), head);
  if (path.starts_with(files)) return download(path.substr(files.size()));
  if (!path.starts_with(api)) return not_found(path);
  if (path == "/api/session") return begin_session(head);
  if (const auto refused = refuse_without_token(head, rules_)) return refusal(*refused);
  return answer(head, target.substr(api.size()));
}

Response Site::answer(const RequestHead& head, std::string_view path) {
  auto query = parse_query(path);
  if (!query)
    return refusal({400, "the query cannot be read: " + base::printable(head.target), ""});
  if (query->words.front() == "ticket") return make_ticket(*query);
  if (source_.kind_of(*query) == LiveSource::Kind::stretches)
    return {200, "application/json", source_.answer(*query), {}, {}};
  const auto since = query->parameters.extract("since");
  const KeptAnswer kept = answers_.get(key_of(*query), [&] { return source_.answer(*query); });
  if (since.empty()) return {200, "application/json", *kept.text, {}, {}};
  const bool is_same = since.mapped() == std::to_string(kept.version);
  return {200,
          "application/json",
          fmt::format("{{\"version\": {}, \"next_ms\": {}{}{}}}",
                      kept.version,
                      kept.pause.count(),
                      is_same ? "" : ", \"data\": ",
                      is_same ? "" : std::string_view(*kept.text)),
          {},
          {}};
}

Response Site::shell() const {
  std::string text = read_web_file("index.html").value_or("");
  const std::string mark = "{web}";
  const std::string place = web_.empty() ? "web/" + web_digest_ : "web/now";
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += place.size())
    text.replace(at, mark.size(), place);
  return {200, "text/html; charset=utf-8", std::move(text), {}, {}};
}

std::optional<std::string> Site::read_web_file(std::string_view name) const {
  if (name == "report.css") return std::string(style_);
  if (name == "styles.css") {
    // One answer: a page is drawn once it has all its styles.
    std::string all;
    for (const char* const part : {"report.css", "vendor/uplot-1.6.32/uPlot.min.css", "view.css"})
      all += read_web_file(part).value_or("") + "\n";
    return all;
  }
  const auto found = std::ranges::find(web_files(), name, &WebFile::name);
  if (found == web_files().end()) return std::nullopt;
  if (!web_.empty()) return base::read_file(web_ / name, most_web_bytes);
  return std::string(found->bytes);
}

/// Names have the digest of all files, so that a browser keeps each version apart.
Response Site::web_file(std::string_view path, const RequestHead& head) {
  const std::size_t slash = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(std::min(slash + 1, path.size()));
  const bool is_known = web_.empty() ? path.substr(0, slash) == web_digest_ : slash > 0;
  auto text = is_known ? read_web_file(name) : std::nullopt;
  if (!text) return not_found(head.target);
  Response response{200, std::string(media_type(name)), std::move(*text), {}, {}};
  if (web_.empty())
    response.fields.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

std::string Site::make_code() {
  const std::lock_guard lock(tickets_mutex_);
  std::string code = serve::make_ticket();
  codes_[code] = clock_.steady() + ticket_life;
  return code;
}

Response Site::begin_session(const RequestHead& head) {
  constexpr std::string_view scheme = "Code ";
  const std::string given = head.field("authorization");
  const std::lock_guard lock(tickets_mutex_);
  const auto found =
      given.starts_with(scheme) ? codes_.find(given.substr(scheme.size())) : codes_.end();
  const bool is_valid = found != codes_.end() && clock_.steady() <= found->second;
  if (found != codes_.end()) codes_.erase(found);
  if (is_valid) return {200, "application/json", token_json(rules_.token), {}, {}};
  return refusal({401, "this code is used up", "open the address that 'sabath serve' printed"});
}

Response Site::make_ticket(const Query& query) {
  const Download file = source_.open(query);
  const std::string ticket = serve::make_ticket();
  const base::SteadyTime now = clock_.steady();
  {
    const std::lock_guard lock(tickets_mutex_);
    std::erase_if(tickets_, [&](const auto& one) { return one.second.until < now; });
    if (tickets_.size() >= most_tickets)
      return refusal({503, "too many downloads wait to begin", "ask again in a minute"});
    tickets_[ticket] = {query, now + ticket_life};
  }
  return {200, "application/json", ticket_json("d/" + ticket, file), {}, {}};
}

Response Site::download(std::string_view ticket) {
  Query query;
  {
    const std::lock_guard lock(tickets_mutex_);
    const auto found = tickets_.find(std::string(ticket));
    if (found == tickets_.end() || found->second.until < clock_.steady())
      return refusal({404, "this download is over", "click the file on its page again"});
    query = std::move(found->second.query);
    tickets_.erase(found);
  }
  Response response{200, "application/octet-stream", "", {}, source_.open(query)};
  response.fields.emplace_back("Content-Disposition", disposition_of(response.file->name));
  return response;
}

void Site::set_policy(Response& response, bool is_download) const {
  const std::string ancestors = frame_ancestors_.empty() ? "'none'" : frame_ancestors_;
  const auto add = [&](const char* name, std::string value) {
    response.fields.emplace_back(name, std::move(value));
  };
  add("Content-Security-Policy",
      is_download ? "sandbox; default-src 'none'"
                  : "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                    "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                    "frame-ancestors " +
                        ancestors + "; require-trusted-types-for 'script'; trusted-types 'none'");
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("Cross-Origin-Resource-Policy", "same-origin");
  const bool has_cache_rule = std::ranges::any_of(
      response.fields, [](const auto& field) { return field.first == "Cache-Control"; });
  if (!has_cache_rule) add("Cache-Control", "no-store");
}

}  // namespace sabath::serve
