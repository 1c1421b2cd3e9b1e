#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sabath::test {

/// A container of arrays in memory that remembers how it was read.
struct Container {
  struct Array {
    base::ArrayInfo info{};
    std::vector<std::byte> bytes{};
    std::vector<std::string> texts{};
  };
  std::map<std::pair<std::string, bool>, Array> arrays{};
  std::uint64_t largest_read_bytes = 0;
  std::uint64_t bytes_read = 0;
  int opened = 0;

  template <class T>
  void put(const std::string& path,
           base::ArrayType type,
           const std::vector<std::uint64_t>& shape,
           const std::vector<T>& values,
           bool is_attribute = false) {
    Array array{{path, type, shape, is_attribute}, {}, {}};
    array.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    arrays[{path, is_attribute}] = std::move(array);
  }
  void put_text(const std::string& path, const std::vector<std::string>& texts) {
    arrays[{path, false}] = {{path, base::ArrayType::text, {texts.size()}, false}, {}, texts};
  }
};

class MemorySource final : public base::ArraySource {
 public:
  explicit MemorySource(std::shared_ptr<Container> container) : container_(std::move(container)) {
    ++container_->opened;
  }
  std::vector<base::ArrayInfo> list() override {
    std::vector<base::ArrayInfo> infos;
    for (const auto& [key, array] : container_->arrays)
      infos.push_back(array.info);
    return infos;
  }
  void read(const base::ArrayInfo& array,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    const auto& bytes = container_->arrays.at({array.path, array.is_attribute}).bytes;
    const std::size_t size = base::size_of(array.type);
    if (out.size() != count * size || (first + count) * size > bytes.size()) {
      throw base::Error(base::ErrorKind::internal, "memory: cannot read: bad range");
    }
    container_->largest_read_bytes =
        std::max<std::uint64_t>(container_->largest_read_bytes, out.size());
    container_->bytes_read += out.size();
    std::memcpy(out.data(), bytes.data() + first * size, out.size());
  }
  std::vector<std::string> read_texts(const base::ArrayInfo& array,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    const auto& texts = container_->arrays.at({array.path, array.is_attribute}).texts;
    const auto from = texts.begin() + static_cast<std::ptrdiff_t>(first);
    return {from, from + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  std::shared_ptr<Container> container_;
};

}  // namespace sabath::test
