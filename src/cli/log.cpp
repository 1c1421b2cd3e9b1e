#include "log.hpp"

#include <sabath/base/text/redact.hpp>
#include <sabath/base/write_access.hpp>

#include <fmt/format.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace sabath::cli {
namespace {

constexpr const char* logger_name = "sabath";
constexpr std::size_t file_bytes = 1U << 20U;
constexpr std::size_t kept_files = 3;

/// A user who can exchange files of the folder could choose which file the log is written to, or
/// put a pipe there. Such a home has no log.
bool is_own(const std::filesystem::path& folder) {
  if (base::can_others_exchange(folder) || base::can_others_exchange(folder.parent_path()))
    return false;
  std::error_code code;
  for (std::size_t i = 0; i <= kept_files; ++i) {
    const std::string name = i == 0 ? "sabath.log" : "sabath." + std::to_string(i) + ".log";
    const auto type = std::filesystem::symlink_status(folder / name, code).type();
    if (type != std::filesystem::file_type::regular &&
        type != std::filesystem::file_type::not_found)
      return false;
  }
  return true;
}

}  // namespace

void open_log(const std::filesystem::path& folder) {
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code) || !is_own(folder)) return;
  try {
    auto logger = spdlog::rotating_logger_mt(
        logger_name, (folder / "sabath.log").string(), file_bytes, kept_files);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %P %v", spdlog::pattern_time_type::utc);
    logger->flush_on(spdlog::level::info);
    logger->set_error_handler([log = logger.get()](const std::string& problem) {
      if (log->level() == spdlog::level::off) return;
      log->set_level(spdlog::level::off);  // once is enough
      fmt::print(stderr, "sabath: warning: the log is not written: {}\n", problem);
    });
  } catch (const spdlog::spdlog_ex&) {
    // A read-only home: the command itself will say so if it matters.
    spdlog::drop(logger_name);
  }
}

void log_event(std::string_view kind, std::string_view text) {
  if (const auto logger = spdlog::get(logger_name)) logger->info("{} {}", kind, base::redact(text));
}

}  // namespace sabath::cli
