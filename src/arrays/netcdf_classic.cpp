#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "name_budget.hpp"
#include "strided_file.hpp"

#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace sabath::arrays {
namespace {

using base::ArrayType;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t longest_netcdf_name = 64U << 10U;
constexpr std::uint64_t most_items = 1'000'000;
constexpr std::uint64_t longest_attribute = 16U << 20U;
constexpr std::uint32_t dimensions_tag = 10;
constexpr std::uint32_t variables_tag = 11;
constexpr std::uint32_t attributes_tag = 12;
constexpr std::uint64_t char_type = 2;

struct Type {
  ArrayType type = ArrayType::opaque;
  std::uint64_t size = 0;
};

// NC_BYTE ... NC_UINT64 from 1; characters are text.
constexpr std::array<Type, 12> netcdf_types{{{},
                                             {ArrayType::int8, 1},
                                             {ArrayType::text, 1},
                                             {ArrayType::int16, 2},
                                             {ArrayType::int32, 4},
                                             {ArrayType::float32, 4},
                                             {ArrayType::float64, 8},
                                             {ArrayType::uint8, 1},
                                             {ArrayType::uint16, 2},
                                             {ArrayType::uint32, 4},
                                             {ArrayType::int64, 8},
                                             {ArrayType::uint64, 8}}};

struct Dimension {
  std::string name{};
  std::uint64_t length = 0;
  bool is_used = false;
};

struct Variable {
  StridedArray array{};
  std::vector<std::string> dimensions{};
  bool has_records = false;
  std::uint64_t record_bytes = 0;  ///< without padding
  bool is_text = false;
};

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

/// The header as "The NetCDF Classic Format Specification" has it; numbers are big-endian.
class NetcdfReader {
 public:
  NetcdfReader(const std::filesystem::path& path, const base::ReadLimits& limits)
      : place_(path.string()),
        names_(path.string()),
        bytes_(std::make_unique<FileBytes>(path, limits)) {}

  std::unique_ptr<base::ArraySource> open() {
    const std::string magic = take_text(4);
    version_ = magic.size() == 4 ? static_cast<unsigned char>(magic[3]) : 0;
    if (!magic.starts_with("CDF") || (version_ != 1 && version_ != 2 && version_ != 5)) {
      fail("it is not of a known version");
    }
    const std::uint64_t records = count();
    read_dimensions();
    read_attributes("");
    read_variables();
    place_records(records);
    add_unused_dimensions(records);
    std::vector<std::unique_ptr<ByteSource>> sources;
    sources.push_back(std::move(bytes_));
    return open_strided(place_, std::move(arrays_), std::move(sources));
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::integrity, place_ + ": cannot read as NetCDF: " + why);
  }

  std::string take_text(std::uint64_t length) {
    std::string text = bytes_->text(at_, length);
    if (text.size() != length) fail("its header is cut short");
    at_ += length;
    return text;
  }

  std::uint64_t number(std::uint64_t size) {
    std::uint64_t value = 0;
    for (const char c : take_text(size))
      value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }

  std::uint64_t count() { return number(version_ == 5 ? 8 : 4); }

  std::uint64_t items(std::uint32_t tag) {
    const std::uint64_t found = number(4);
    const std::uint64_t many = count();
    if ((found != tag && found != 0) || (found == 0 && many != 0) || many > most_items) {
      fail("its header is damaged");
    }
    return many;
  }

  std::string name() {
    const std::uint64_t length = count();
    if (length > longest_netcdf_name) fail("its header is damaged: a name is too long");
    std::string text = take_text(padded(length));
    text.resize(length);
    return text;
  }

  Type type(std::uint64_t& code) {
    code = number(4);
    if (code == 0 || code >= netcdf_types.size())
      fail("its header is damaged: a type is not known");
    return netcdf_types[code];
  }

  void read_dimensions() {
    const std::uint64_t many = items(dimensions_tag);
    for (std::uint64_t i = 0; i < many; ++i) {
      Dimension dimension{name()};
      dimension.length = count();
      dimensions_.push_back(std::move(dimension));
    }
  }

