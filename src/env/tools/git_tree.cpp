#include "git_tree.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <fstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t block_bytes = 512;
constexpr int deepest = 16;

/// Appends the entries of `part` to those of `whole`.
void append_tar(const fs::path& whole, const fs::path& part) {
  std::error_code code;
  fs::resize_file(whole, end_of_tar(whole), code);
  if (code) base::throw_errno(whole.string(), "cannot write", code.value());
  std::ofstream out(whole, std::ios::binary | std::ios::app);
  std::ifstream in(part, std::ios::binary);
  out << in.rdbuf();
  out.close();
  if (!out || !in) base::throw_errno(whole.string(), "cannot write", EIO);
}

void add_submodules(Git& git,
                    const fs::path& repository,
                    const std::string& url,
                    const std::string& commit,
                    const std::string& folder,
                    const fs::path& file,
                    int depth) {
  for (const Submodule& module : git.submodules(repository, url, commit)) {
    if (depth == deepest) {
      throw base::Error(base::ErrorKind::transfer,
                        module.url + ": submodules within submodules without end");
    }
    const fs::path inner = git.fetch(module.url, module.commit);
    const std::string path = folder + module.path + "/";
    const fs::path part = file.string() + ".part";
    git.archive(inner, module.commit, part, path);
    append_tar(file, part);
    fs::remove(part);
    add_submodules(git, inner, module.url, module.commit, path, file, depth + 1);
  }
}

}  // namespace

std::uint64_t end_of_tar(const fs::path& file) {
  std::ifstream tar(file, std::ios::binary);
  std::uint64_t at = 0;
  std::array<char, block_bytes> header{};
  while (tar.seekg(static_cast<std::streamoff>(at)) && tar.read(header.data(), header.size())) {
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) return at;
    // Eleven octal digits; git writes larger sizes otherwise, which nobody has in a repository.
    std::uint64_t size = 0;
    for (std::size_t i = 124; i < 135; ++i) {
      if (header[i] < '0' || header[i] > '7') {
        throw base::Error(base::ErrorKind::integrity, file.string() + ": not a plain tar");
      }
      size = size * 8 + static_cast<std::uint64_t>(header[i] - '0');
    }
    at += block_bytes + (size + block_bytes - 1) / block_bytes * block_bytes;
  }
  throw base::Error(base::ErrorKind::integrity, file.string() + ": the tar has no end");
}

void write_git_tree(Git& git,
                    const std::string& url,
                    const std::string& commit,
                    const fs::path& file) {
  const fs::path repository = git.fetch(url, commit);
  git.archive(repository, commit, file);
  add_submodules(git, repository, url, commit, {}, file, 0);
}

}  // namespace sabath::env
