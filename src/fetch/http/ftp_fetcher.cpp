#include "ftp_fetcher.hpp"

#include "attempt.hpp"
#include "exchange.hpp"
#include "progress_meter.hpp"

#include <fmt/format.h>

#include <variant>

namespace sabath::fetch {

Outcome FtpFetcher::fetch(const std::vector<std::string>& urls,
                          const Request& request,
                          base::StagedFile& to,
                          base::Observer& observer,
                          std::stop_token stop) {
  const std::string& url = urls.front();
  const auto parsed = parse_source_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) return failed_outcome(url, *failure);
  const auto& source = std::get<SourceUrl>(parsed);
  if (source.path.ends_with('/')) {
    return failed_outcome(url, {.problem = "is a folder, not a file"});
  }
  ProgressMeter meter(request.label.empty() ? source.displayed : request.label, observer, clock_);
  Exchange exchange(options_, clock_);
  return attempt(source, request, to, observer, [&](const Asked& asked, Intake& intake) {
    exchange.prepare(source, asked, intake);
    const auto code = loop_.run(exchange.handle(), stop, [&] {
      meter.tell(to.contiguous_bytes(), intake.size_bytes());
      return !exchange.is_stuck();
    });
    if (stop.stop_requested()) throw_stopped(source);
    exchange.rethrow();
    End end{};
    if (!code) {
      end = intake.break_off(exchange.stuck_failure());
    } else {
      const bool is_clean = exchange.finish(*code) == Exchange::Ending::clean;
      end = is_clean ? intake.finish() : intake.break_off(exchange.failure());
    }
    meter.tell_now(to.contiguous_bytes(), intake.size_bytes());
    return Turn{end, source.displayed};
  });
}

}  // namespace sabath::fetch
