#include "real_folders.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <system_error>

namespace sabath::execution {

namespace fs = std::filesystem;
using base::Error;

std::optional<fs::path> link_beneath(const fs::path& root, const fs::path& path) {
  fs::path at = root;
  for (const fs::path& part : path.lexically_relative(root)) {
    at /= part;
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(at, code))) return at;
  }
  return std::nullopt;
}

void refuse_links(const fs::path& root, const fs::path& path) {
  const auto link = link_beneath(root, path);
  if (!link) return;
  throw Error(base::ErrorKind::storage,
              link->string() + ": is a symbolic link: sabath writes nothing through it",
              "a stage of this run made it: a run's own folders stay folders");
}

void make_real_folders(const fs::path& root, const fs::path& path) {
  refuse_links(root, path);
  base::make_directories(path);
}

std::optional<fs::path> way_out(const fs::path& run,
                                const fs::path& outputs,
                                const fs::path& file) {
  if (auto link = link_beneath(run, outputs)) return link;
  const auto link = link_beneath(outputs, file.parent_path());
  if (!link) return std::nullopt;
  std::error_code code;
  const fs::path folder = fs::canonical(outputs, code);
  const fs::path resolved = code ? fs::path{} : fs::canonical(file.parent_path(), code);
  const bool is_inside = !code && *resolved.lexically_relative(folder).begin() != "..";
  return is_inside ? std::nullopt : link;
}

std::string output_problem(const fs::path& run, const fs::path& outputs, const fs::path& file) {
  if (const auto link = way_out(run, outputs, file))
    return "is reached through a symbolic link out of the stage's outputs: " + link->string();
  std::error_code code;
  const fs::file_status status = fs::symlink_status(file, code);
  if (status.type() == fs::file_type::not_found) return output_not_made;
  if (status.type() == fs::file_type::symlink) return "is a symbolic link, not a file";
  if (status.type() == fs::file_type::directory) return "is a folder, not a file";
  if (status.type() != fs::file_type::regular) return "is not a regular file";
  return {};
}

}  // namespace sabath::execution
