#include "attempt.hpp"
#include "file_fetcher.hpp"
#include "http/http_fetcher.hpp"
#include "http/http_stream.hpp"
#include "progress_meter.hpp"
#include "transfer/transfer_loop.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <variant>

namespace sabath::fetch {

namespace {

/// FTP through libcurl: one stream, resumable.
class FtpFetcher final : public Fetcher {
 public:
  FtpFetcher(EngineOptions options, base::Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  std::vector<std::string_view> schemes() const override { return {"ftp"}; }
  std::string_view name() const override { return "ftp"; }
  std::string_view description() const override { return "ftp through libcurl, resumable"; }

  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override {
    const std::string& url = urls.front();
    const auto parsed = parse_source_url(url);
    if (const auto* failure = std::get_if<Failure>(&parsed)) return failed_outcome(url, *failure);
    const auto& source = std::get<SourceUrl>(parsed);
    if (source.path.ends_with('/')) {
      return failed_outcome(url, {.problem = "is a folder, not a file"});
    }
    ProgressMeter meter(request.label.empty() ? source.displayed : request.label, observer, clock_);
    HttpStream stream(options_, clock_);
    return attempt(source, request, to, observer, [&](const Asked& asked, ResponseWriter& writer) {
      stream.prepare(source, asked, writer);
      const auto code = loop_.run(stream.handle(), stop, [&] {
        meter.report(to.contiguous_bytes(), writer.size_bytes());
        return !stream.is_stuck();
      });
      if (stop.stop_requested()) throw_stopped(source);
      stream.rethrow();
      End end{};
      if (!code) {
        end = writer.break_off(stream.stuck_failure());
      } else {
        const bool is_clean = stream.finish(*code) == HttpStream::Ending::clean;
        end = is_clean ? writer.finish() : writer.break_off(stream.failure());
      }
      meter.report_now(to.contiguous_bytes(), writer.size_bytes());
      return Turn{end, source.displayed};
    });
  }

 private:
  EngineOptions options_;
  base::Clock& clock_;
  TransferLoop loop_{1};
};

}  // namespace

std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock) {
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  fetchers.push_back(std::make_unique<HttpFetcher>(options, clock));
  fetchers.push_back(std::make_unique<FtpFetcher>(options, clock));
  fetchers.push_back(make_file_fetcher(options.allow_file, clock));
  return fetchers;
}

}  // namespace sabath::fetch
