#include "node_storage.hpp"

#include "record/run_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/planning/parallel_prefix.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sabath::execution {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

namespace {

/// More than a record, a status and a note of the inbox take.
constexpr off_t held_bytes = off_t{1} << 20U;
/// What is left of a full disk is less than any program's block.
constexpr std::uintmax_t nearly_nothing = 64U << 10U;
/// A record is some 15 KiB, unless it has many outputs.
constexpr off_t record_bytes = off_t{256} << 10U;

base::UniqueFd nameless_file(const fs::path& folder, off_t bytes) {
  base::UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (file && ::fallocate(file.get(), 0, 0, bytes) != 0) file.reset();
  return file;
}

}  // namespace

SpaceReserve::SpaceReserve(const fs::path& folder)
    : record_(nameless_file(folder, record_bytes)), file_(nameless_file(folder, held_bytes)) {}

bool SpaceReserve::write(const fs::path& path, std::string_view text) {
  if (!record_ || text.size() > static_cast<std::size_t>(record_bytes)) return false;
  base::write_all(record_.get(), base::as_bytes(text), path);
  const std::string open = "/proc/self/fd/" + std::to_string(record_.get());
  const bool is_made =
      ::ftruncate(record_.get(), static_cast<off_t>(text.size())) == 0 &&
      ::fchmod(record_.get(), 0644) == 0 && ::fsync(record_.get()) == 0 &&
      ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  record_.reset();
  return is_made;
}

std::string disk_problem(const fs::path& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return {};
  const bool has_room = space.f_bavail * space.f_frsize >= nearly_nothing &&
                        (space.f_files == 0 || space.f_favail > 0);
  return has_room ? std::string() : folder.string() + ": " + base::errno_text(ENOSPC);
}

std::string NodeStorage::free_space() {
  std::string problem = reserve_ ? disk_problem(context_.files.directory()) : "";
  if (reserve_) reserve_->free();
  return problem;
}

void NodeStorage::stage_in(const std::stop_token& stop) {
  const spec::Site* const site = context_.site();
  if (site == nullptr) return;
  try {
    const base::Environment own = base::current_environment();
    if (const auto scratch = expanded(site->scratch, own, context_.observer))
      scratch_.emplace(*scratch);
    if (!site->staging.folder.empty()) make_copies(own, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    context_.observer.warn(error.what(), "the node's own disk is not used");
  } catch (const fs::filesystem_error& error) {
    context_.observer.warn(error.what(), "the node's own disk is not used");
  }
}

/// On this node; for ranks on others see copy_to_nodes.
void NodeStorage::make_copies(const base::Environment& own, const std::stop_token& stop) {
  const int nodes = context_.nodes();
  const NodeSettings& node = context_.node;
  spec::RunPlan& plan = context_.plan;
  base::Observer& observer = context_.observer;
  std::vector<spec::PlannedStage>& stages = context_.step_stages;
  WantedCopies wanted = wanted_copies(plan, context_.site()->staging, node.trust, observer);
  if (wanted.items.empty()) return;
  wanted.holder += "." + std::to_string(lease_.attempt());
  const auto spread = [&](const auto& stage) { return planning::is_spread(stage, nodes); };
  if (std::ranges::any_of(stages, spread)) {
    node_copies_.emplace(
        wanted,
        context_.files.attempt(lease_.attempt()),
        NodeCopies::Tools{node.program, context_.processes, context_.clock, observer});
  }
  if (std::ranges::all_of(stages, spread)) return;
  const auto sees = [&](const auto& stage) { return sees_copies(stage, nodes); };
  if (std::ranges::none_of(stages, sees))
    std::erase_if(wanted.items, [](const auto& item) { return !item.image; });
  lease_.set_message("copying inputs and environments to this node");
  copies_ = execution::make_copies(wanted, own, context_.processes, context_.clock, observer, stop);
  lease_.set_message("");
  for (const HeldCopy& held : copies_)
    see_copy(held, nodes, plan);
  stages = stages_of_step(plan, node.batch->plan, context_.step());
}

void NodeStorage::copy_to_nodes(const std::shared_future<void>& trust,
                                const std::stop_token& stop) {
  if (!node_copies_) return;
  try {
    trust.get();
  } catch (const Error&) {
    return;
  }
  const int nodes = context_.nodes();
  lease_.set_message("copying inputs and environments to the nodes");
  node_copies_->make(
      starters_of(context_.step_stages, nodes, context_.plan, context_.site()->prefix), stop);
  lease_.set_message("");
  for (const HeldCopy& held : node_copies_->here())
    see_copy(held, nodes, context_.plan);
}

std::vector<env::LocalPrefix> NodeStorage::local_prefixes(const std::stop_token& stop) const {
  const NodeSettings& node = context_.node;
  if (context_.site() != nullptr && context_.site()->staging.environments)
    return prefixes_of(copies_);
  if (!node.packed) return {};
  const std::vector<env::PrefixImage> images = images_used(context_.plan);
  if (images.empty() || !may_use_images(context_.observer)) return {};
  return env::unpack_images(
      images, node.local, context_.processes, context_.observer, stop, node.trust);
}

void NodeStorage::release() {
  copies_.clear();
  node_copies_.reset();
}

}  // namespace sabath::execution
