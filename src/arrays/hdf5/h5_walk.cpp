#include "byte_source.hpp"
#include "h5_entry.hpp"
#include "h5_error.hpp"
#include "h5_storage.hpp"
#include "h5_type.hpp"
#include "name_budget.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <utility>

namespace sabath::arrays {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

/// Enough for the names of a million data sets. A file of 40 MB with a name of 60 KB before all
/// others would need 20 GB.
constexpr std::uint64_t most_name_bytes = std::uint64_t{256} << 20U;
/// NetCDF-4 lists there the libraries that wrote the file; this is not content.
constexpr const char* netcdf_provenance = "_NCProperties";

struct Link {
  std::string name{};
  H5L_type_t type = H5L_TYPE_HARD;
};

template <class T>
struct Collected {
  std::vector<T> items{};
  std::exception_ptr failure{};
};

template <class T, class... Parts>
herr_t collect(void* data, Parts... parts) noexcept {
  auto& collected = *static_cast<Collected<T>*>(data);
  try {
    collected.items.push_back(T{parts...});
    return 0;
  } catch (...) {
    collected.failure = std::current_exception();
    return -1;
  }
}

herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* data) noexcept {
  return collect<Link>(data, name, info->type);
}

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* data) noexcept {
  return collect<std::string>(data, name);
}

/// Elements are read as a whole, and a tiny file can declare one of 4 GiB.
std::string too_long(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (size <= most_at_once) return {};
  return "has elements of " + std::to_string(size) + " bytes, more than are read at once";
}

std::vector<std::uint64_t> shape_of(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return {dims.begin(), dims.begin() + std::max(rank, 0)};
}

// A product that wraps would make a huge array look small, and so look compared.
void refuse_too_large(const base::ArrayInfo& info, const std::string& place) {
  constexpr std::uint64_t largest_number = 16;
  if (product_of(largest_number, info.shape)) return;
  throw base::Error(base::ErrorKind::integrity,
                    place + ": cannot be read: its size does not fit 64 bits");
}

class Walk {
 public:
  Walk(hid_t file, const std::string& place)
      : file_(file), place_(place), names_(place, most_name_bytes), storage_(place) {}

  std::vector<Entry> run() {
    const H5Id root = checked(H5Oopen(file_, "/", H5P_DEFAULT), H5Oclose, place_, "cannot read");
    const haddr_t address = address_of(root.get(), "");
    groups_.emplace(address, "");
    pending_.push_back({"", address});
    add_attributes(root.get(), {"", address, "."});
    while (!pending_.empty()) {
      const Group group = std::move(pending_.back());
      pending_.pop_back();
      if (group.path.empty())
        visit_group(group);
      else
        unless_unreadable(group.path, false, [&] { visit_group(group); });
    }
    for (Entry& entry : entries_)
      storage_.require_plain_sources(entry);
    sort_entries();
    return std::move(entries_);
  }

 private:
  struct Group {
    std::string path{};
    haddr_t address = HADDR_UNDEF;
  };
  struct Object {
    std::string path{};
    haddr_t group = HADDR_UNDEF;
    std::string name{};  ///< in it
  };

  std::string at(const std::string& path) const { return place_ + ":/" + path; }

