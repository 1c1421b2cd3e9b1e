#pragma once

#include "answer_cache.hpp"
#include "gate.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/serve/live_source.hpp>
#include <sabath/serve/server_options.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::serve {

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> fields{};
  std::optional<Download> file{};  ///< instead of the body
};

/// Answers requests, whatever transport they come by: checks them, finds what they ask for, and
/// sets the policy of each answer. Thread safety: all members.
class Site {
 public:
  Site(const ServerOptions& options, std::string token, LiveSource& source, base::Clock& clock);

  const std::string& token() const { return rules_.token; }
  /// A code that is exchanged for the token once, within a minute. A browser is started with it:
  /// what starts it stands in the list of processes.
  std::string make_code();
  /// Whether the answer may take seconds.
  bool is_heavy(const RequestHead& head) const;
  Response handle(const RequestHead& head);
  /// Sets the policy of an answer that did not come from `handle`.
  void set_policy_of_refusal(Response& response) const { set_policy(response, false); }
  /// Answer to a request that could not be read, or not be taken.
  static Response refusal(const Refusal& refusal);

 private:
  struct Ticket {
    Query query{};
    base::SteadyTime until{};
  };

  Response route(const RequestHead& head);
  Response answer(const RequestHead& head, std::string_view path);
  Response shell() const;
  Response web_file(std::string_view path, const RequestHead& head);
  Response begin_session(const RequestHead& head);
  Response make_ticket(const Query& query);
  Response download(std::string_view ticket);
  std::optional<std::string> read_web_file(std::string_view name) const;
  std::string_view without_base(std::string_view path) const;
  void set_policy(Response& response, bool is_download) const;

  GateRules rules_;
  std::string frame_ancestors_;
  std::filesystem::path web_;
  std::string_view style_;
  std::string web_digest_;
  LiveSource& source_;
  base::Clock& clock_;
  AnswerCache answers_;
  std::mutex tickets_mutex_{};
  std::map<std::string, Ticket> tickets_{};
  std::map<std::string, base::SteadyTime> codes_{};
};

/// The words and the parameters of what follows "api/". Returns nothing where the text is not a
/// query: a wrong escape, an empty word, a name that comes twice.
std::optional<Query> parse_query(std::string_view text);

}  // namespace sabath::serve