  void read_attributes(const std::string& owner) {
    const std::uint64_t many = items(attributes_tag);
    for (std::uint64_t i = 0; i < many; ++i) {
      const std::string own = name();
      names_.charge(owner.size() + own.size());
      const std::string path = owner + "@" + own;
      std::uint64_t code = 0;
      const Type found = type(code);
      const std::uint64_t length = count();
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(length, found.size, &bytes) || bytes > bytes_->size()) {
        fail("its header is cut short");
      }
      StridedArray array;
      array.info = {path, found.type, {length}, true};
      array.offset = at_;
      array.swapped = std::endian::native == std::endian::little;
      if (code == char_type) {
        if (bytes > longest_attribute) fail("an attribute is too long");
        std::string text = bytes_->text(at_, bytes);
        text.resize(text.find_last_not_of('\0') + 1);
        array = fixed_text(path, std::move(text), true);
      } else {
        pack(array, found.size);
      }
      arrays_.push_back(std::move(array));
      at_ += padded(bytes);
    }
  }

  void read_variables() {
    const std::uint64_t many = items(variables_tag);
    for (std::uint64_t i = 0; i < many; ++i) {
      Variable variable;
      variable.array.info.path = name();
      const std::uint64_t rank = count();
      if (rank > dimensions_.size() * 64 + 1) fail("its header is damaged");
      for (std::uint64_t d = 0; d < rank; ++d)
        add_dimension(variable, count());
      read_attributes(variable.array.info.path);
      std::uint64_t code = 0;
      const Type found = type(code);
      count();  // its size, which is wrong for what is large: it follows from the rest
      variable.array.info.type = found.type;
      variable.array.item = found.size;
      variable.array.offset = number(version_ == 1 ? 4 : 8);
      variable.array.swapped = std::endian::native == std::endian::little && code != char_type;
      variable.is_text = code == char_type;
      variables_.push_back(std::move(variable));
    }
  }

  void add_dimension(Variable& variable, std::uint64_t id) {
    if (id >= dimensions_.size()) fail("its header is damaged: no such dimension");
    const Dimension& dimension = dimensions_[id];
    if (dimension.length == 0) {
      if (!variable.dimensions.empty()) fail("its header is damaged: records within a variable");
      variable.has_records = true;
    }
    names_.charge(dimension.name.size());
    variable.dimensions.push_back(dimension.name);
    variable.array.info.shape.push_back(dimension.length);
    dimensions_[id].is_used = true;
  }

  /// Dimensions of variables are in their shapes.
  void add_unused_dimensions(std::uint64_t records) {
    std::vector<std::string> texts;
    for (const Dimension& dimension : dimensions_) {
      if (dimension.is_used) continue;
      names_.charge(dimension.name.size());
      texts.push_back(dimension.name + " = " +
                      (dimension.length == 0 ? "unlimited (" + std::to_string(records) + ")"
                                             : std::to_string(dimension.length)));
    }
    if (texts.empty()) return;
    std::ranges::sort(texts);
    arrays_.push_back(fixed_text("@(dimensions)", fmt::format("{}", fmt::join(texts, ", ")), true));
  }

  /// Values of a record follow one another, variable by variable, each padded to four bytes unless
  /// there is only one.
  void place_records(std::uint64_t records) {
    std::uint64_t record_bytes = 0;
    std::uint64_t first = bytes_->size();
    std::uint64_t with_records = 0;
    for (Variable& variable : variables_) {
      if (!variable.has_records) continue;
      const auto bytes =
          product_of(variable.array.item, std::span(variable.array.info.shape).subspan(1));
      if (!bytes) fail("a record is too large");
      variable.record_bytes = *bytes;
      ++with_records;
      first = std::min(first, variable.array.offset);
      if (*bytes > bytes_->size() && records != 0) fail("it is cut short");
      record_bytes += padded(*bytes);
    }
    if (with_records == 1) {
      for (const Variable& variable : variables_)
        record_bytes = variable.has_records ? variable.record_bytes : record_bytes;
    }
    const std::uint64_t streaming = version_ == 5 ? ~std::uint64_t{0} : 0xFFFF'FFFFU;
    if (records == streaming) {
      records = record_bytes == 0 ? 0 : (bytes_->size() - first) / record_bytes;
    }
    for (Variable& variable : variables_)
      place(variable, records, record_bytes);
  }

  void place(Variable& variable, std::uint64_t records, std::uint64_t record_bytes) {
    StridedArray& array = variable.array;
    if (variable.has_records) array.info.shape.front() = records;
    pack(array, array.item);
    if (variable.has_records) array.strides.front() = record_bytes;
    // The last dimension of characters is the length of a text.
    const std::size_t inner = variable.has_records ? 1 : 0;
    if (variable.is_text) {
      array.encoding = Encoding::text;
      if (array.info.shape.size() > inner) {
        array.item = array.info.shape.back();
        array.info.shape.pop_back();
        array.strides.pop_back();
      }
    }
    if (!variable.dimensions.empty()) {
      arrays_.push_back(fixed_text(array.info.path + "@(dimensions)",
                                   fmt::format("{}", fmt::join(variable.dimensions, " ")),
                                   true));
    }
    arrays_.push_back(std::move(array));
  }

  std::string place_;
  NameBudget names_;
  std::unique_ptr<ByteSource> bytes_;
  std::uint64_t at_ = 0;
  unsigned version_ = 0;
  std::vector<Dimension> dimensions_{};
  std::vector<Variable> variables_{};
  std::vector<StridedArray> arrays_{};
};

}  // namespace

Source open_netcdf_classic(const std::filesystem::path& path, const base::ReadLimits& limits) {
  return NetcdfReader(path, limits).open();
}

}  // namespace sabath::arrays
