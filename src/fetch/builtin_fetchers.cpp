#include "attempt.hpp"
#include "http/answer.hpp"
#include "http/http_fetcher.hpp"
#include "http/http_stream.hpp"
#include "progress_meter.hpp"
#include "source_url.hpp"
#include "transfer/response_writer.hpp"
#include "transfer/transfer_loop.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <functional>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

constexpr std::size_t block_bytes = 1U << 20U;

struct OpenFile {
  base::UniqueFd fd{};
  std::uint64_t size_bytes = 0;
  Validators validators{};
};

/// The version of a file: inode, size and times, as servers make their ETag.
Validators validators_of(const struct stat& status) {
  return {.etag = fmt::format("\"{}-{}-{}-{}.{:09}-{}.{:09}\"",
                              status.st_dev,
                              status.st_ino,
                              status.st_size,
                              status.st_mtim.tv_sec,
                              status.st_mtim.tv_nsec,
                              status.st_ctim.tv_sec,
                              status.st_ctim.tv_nsec)};
}

Failure open_failure(int code) {
  Failure failure;
  failure.problem = "cannot be read: " + base::errno_text(code);
  failure.not_found = code == ENOENT || code == ENOTDIR;
  if (failure.not_found) failure.hint = "check the document's sources: the file may have moved";
  return failure;
}

std::variant<OpenFile, Failure> open_file(const std::string& path) {
  OpenFile file;
  // O_NONBLOCK: a pipe without a writer is refused below instead of waited for.
  file.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.fd || ::fstat(file.fd.get(), &status) != 0) return open_failure(errno);
  if (S_ISDIR(status.st_mode)) return Failure{.problem = "is a folder, not a file"};
  if (!S_ISREG(status.st_mode)) return Failure{.problem = "is not a regular file"};
  file.size_bytes = static_cast<std::uint64_t>(status.st_size);
  file.validators = validators_of(status);
  return file;
}

/// Returns the answer that a server would give, so that `judge` decides.
Answer answer_of(const OpenFile& file, std::uint64_t offset_bytes) {
  Answer answer;
  answer.status = offset_bytes > 0 ? 206 : 200;
  answer.validators = file.validators;
  answer.end_is_marked = true;
  answer.content_length = file.size_bytes;
  if (offset_bytes == 0) return answer;
  answer.content_length.reset();
  if (offset_bytes <= file.size_bytes) {
    answer.range =
        ContentRange{.begin = offset_bytes, .end = file.size_bytes, .total = file.size_bytes};
  }
  return answer;
}

bool is_unchanged(const OpenFile& file) {
  struct stat status {};
  return ::fstat(file.fd.get(), &status) == 0 && validators_of(status) == file.validators;
}

/// Copies to the writer. `each_block` is called between blocks and may throw.
End copy(const OpenFile& file,
         std::uint64_t offset_bytes,
         ResponseWriter& writer,
         const std::function<void()>& each_block) {
  std::vector<std::byte> block(block_bytes);
  while (true) {
    each_block();
    const auto at = static_cast<off_t>(offset_bytes);
    const ssize_t count = ::pread(file.fd.get(), block.data(), block.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return writer.break_off(open_failure(errno));
    if (count == 0 && is_unchanged(file)) return writer.finish();
    if (count == 0) return writer.drop("has changed while it was read");
    offset_bytes += static_cast<std::uint64_t>(count);
    const auto bytes = base::ByteView(block).first(static_cast<std::size_t>(count));
    if (!writer.take(bytes)) return writer.break_off({});
  }
}

/// Files of this machine. libcurl is not used: its file: gives an empty file for a folder, and
/// reads devices and pipes.
class FileFetcher final : public Fetcher {
 public:
  FileFetcher(bool allowed, base::Clock& clock) : allowed_(allowed), clock_(clock) {}

  std::vector<std::string_view> schemes() const override { return {"file"}; }
  std::string_view name() const override { return "file"; }
  std::string_view description() const override { return "files of this machine"; }

  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override {
    const std::string& url = urls.front();
    const auto parsed = parse_source_url(url);
    if (const auto* failure = std::get_if<Failure>(&parsed)) return failed_outcome(url, *failure);
    const auto& source = std::get<SourceUrl>(parsed);
    if (!allowed_) return failed_outcome(url, {.problem = "file: sources are not allowed here"});
    const auto opened = open_file(source.path);
    if (const auto* failure = std::get_if<Failure>(&opened)) return failed_outcome(url, *failure);
    const auto& file = std::get<OpenFile>(opened);

    ProgressMeter meter(request.label.empty() ? source.displayed : request.label, observer, clock_);
    return attempt(source, request, to, observer, [&](const Asked& asked, ResponseWriter& writer) {
      writer.begin(answer_of(file, asked.offset_bytes));
      const End end = copy(file, asked.offset_bytes, writer, [&] {
        if (stop.stop_requested()) throw_stopped(source);
        meter.report(to.contiguous_bytes(), writer.size_bytes());
      });
      meter.report_now(to.contiguous_bytes(), writer.size_bytes());
      return Turn{end, source.displayed};
    });
  }

  std::optional<bool> still_has(const std::string& url,
                                const base::ByteSource& version,
                                std::stop_token /*stop*/) override {
    if (scheme_of(url) != "file" || !allowed_) return std::nullopt;
    const auto parsed = parse_source_url(url);
    if (std::holds_alternative<Failure>(parsed)) return std::nullopt;
    const auto opened = open_file(std::get<SourceUrl>(parsed).path);
    if (std::holds_alternative<Failure>(opened)) return std::nullopt;
    return std::get<OpenFile>(opened).validators.etag == version.etag;
  }

 private:
  bool allowed_;
  base::Clock& clock_;
};

}  // namespace

std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock) {
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  fetchers.push_back(std::make_unique<HttpFetcher>(options, clock));
  fetchers.push_back(std::make_unique<FtpFetcher>(options, clock));
  fetchers.push_back(std::make_unique<FileFetcher>(options.allow_file, clock));
  return fetchers;
}

}  // namespace sabath::fetch
