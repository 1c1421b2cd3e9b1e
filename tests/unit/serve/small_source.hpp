#pragma once

#include <sabath/base/error.hpp>
#include <sabath/serve/live_source.hpp>

#include <atomic>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

namespace sabath::test {

/// A source with a few answers: "value", "wrong", "missing", "broken", "big", "heavy" and "part".
class SmallSource final : public serve::LiveSource {
 public:
  std::string value = "1";
  std::filesystem::path file{};
  std::atomic<int> asked{0};

  Kind kind_of(const serve::Query& query) const override {
    if (query.words.front() == "part") return Kind::stretches;
    return query.words.front() == "heavy" ? Kind::heavy : Kind::light;
  }
  std::string answer(const serve::Query& query) override {
    ++asked;
    const std::string& word = query.words.front();
    if (word == "wrong") throw base::Error(base::ErrorKind::usage, "wrong", "say it right");
    if (word == "missing") throw base::Error(base::ErrorKind::not_found, "missing");
    if (word == "broken") throw std::runtime_error("broken");
    if (word == "big") return "\"" + std::string(4U << 20U, 'x') + "\"";
    if (word == "part") return "\"" + query.parameter("from") + "\"";
    return value;
  }
  serve::Download open(const serve::Query& query) override {
    if (query.parameter("path") != "out.html")
      throw base::Error(base::ErrorKind::not_found, "no such output");
    serve::Download download;
    download.file.reset(::open(file.c_str(), O_RDONLY));
    struct stat status {};
    ::fstat(download.file.get(), &status);
    download.size_bytes = static_cast<std::uint64_t>(status.st_size);
    download.name = "a \"b\"\n.html";
    return download;
  }
};

}  // namespace sabath::test
