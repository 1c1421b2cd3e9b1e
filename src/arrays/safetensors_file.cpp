#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "strided_file.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

namespace sabath::arrays {
namespace {

using base::ArrayType;
using base::Error;
using base::ErrorKind;
using base::JsonReader;

constexpr std::uint64_t longest_header = 100'000'000;
constexpr const char* metadata = "__metadata__";

struct KnownType {
  std::string_view name;
  ArrayType type;
  std::uint64_t bits;
  std::optional<Float8> floats8{};
};

// Numbers that share a byte are compared by the bytes alone.
constexpr std::array<KnownType, 22> safetensors_types{
    {{"F64", ArrayType::float64, 64},
     {"F32", ArrayType::float32, 32},
     {"F16", ArrayType::float16, 16},
     {"BF16", ArrayType::bfloat16, 16},
     {"I64", ArrayType::int64, 64},
     {"I32", ArrayType::int32, 32},
     {"I16", ArrayType::int16, 16},
     {"I8", ArrayType::int8, 8},
     {"U64", ArrayType::uint64, 64},
     {"U32", ArrayType::uint32, 32},
     {"U16", ArrayType::uint16, 16},
     {"U8", ArrayType::uint8, 8},
     {"BOOL", ArrayType::uint8, 8},
     {"F8_E4M3", ArrayType::float32, 8, Float8::e4m3fn},
     {"F8_E4M3FNUZ", ArrayType::float32, 8, Float8::e4m3fnuz},
     {"F8_E5M2", ArrayType::float32, 8, Float8::e5m2},
     {"F8_E5M2FNUZ", ArrayType::float32, 8, Float8::e5m2fnuz},
     {"F8_E8M0", ArrayType::float32, 8, Float8::e8m0},
     {"F4", ArrayType::opaque, 4},
     {"F6_E2M3", ArrayType::opaque, 6},
     {"F6_E3M2", ArrayType::opaque, 6},
     {"C64", ArrayType::float32, 64}}};

struct Tensor {
  std::string name{};
  std::string dtype{};
  std::vector<std::uint64_t> shape{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class SafetensorsReader {
 public:
  SafetensorsReader(const std::filesystem::path& path, const base::ReadLimits& limits)
      : place_(path.string()), bytes_(std::make_unique<FileBytes>(path, limits)) {}

  std::unique_ptr<base::ArraySource> open() {
    std::uint64_t length = 0;
    if (bytes_->size() < sizeof length) fail("it is too short for its header");
    bytes_->read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > longest_header || length > bytes_->size() - sizeof length) {
      fail("its header is cut short or damaged");
    }
    data_at_ = sizeof length + length;
    read_header(bytes_->text(sizeof length, length));
    require_no_gaps();
    for (const Tensor& tensor : tensors_)
      add(tensor);
    std::vector<std::unique_ptr<ByteSource>> sources;
    sources.push_back(std::move(bytes_));
    return open_strided(place_, std::move(arrays_), std::move(sources));
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::integrity, place_ + ": cannot read as safetensors: " + why);
  }

  void read_header(const std::string& text) {
    try {
      auto document = base::JsonDocument::parse(text, place_);
      for (auto& [name, entry] : document.root().members()) {
        if (name == metadata) {
          for (auto& [key, value] : entry.members())
            arrays_.push_back(fixed_text("@" + key, value.string(), true));
        } else {
          tensors_.push_back(read_tensor(name, entry));
        }
      }
      document.finish();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      fail(error.what());
    }
  }

  static Tensor read_tensor(const std::string& name, JsonReader entry) {
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = entry.required("dtype").string();
    for (JsonReader& extent : entry.required("shape").items())
      tensor.shape.push_back(extent.unsigned_integer());
    std::vector<JsonReader> offsets = entry.required("data_offsets").items();
    if (offsets.size() == 2) {
      tensor.begin = offsets[0].unsigned_integer();
      tensor.end = offsets[1].unsigned_integer();
    } else {
      entry.problem("'data_offsets' must be two numbers");
    }
    entry.finish();
    return tensor;
  }

  /// As in the reference implementation: each byte is in exactly one tensor.
  void require_no_gaps() {
    std::ranges::sort(tensors_, {}, [](const Tensor& t) { return std::pair(t.begin, t.end); });
    std::uint64_t at = 0;
    for (const Tensor& tensor : tensors_) {
      if (tensor.begin != at || tensor.end < at) {
        fail("the bytes of '" + tensor.name + "' overlap others, or leave a gap before them");
      }
      at = tensor.end;
    }
    if (at != bytes_->size() - data_at_)
      fail("its tensors end elsewhere than the file: it is cut short or damaged");
  }

  void add(const Tensor& tensor) {
    StridedArray array;
    array.info = {tensor.name, ArrayType::opaque, tensor.shape, false};
    array.offset = data_at_ + tensor.begin;
    const auto* const known = std::ranges::find(safetensors_types, tensor.dtype, &KnownType::name);
    if (known == safetensors_types.end()) {
      array.info.unreadable = "has the type '" + tensor.dtype + "', which is not known";
      arrays_.push_back(std::move(array));
      return;
    }
    const std::uint64_t bits = product_of(known->bits, tensor.shape).value_or(1);
    if (bits % 8 != 0 || bits / 8 != tensor.end - tensor.begin) {
      fail("the shape of '" + tensor.name + "' does not fit its bytes");
    }
    array.swapped = std::endian::native == std::endian::big;
    array.info.type = known->type;
    // Types that arrays have no word for, and shapes that bytes do not have.
    if (known->type == ArrayType::opaque || known->floats8 || known->name == "BOOL")
      arrays_.push_back(type_text(tensor.name, tensor.dtype, tensor.shape));
    if (tensor.dtype == "C64") {
      pack(array, 8);
      std::ranges::copy(complex_parts(array, 4), std::back_inserter(arrays_));
      return;
    }
    if (known->floats8) array.floats8 = &float8_table(*known->floats8);
    if (known->type != ArrayType::opaque) {
      pack(array, known->bits / 8);
    } else {
      array.info.path += "(" + tensor.dtype + ")";
      pack_as_bytes(array, tensor.end - tensor.begin);
    }
    arrays_.push_back(std::move(array));
  }

  std::string place_;
  std::unique_ptr<ByteSource> bytes_;
  std::uint64_t data_at_ = 0;
  std::vector<Tensor> tensors_{};
  std::vector<StridedArray> arrays_{};
};

}  // namespace

Source open_safetensors(const std::filesystem::path& path, const base::ReadLimits& limits) {
  return SafetensorsReader(path, limits).open();
}

}  // namespace sabath::arrays
