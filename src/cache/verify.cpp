#include "verify.hpp"

#include "records_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// The paths in a folder, sorted; none where there is no such folder.
std::vector<fs::path> listing(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    paths.push_back(it->path());
  if (code && code != std::errc::no_such_file_or_directory) {
    base::throw_errno(folder.string(), "cannot read", code.value());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The digest that a path's last names spell.
std::optional<base::Digest> digest_in(const std::string& hex) {
  auto digest = base::parse_digest(base::DigestAlgorithm::sha256, hex);
  return digest && digest->hex == hex ? digest : std::nullopt;
}

class Verification {
 public:
  Verification(bool full, base::Observer& observer, std::stop_token stop)
      : full_(full), observer_(observer), stop_(std::move(stop)) {}

  void check_objects(const Layout& layout, const ObjectStore& objects);
  void check_trees(const Layout& layout, const TreeStore& trees);
  /// `parse` throws for a record that is damaged.
  void check_records(const fs::path& folder,
                     const std::function<void(std::string_view, const std::string&)>& parse);

  VerifyReport report{};

 private:
  void begin(std::string task, std::uint64_t total, bool in_bytes);
  void advance(std::uint64_t amount);
  void end();
  void check_stop() const;
  /// Looks at one; what cannot be read is a finding, not the end.
  bool inspect(const fs::path& path, const std::function<Inspection()>& look);

  bool full_;
  base::Observer& observer_;
  std::stop_token stop_;
  base::Progress progress_{};
};

void Verification::begin(std::string task, std::uint64_t total, bool in_bytes) {
  progress_ = {std::move(task), 0, total, in_bytes, false};
  observer_.progress(progress_);
}

void Verification::advance(std::uint64_t amount) {
  progress_.done += amount;
  observer_.progress(progress_);
  check_stop();
}

void Verification::end() {
  progress_.finished = true;
  observer_.progress(progress_);
}

void Verification::check_stop() const {
  if (stop_.stop_requested()) throw Error(ErrorKind::interrupted, "verify: interrupted");
}

bool Verification::inspect(const fs::path& path, const std::function<Inspection()>& look) {
  check_stop();
  try {
    const Inspection found = look();
    report.bytes_hashed += found.bytes_hashed;
    report.damaged.insert(report.damaged.end(), found.damaged.begin(), found.damaged.end());
    return found.exists;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    if (error.kind() == ErrorKind::not_found) return false;  // gone since it was listed
    report.damaged.push_back({path, error.what()});
    return true;
  }
}

void Verification::check_objects(const Layout& layout, const ObjectStore& objects) {
  std::vector<base::Digest> digests;
  std::uint64_t total_bytes = 0;
  for (const fs::path& folder : listing(layout.objects())) {
    for (const fs::path& path : listing(folder)) {
      const auto digest = digest_in(folder.filename().string() + path.filename().string());
      const auto status = link_status(path);
      if (digest && layout.object(*digest) == path) {
        digests.push_back(*digest);
        total_bytes += status ? static_cast<std::uint64_t>(status->st_size) : 0;
      } else {
        report.damaged.push_back({path, "its name is not a digest"});
      }
    }
  }
  begin("verifying objects", total_bytes, true);
  for (const base::Digest& digest : digests) {
    const bool existed = inspect(layout.object(digest), [&] {
      return objects.inspect(digest, full_, [this](std::uint64_t bytes) { advance(bytes); });
    });
    report.objects += existed ? 1 : 0;
  }
  end();
}

void Verification::check_trees(const Layout& layout, const TreeStore& trees) {
  std::vector<base::Digest> digests;
  for (const fs::path& path : listing(layout.trees())) {
    if (path == layout.unpacked()) continue;
    if (const auto digest = digest_in(path.filename().string())) {
      digests.push_back(*digest);
    } else {
      report.damaged.push_back({path, "its name is not a digest"});
    }
  }
  begin("verifying trees", digests.size(), false);
  for (const base::Digest& digest : digests) {
    const bool existed = inspect(layout.tree(digest), [&] {
      return trees.inspect(digest, full_, [this](std::uint64_t) { check_stop(); });
    });
    report.trees += existed ? 1 : 0;
    advance(1);
  }
  end();
}

void Verification::check_records(
    const fs::path& folder,
    const std::function<void(std::string_view, const std::string&)>& parse) {
  for (const fs::path& path : listing(folder)) {
    check_stop();
    if (path.filename().string().starts_with(".")) continue;  // being written
    try {
      if (const auto text = base::read_file_if_exists(path)) parse(*text, path.string());
    } catch (const Error& error) {
      report.damaged.push_back({path, error.what()});
    }
  }
}

}  // namespace

VerifyReport verify_all(const Layout& layout,
                        const ObjectStore& objects,
                        const TreeStore& trees,
                        bool full,
                        base::Observer& observer,
                        std::stop_token stop) {
  Verification verification(full, observer, std::move(stop));
  verification.check_objects(layout, objects);
  verification.check_trees(layout, trees);
  verification.check_records(layout.sources(), parse_source);
  verification.check_records(layout.stages(), parse_stage);
  verification.check_records(layout.unpacked(), parse_unpacked);
  verification.report.set_aside = listing(layout.damaged());
  return std::move(verification.report);
}

VerifyReport verify_digest(const ObjectStore& objects,
                           const TreeStore& trees,
                           const base::Digest& digest,
                           bool full) {
  VerifyReport report;
  const Inspection object = objects.inspect(digest, full);
  const Inspection tree = trees.inspect(digest, full);
  report.objects = object.exists ? 1 : 0;
  report.trees = tree.exists ? 1 : 0;
  report.bytes_hashed = object.bytes_hashed + tree.bytes_hashed;
  report.damaged = object.damaged;
  report.damaged.insert(report.damaged.end(), tree.damaged.begin(), tree.damaged.end());
  return report;
}

}  // namespace sabath::cache