  haddr_t address_of(hid_t object, const std::string& path) const {
    ObjectInfo info{};
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) throw_hdf5(at(path), "cannot read");
    return info.addr;
  }

  void visit_group(const Group& visited) {
    const std::string& path = visited.path;
    const H5Id group =
        checked(H5Oopen_by_addr(file_, visited.address), H5Oclose, at(path), "cannot read");
    Collected<Link> links;
    hsize_t start = 0;
    const herr_t status =
        H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, &start, collect_link, &links);
    if (links.failure) std::rethrow_exception(links.failure);
    if (status < 0) throw_hdf5(at(path), "cannot list the group");
    for (const Link& link : links.items) {
      const std::string child = path.empty() ? link.name : path + "/" + link.name;
      names_.charge(child.size());
      if (link.type == H5L_TYPE_HARD) {
        visit_object(group.get(), {child, visited.address, link.name});
      } else {
        unless_unreadable(child, false, [&] { visit_soft_link(group.get(), link, child); });
      }
    }
  }

  void visit_object(hid_t group, const Object& met) {
    const std::string& path = met.path;
    H5Id object;
    haddr_t address = HADDR_UNDEF;
    const bool is_known = unless_unreadable(path, false, [&] {
      object =
          checked(H5Oopen(group, met.name.c_str(), H5P_DEFAULT), H5Oclose, at(path), "cannot read");
      if (H5Iget_type(object.get()) == H5I_DATASET) add_dataset(object.get(), met);
      if (H5Iget_type(object.get()) == H5I_GROUP) address = address_of(object.get(), path);
    });
    if (!is_known) return;
    if (address != HADDR_UNDEF) {
      const auto [known, is_new] = groups_.emplace(address, path);
      if (!is_new) {
        add_link(path, "the group /" + known->second);
        return;
      }
      pending_.push_back({path, address});
    }
    add_attributes(object.get(), met);
  }

  /// Calls `add`. Where HDF5 fails, notes `path` as unreadable and returns false: damage, or an
  /// object that this library is too old for. The rest of the file is still listed.
  template <class Add>
  bool unless_unreadable(const std::string& path, bool is_attribute, const Add& add) {
    try {
      add();
      return true;
    } catch (const Hdf5Failure& failure) {
      names_.charge(path.size());
      Entry entry;
      entry.info = {path, base::ArrayType::opaque, {}, is_attribute};
      entry.info.unreadable = base::printable(failure.state());
      entries_.push_back(std::move(entry));
      return false;
    }
  }

  void visit_soft_link(hid_t group, const Link& link, const std::string& path) {
    H5L_info_t info{};
    if (H5Lget_info(group, link.name.c_str(), &info, H5P_DEFAULT) < 0) {
      throw_hdf5(at(path), "cannot read the link");
    }
    std::vector<char> target(info.u.val_size + 1, '\0');
    if (H5Lget_val(group, link.name.c_str(), target.data(), info.u.val_size, H5P_DEFAULT) < 0) {
      throw_hdf5(at(path), "cannot read the link");
    }
    if (link.type == H5L_TYPE_SOFT) return add_link(path, target.data());
    add_outside_link(link.type, target, path);
  }

  void add_outside_link(H5L_type_t type, const std::vector<char>& target, const std::string& path) {
    unsigned flags = 0;
    const char* file = "";
    const char* object = "";
    std::string what = "a link of an unknown kind";
    if (type == H5L_TYPE_EXTERNAL &&
        H5Lunpack_elink_val(target.data(), target.size() - 1, &flags, &file, &object) >= 0) {
      what = "an external link to '" + std::string(object) + "' in '" + file + "'";
    }
    Entry entry;
    entry.info = {path, base::ArrayType::opaque, {}, false};
    entry.info.unreadable = base::printable("is " + what + inside_only);
    entry.outside.emplace_back(file);
    entries_.push_back(std::move(entry));
  }

  void add_link(const std::string& path, const std::string& target) {
    Entry entry;
    entry.info = {path, base::ArrayType::text, {}, false};
    entry.link = "link to " + target;
    entries_.push_back(std::move(entry));
  }

  void add_dataset(hid_t dataset, const Object& met) {
    const std::string& path = met.path;
    const H5Id plan =
        checked(H5Dget_create_plist(dataset), H5Pclose, at(path), "cannot read its layout");
    Entry entry;
    entry.info.path = path;
    entry.object = "/" + path;
    entry.group = met.group;
    entry.name = met.name;
    // Not even its shape is asked for: that of a view opens the files of its sources.
    if (!storage_.note(dataset, plan.get(), entry)) return entries_.push_back(std::move(entry));
    add_leaves(entry,
               checked(H5Dget_type(dataset), H5Tclose, at(path), "cannot read its type"),
               checked(H5Dget_space(dataset), H5Sclose, at(path), "cannot read its shape"));
  }

  void add_attributes(hid_t object, const Object& met) {
    const std::string& path = met.path;
    Collected<std::string> names;
    hsize_t start = 0;
    const herr_t status =
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &start, collect_attribute, &names);
    if (names.failure) std::rethrow_exception(names.failure);
    unless_unreadable(path + "@", true, [&] {
      if (status < 0) throw_hdf5(at(path), "cannot list its attributes");
    });
    for (const std::string& name : names.items) {
      if (path.empty() && name == netcdf_provenance) continue;
      Entry entry;
      entry.info.path = path + "@" + name;
      entry.info.is_attribute = true;
      entry.object = "/" + path;
      entry.group = met.group;
      entry.name = met.name;
      entry.attribute = name;
      const std::string where = at(entry.info.path);
      unless_unreadable(entry.info.path, true, [&] {
        const H5Id attribute =
            checked(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, where, "cannot read");
        add_leaves(
            entry,
            checked(H5Aget_type(attribute.get()), H5Tclose, where, "cannot read its type"),
            checked(H5Aget_space(attribute.get()), H5Sclose, where, "cannot read its shape"));
      });
    }
  }

  void add_leaves(const Entry& whole, const H5Id& type, const H5Id& space) {
    const std::vector<std::uint64_t> outer = shape_of(space.get());
    const bool is_null = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
    const std::vector<Leaf> leaves = leaves_of(type.get(), at(whole.info.path));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Entry entry = whole;
      entry.leaf = i;
      entry.info.path += leaves[i].suffix;
      entry.info.type = leaves[i].type;
      entry.info.shape = outer;
      entry.info.shape.insert(
          entry.info.shape.end(), leaves[i].inner.begin(), leaves[i].inner.end());
      names_.charge(entry.info.path.size() + entry.object.size());
      refuse_too_large(entry.info, at(entry.info.path));
      if (entry.info.unreadable.empty()) entry.info.unreadable = too_long(leaves[i].memory.get());
      add_type(entry, leaves[i].unsaid, is_null);
      entries_.push_back(std::move(entry));
    }
  }

  /// Adds what type and shape do not show: names of an enumeration, or a null dataspace (h5py's
  /// Empty, which differs from an array without elements).
  void add_type(const Entry& of, const std::string& unsaid, bool is_null) {
    if (unsaid.empty() && !is_null) return;
    Entry type;
    type.info = {of.info.path + "@(type)", base::ArrayType::text, {}, true};
    type.link = is_null ? unsaid + " null dataspace" : unsaid;
    names_.charge(type.info.path.size() + type.link.size());
    entries_.push_back(std::move(type));
  }

  void sort_entries() {
    const auto key = [](const Entry& e) { return key_of(e.info); };
    std::ranges::sort(entries_, [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    const auto twice = std::ranges::adjacent_find(
        entries_, [&](const Entry& a, const Entry& b) { return key(a) == key(b); });
    if (twice != entries_.end()) {
      throw base::Error(
          base::ErrorKind::integrity,
          at(twice->info.path) + ": two arrays have this name: '/' and '@' in names are ambiguous");
    }
  }

  hid_t file_;
  const std::string& place_;
  NameBudget names_;
  std::vector<Entry> entries_{};
  std::vector<Group> pending_{};             ///< still to visit
  std::map<haddr_t, std::string> groups_{};  ///< seen, with the name under which it was first
  H5Storage storage_;
};

}  // namespace

std::vector<Entry> walk(hid_t file, const std::string& place) {
  return Walk(file, place).run();
}

}  // namespace sabath::arrays
