#include "array_formats.hpp"
#include "reader/reader_client.hpp"
#include "strided_file.hpp"
#include "zip_members.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include <fcntl.h>

namespace sabath::arrays {
namespace {

using base::ArrayInfo;

constexpr const char* weights_name = "model.weights.h5";
constexpr const char* configuration_name = "config.json";
constexpr const char* metadata_name = "metadata.json";
constexpr std::uint64_t longest_configuration = 64U << 20U;
constexpr std::uint64_t block_bytes = 1U << 20U;

class Together final : public base::ArraySource {
 public:
  Together(std::unique_ptr<base::ArraySource> first, std::unique_ptr<base::ArraySource> second)
      : first_(std::move(first)), second_(std::move(second)), of_first_(first_->list()) {}
  std::vector<ArrayInfo> list() override {
    std::vector<ArrayInfo> all = first_->list();
    std::ranges::move(second_->list(), std::back_inserter(all));
    std::ranges::sort(all, {}, base::key_of);
    return all;
  }
  void read(const ArrayInfo& array,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    source_of(array).read(array, first, count, out);
  }
  std::vector<std::string> read_texts(const ArrayInfo& array,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    return source_of(array).read_texts(array, first, count);
  }

 private:
  base::ArraySource& source_of(const ArrayInfo& array) {
    return std::ranges::binary_search(of_first_, key_of(array), {}, base::key_of) ? *first_
                                                                                  : *second_;
  }

  std::unique_ptr<base::ArraySource> first_;
  std::unique_ptr<base::ArraySource> second_;
  std::vector<ArrayInfo> of_first_;
};

void unpack(ByteSource& member, const std::filesystem::path& to) {
  const base::UniqueFd fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) base::throw_errno(to.string(), "cannot write", errno);
  std::vector<std::byte> block;
  for (std::uint64_t at = 0; at < member.size(); at += block.size()) {
    block.resize(std::min(block_bytes, member.size() - at));
    member.read(at, block);
    base::write_all(fd.get(), block, to);
  }
}

/// Keras names what layers share by its address in memory, which is another in each process: here
/// by numbers in the order of the text.
std::string without_addresses(std::string_view text) {
  constexpr std::string_view name = "\"shared_object_id\": ";
  std::map<std::string_view, std::size_t> numbers;
  std::string result;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name)) {
    at += name.size();
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto number = numbers.emplace(text.substr(at, end - at), numbers.size() + 1).first;
    result.append(text.substr(0, at)).append(std::to_string(number->second));
    text.remove_prefix(end);
  }
  return result.append(text);
}

}  // namespace

std::vector<base::OutsideValues> outside_values_of_keras(const std::filesystem::path& path) {
  const auto members = ZipMembers::open(path);
  const base::TempDir folder(std::filesystem::temp_directory_path(), "sabath-keras-");
  const std::filesystem::path weights = folder.path() / weights_name;
  for (std::size_t i = 0; i < members->list().size(); ++i) {
    if (members->list()[i].path == weights_name) unpack(*members->source(i), weights);
  }
  return members->has(weights_name) ? outside_values_apart(weights)
                                    : std::vector<base::OutsideValues>{};
}

Source open_keras(const std::filesystem::path& path, const base::ReadLimits& limits) {
  const auto members = ZipMembers::open(path, limits);
  const base::TempDir folder(std::filesystem::temp_directory_path(), "sabath-keras-");
  const std::filesystem::path weights = folder.path() / weights_name;
  std::vector<StridedArray> others;
  for (std::size_t i = 0; i < members->list().size(); ++i) {
    const base::ZipMember& member = members->list()[i];
    const auto bytes = members->source(i);
    if (member.path == weights_name) {
      unpack(*bytes, weights);
    } else if (member.path == configuration_name && member.size_bytes <= longest_configuration) {
      others.push_back(fixed_text("(" + member.path + ")",
                                  without_addresses(bytes->text(0, member.size_bytes))));
    } else if (member.path != metadata_name) {
      others.push_back(fixed_text("(" + member.path + ")", digest_text(*bytes)));
    }
  }
  if (!members->has(weights_name)) {
    throw base::Error(base::ErrorKind::integrity,
                      path.string() + ": cannot read as a Keras model: it has no " + weights_name);
  }
  // The file is open by the time that its name is removed with the folder.
  return std::make_unique<Together>(
      open_hdf5_apart(weights, path.string() + ":" + weights_name, limits),
      open_strided(path.string(), std::move(others), {}));
}

}  // namespace sabath::arrays
