#include "node_staging.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/write_access.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/home/sites.hpp>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::ProcessIdentity;

constexpr std::string_view scratch_head = "sabath-work-";

}  // namespace

std::optional<fs::path> expanded(const std::string& path,
                                 const base::Environment& environment,
                                 base::Observer& observer) {
  if (path.empty()) return std::nullopt;
  auto folder = home::folder_on_node(path, environment);
  if (!folder)
    observer.warn("the site's folder '" + path + "' is none on this node", "it is not used");
  return folder;
}

std::vector<env::PrefixImage> images_used(const spec::RunPlan& plan) {
  std::map<fs::path, env::PrefixImage> found;  // variants share layers
  for (const spec::BuiltEnvironment& environment : plan.environments()) {
    if (env::container_of(environment) != nullptr) continue;
    for (env::PrefixImage& image : env::images_of(environment))
      found.emplace(image.prefix, std::move(image));
  }
  std::vector<env::PrefixImage> images;
  for (auto& [prefix, image] : found)
    images.push_back(std::move(image));
  return images;
}

void see_instead(const fs::path& source, const fs::path& copy, std::string& text) {
  const std::string from = source.string();
  const std::string to = copy.string();
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    constexpr std::string_view of_names =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const bool is_whole = end == text.size() || of_names.find(text[end]) == of_names.npos;
    if (is_whole) text.replace(at, from.size(), to);
    at += is_whole ? to.size() : from.size();
  }
}

void see_instead(const fs::path& source, const fs::path& copy, spec::PlannedStage& stage) {
  for (std::string& argument : stage.argv)
    see_instead(source, copy, argument);
  for (auto& [name, value] : stage.environment)
    see_instead(source, copy, value);
}

ScratchFolder::ScratchFolder(const fs::path& scratch)
    : beneath_(scratch),
      path_(scratch / (std::string(scratch_head) + ProcessIdentity::current().text())) {
  base::make_directories(scratch);
  const base::Directory above = beneath_.directory(scratch);
  if (base::can_others_exchange(above.fd())) {
    throw base::Error(base::ErrorKind::storage,
                      scratch.string() + ": others can exchange what is in it",
                      "make it sticky (chmod +t), or name another scratch folder for the site");
  }
  for (const std::string& name : above.names()) {
    if (!name.starts_with(scratch_head)) continue;
    const auto process = ProcessIdentity::parse(name.substr(scratch_head.size()));
    // A process of another node is unknown here.
    if (process && base::liveness_of(*process) == base::Liveness::gone)
      base::remove_own_tree(beneath_, scratch / name);
  }
  const int made = base::make_marked(above, path_.filename().string(), 0700);
  if (made != 0 && made != EEXIST) base::throw_errno(path_.string(), "cannot make", made);
  // Others may write to the directory above, and can foresee the name.
  const struct stat status = beneath_.directory(path_).status();
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw base::Error(base::ErrorKind::storage,
                      path_.string() + ": is not a private folder of this user",
                      "remove it, or name another scratch folder for the site");
  }
}

ScratchFolder::~ScratchFolder() {
  base::remove_own_tree(beneath_, path_);
}

}  // namespace sabath::execution
