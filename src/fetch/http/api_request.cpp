#include "api_request.hpp"

#include "answer.hpp"
#include "attempt.hpp"
#include "http_status.hpp"
#include "http_stream.hpp"

#include <sabath/base/error.hpp>

#include <random>

namespace sabath::fetch {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t longest_body = 256U << 20U;
constexpr int attempts = 4;

/// Keeps the answer, and the body where it is wanted.
class Document final : public Receiver {
 public:
  explicit Document(bool wants_body) : wants_body_(wants_body) {}
  void begin(const Answer& said) override { answer = said; }
  bool take(base::ByteView bytes) override {
    if (!wants_body_ || body.size() + bytes.size() > longest_body) return false;
    body += base::as_text(bytes);
    return true;
  }

  Answer answer{};
  std::string body{};

 private:
  bool wants_body_;
};

/// Returns the target of the link with rel="next" in a Link header; empty without one.
std::string next_link(std::string_view header) {
  while (!header.empty()) {
    const auto open = header.find('<');
    const auto close = header.find('>', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view target = header.substr(open + 1, close - open - 1);
    header.remove_prefix(close + 1);
    const std::string_view parameters = header.substr(0, header.find('<'));
    const bool is_next = parameters.find("rel=\"next\"") != std::string_view::npos ||
                         parameters.find("rel=next") != std::string_view::npos;
    if (is_next) return std::string(target);
  }
  return {};
}

struct Attempt {
  std::optional<ApiAnswer> answer{};
  Failure failure{};
};

/// Runs a request with its redirects.
HttpStream::Ending run(HttpStream& stream, const ApiClient& client, const std::stop_token& stop) {
  for (;;) {
    const auto is_alive = [&] { return !stream.is_stuck(); };
    const auto code = client.loop.run(stream.handle(), stop, is_alive);
    if (stop.stop_requested()) {
      throw Error(ErrorKind::interrupted, stream.place().displayed + ": stopped");
    }
    const auto ending = stream.finish(code.value_or(CURLE_OPERATION_TIMEDOUT));
    if (ending != HttpStream::Ending::elsewhere) return ending;
  }
}

Attempt attempt(const ApiClient& client, const SourceUrl& source, const std::stop_token& stop) {
  HttpStream stream(client.options, client.clock);
  Document document(true);
  stream.prepare(source, {}, document, Sharing::shared_connection);
  if (run(stream, client, stop) == HttpStream::Ending::broken) return {{}, stream.failure()};
  if (document.answer.status != 200) {
    return {{}, status_failure(document.answer, document.body)};
  }
  ApiAnswer answer{200, std::move(document.body), {}, stream.place().plain};
  const std::string next = next_link(header_of(stream.handle(), "Link"));
  if (!next.empty()) {
    const auto place = redirected(stream.place(), next);
    if (const auto* url = std::get_if<SourceUrl>(&place)) answer.next = url->plain;
  }
  return {std::move(answer), {}};
}

}  // namespace

ApiAnswer ask_api(const ApiClient& client, const std::string& url, std::stop_token stop) {
  const auto source = parse_source_url(url);
  if (const auto* failure = std::get_if<Failure>(&source))
    throw_failure(displayed_url(url), *failure);
  const RetryPolicy policy;
  std::minstd_rand random(std::random_device{}());
  for (int tried = 1;; ++tried) {
    Attempt result = attempt(client, std::get<SourceUrl>(source), stop);
    if (result.answer) return *std::move(result.answer);
    const bool hopeless = !result.failure.retryable || tried == attempts ||
                          result.failure.retry_after > policy.longest_wait;
    if (hopeless) throw_failure(displayed_url(url), result.failure);
    const auto end =
        client.clock.steady() + backoff(policy, tried, result.failure.retry_after, random);
    while (client.clock.steady() < end && !stop.stop_requested())
      client.clock.sleep_for(std::chrono::milliseconds(50));
  }
}

std::optional<bool> ask_version(const ApiClient& client,
                                const std::string& url,
                                const Validators& version,
                                std::stop_token stop) {
  const auto source = parse_source_url(url);
  if (std::holds_alternative<Failure>(source)) return std::nullopt;
  if (version.unless_line().empty()) return std::nullopt;
  HttpStream stream(client.options, client.clock);
  Document document(false);
  Asked asked;
  asked.unless_it_is = version;
  stream.prepare(std::get<SourceUrl>(source), asked, document);
  try {
    run(stream, client, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return std::nullopt;
  }
  const Answer& answer = document.answer;
  if (answer.status == 304) return true;
  if (answer.status != 200) return std::nullopt;
  // Some servers ignore conditions but send the version.
  return version.proved_by(answer.validators);
}

}  // namespace sabath::fetch
