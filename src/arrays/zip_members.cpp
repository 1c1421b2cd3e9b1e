#include "zip_members.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace sabath::arrays {

class ZipMemberBytes final : public ByteSource {
 public:
  ZipMemberBytes(std::shared_ptr<ZipMembers> members, std::size_t member)
      : members_(std::move(members)), member_(member) {}
  std::uint64_t size() const override { return members_->list()[member_].size_bytes; }
  void read(std::uint64_t offset, std::span<std::byte> out) override {
    members_->read(member_, offset, out);
  }
  bool is_seekable() const override { return false; }

 private:
  std::shared_ptr<ZipMembers> members_;
  std::size_t member_;
};

ZipMembers::ZipMembers(const std::filesystem::path& path, const base::ReadLimits& limits)
    : path_(path), limits_(limits) {
  base::ZipReader reader(path);
  std::set<std::string> names;
  while (auto member = reader.next()) {
    limits_.check(path_.string());
    if (!names.insert(member->path).second) {
      throw base::Error(base::ErrorKind::integrity,
                        path.string() + ": two members have the name '" + member->path + "'");
    }
    members_.push_back(std::move(*member));
  }
}

std::shared_ptr<ZipMembers> ZipMembers::open(const std::filesystem::path& path,
                                             const base::ReadLimits& limits) {
  return std::shared_ptr<ZipMembers>(new ZipMembers(path, limits));
}

bool ZipMembers::has(const std::string& name) const {
  return std::ranges::any_of(members_, [&](const auto& m) { return m.path == name; });
}

std::unique_ptr<ByteSource> ZipMembers::source(std::size_t member) {
  return std::make_unique<ZipMemberBytes>(shared_from_this(), member);
}

bool ZipMembers::load() {
  limits_.check(path_.string());
  position_ += left_.size();
  left_ = reader_->read();
  return !left_.empty();
}

void ZipMembers::go_to(std::size_t member, std::uint64_t offset) {
  if (!reader_ || next_ > member + 1 || (next_ == member + 1 && offset < position_)) {
    reader_ = std::make_unique<base::ZipReader>(path_);
    next_ = 0;
  }
  while (next_ <= member) {
    limits_.check(path_.string());
    const auto now = reader_->next();
    if (!now || now->path != members_[next_].path) {
      throw base::Error(base::ErrorKind::integrity, path_.string() + ": it changes");
    }
    ++next_;
    position_ = 0;
    left_ = {};
  }
}

void ZipMembers::read(std::size_t member, std::uint64_t offset, std::span<std::byte> out) {
  go_to(member, offset);
  while (!out.empty()) {
    if (offset >= position_ + left_.size()) {
      if (load()) continue;
      throw base::Error(base::ErrorKind::integrity,
                        path_.string() + ":" + members_[member].path + ": it is cut short");
    }
    const base::ByteView here = left_.subspan(offset - position_);
    const std::size_t count = std::min(here.size(), out.size());
    std::memcpy(out.data(), here.data(), count);
    out = out.subspan(count);
    offset += count;
  }
}

}  // namespace sabath::arrays
