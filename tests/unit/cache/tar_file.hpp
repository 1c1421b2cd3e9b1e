#pragma once

#include <sabath/base/file.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::test {

struct TarEntry {
  std::string name{};
  std::string content{};
  unsigned mode = 0644;
  std::string link_target{};
};

/// A plain ustar archive, by hand: a test needs no more than names, modes, contents and links.
inline std::string tar_of(const std::vector<TarEntry>& entries) {
  std::string archive;
  for (const TarEntry& entry : entries) {
    std::string header(512, '\0');
    const auto put = [&header](std::size_t at, const std::string& text) {
      header.replace(at, text.size(), text);
    };
    const auto octal = [](unsigned long value, int digits) {
      char text[16];
      std::snprintf(text, sizeof text, "%0*lo", digits, value);
      return std::string(text);
    };
    put(0, entry.name);
    put(100, octal(entry.mode, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    put(124, octal(entry.content.size(), 11));
    put(136, octal(0, 11));
    put(148, "        ");
    put(156, entry.link_target.empty() ? "0" : "2");
    put(157, entry.link_target);
    put(257, std::string("ustar\0", 6) + "00");
    unsigned long sum = 0;
    for (const char c : header)
      sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    archive += header + entry.content;
    archive.resize((archive.size() + 511) / 512 * 512, '\0');
  }
  archive.resize(archive.size() + 1024, '\0');
  return archive;
}

}  // namespace sabath::test
