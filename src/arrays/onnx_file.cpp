#include "array_formats.hpp"
#include "file_bytes.hpp"
#include "name_budget.hpp"
#include "protobuf_reader.hpp"
#include "strided_file.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

namespace sabath::arrays {
namespace {

namespace fs = std::filesystem;
using base::ArrayType;
using base::Error;
using base::ErrorKind;

// Numbers of fields of onnx.proto.
constexpr std::uint32_t model_producer_name = 2;
constexpr std::uint32_t model_producer_version = 3;
constexpr std::uint32_t model_graph = 7;
constexpr std::uint32_t model_opset_import = 8;
constexpr std::uint32_t model_functions = 25;
constexpr std::uint32_t graph_initializer = 5;
constexpr std::uint32_t graph_doc_string = 10;
constexpr std::uint32_t tensor_doc_string = 12;
constexpr std::uint64_t external_location = 1;
constexpr std::uint64_t longest_onnx_name = 1U << 20U;
constexpr std::uint64_t most_tensors = 1'000'000;
constexpr std::uint64_t most_texts = 8'000'000;
constexpr std::uint64_t most_decoded_bytes = 64U << 20U;

/// How values stand in a tensor's typed field.
enum class Typed { none, packed, varint };

struct KnownType {
  ArrayType type = ArrayType::opaque;
  std::uint64_t bits = 0;  ///< 0: the type is not known
  Typed typed = Typed::none;
  const Float8Table& (*floats8)() = nullptr;
};

// By TensorProto.DataType; numbers that share a byte are compared by the bytes alone.
constexpr std::array<KnownType, 25> onnx_types{
    {{},
     {ArrayType::float32, 32, Typed::packed},
     {ArrayType::uint8, 8, Typed::varint},
     {ArrayType::int8, 8, Typed::varint},
     {ArrayType::uint16, 16, Typed::varint},
     {ArrayType::int16, 16, Typed::varint},
     {ArrayType::int32, 32, Typed::varint},
     {ArrayType::int64, 64, Typed::varint},
     {ArrayType::text, 0, Typed::none},
     {ArrayType::uint8, 8, Typed::varint},
     {ArrayType::float16, 16, Typed::varint},
     {ArrayType::float64, 64, Typed::packed},
     {ArrayType::uint32, 32, Typed::varint},
     {ArrayType::uint64, 64, Typed::varint},
     {ArrayType::float32, 64, Typed::packed},
     {ArrayType::float64, 128, Typed::packed},
     {ArrayType::bfloat16, 16, Typed::varint},
     {ArrayType::float32, 8, Typed::varint, float8_e4m3fn},
     {ArrayType::float32, 8, Typed::varint, float8_e4m3fnuz},
     {ArrayType::float32, 8, Typed::varint, float8_e5m2},
     {ArrayType::float32, 8, Typed::varint, float8_e5m2fnuz},
     {ArrayType::opaque, 4, Typed::varint},
     {ArrayType::opaque, 4, Typed::varint},
     {ArrayType::opaque, 4, Typed::varint},
     {ArrayType::float32, 8, Typed::varint, float8_e8m0}}};
constexpr std::uint64_t bool_type = 9;
constexpr std::uint64_t string_type = 8;

struct Tensor {
  std::string name{};
  std::vector<std::uint64_t> dims{};
  std::uint64_t type = 0;
  std::vector<ByteRange> packed{};       ///< float_data, double_data: as they are in memory
  std::vector<ProtobufField> varints{};  ///< int32_data, int64_data, uint64_data
  std::vector<ByteRange> texts{};
  std::optional<ByteRange> raw{};
  bool is_external = false;
  std::map<std::string, std::string> external{};
};

class OnnxReader {
 public:
  OnnxReader(const fs::path& path, const base::ReadLimits& limits)
      : path_(path), limits_(limits), place_(path.string()), names_(path.string()) {
    sources_.push_back(std::make_unique<FileBytes>(path, limits));
  }

  std::unique_ptr<base::ArraySource> open() {
    read_model();
    return open_strided(place_, std::move(arrays_), std::move(sources_));
  }

  std::vector<base::OutsideValues> outside() {
    read_model();
    return std::move(outside_);
  }

 private:
  ByteSource& bytes() { return *sources_.front(); }

  void read_model() {
    bool has_graph = false;
    ProtobufReader model(bytes(), {0, bytes().size()}, place_);
    while (const auto field = model.next()) {
      if (field->number == model_graph && field->is_bytes) {
        has_graph = true;
        read_graph(field->content);
      } else if (field->number == model_opset_import || field->number == model_functions) {
        hash(field->whole);
      } else if (field->number != model_producer_name && field->number != model_producer_version) {
        hash_metadata(field->whole);
      }
    }
    if (!has_graph) fail("it has no graph");
    arrays_.push_back(fixed_text("(graph)", hasher_.finish().text()));
    arrays_.push_back(fixed_text("(metadata)", metadata_.finish().text()));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::integrity, place_ + ": cannot read as ONNX: " + why);
  }

  void hash(ByteRange range) { hash(hasher_, range); }

  /// What changes no result, and readers show: metadata, documentation, versions of the model.
  void hash_metadata(ByteRange range) { hash(metadata_, range); }

  void hash(base::Hasher& hasher, ByteRange range) {
    constexpr std::uint64_t block = 1U << 18U;
    for (std::uint64_t at = range.begin; at < range.end; at += block)
      hasher.update(bytes().text(at, std::min(block, range.end - at)));
  }

  std::string text(ByteRange range) {
    if (range.size() > longest_onnx_name) fail("a name in it is too long");
    return bytes().text(range.begin, range.size());
  }

  void read_graph(ByteRange graph) {
    ProtobufReader reader(bytes(), graph, place_);
    while (const auto field = reader.next()) {
      if (field->number == graph_initializer && field->is_bytes) {
        if (arrays_.size() > most_tensors) fail("it has too many tensors");
        add(read_tensor(field->content));
      } else if (field->number == graph_doc_string) {
        hash_metadata(field->whole);
      } else {  // sparse initialisers among them
        hash(field->whole);
      }
    }
  }

  Tensor read_tensor(ByteRange range) {
    Tensor tensor;
    ProtobufReader reader(bytes(), range, place_);
    std::optional<ByteRange> documentation;
    while (const auto field = reader.next()) {
      if (field->number == tensor_doc_string) documentation = field->whole;
      take(tensor, *field);
    }
    if (!documentation) return tensor;
    metadata_.update(tensor.name);
    hash_metadata(*documentation);
    return tensor;
  }

  void take(Tensor& tensor, const ProtobufField& field) {
    switch (field.number) {
      case 1:
        add_dims(tensor, field);
        break;
      case 2:
        tensor.type = field.value;
        break;
      case 4:
      case 10:
        tensor.packed.push_back(field.content);
        if (tensor.packed.size() > most_tensors) fail("its numbers are not packed");
        break;
      case 5:
      case 7:
      case 11:
        tensor.varints.push_back(field);
        if (tensor.varints.size() > most_tensors) fail("its numbers are not packed");
        break;
      case 6:
        if (++texts_ > most_texts) fail("it has too many texts");
        tensor.texts.push_back(field.content);
        break;
      case 8:
        tensor.name = text(field.content);
        break;
      case 9:
        tensor.raw = field.content;
        break;
      case 13:
        add_external(tensor, field.content);
        break;
      case 14:
        tensor.is_external = field.value == external_location;
        break;
      default:
        break;  // its segment
    }
  }

  void add_dims(Tensor& tensor, const ProtobufField& field) {
    if (!field.is_bytes) {
      tensor.dims.push_back(field.value);
    } else {
      ProtobufReader reader(bytes(), field.content, place_);
      while (!reader.at_end() && tensor.dims.size() < 1000)
        tensor.dims.push_back(reader.varint());
    }
    if (tensor.dims.size() >= 1000) fail("a tensor has too many dimensions");
  }

  void add_external(Tensor& tensor, ByteRange entry) {
    std::string key;
    std::string value;
    ProtobufReader reader(bytes(), entry, place_);
    while (const auto field = reader.next()) {
      if (field->number == 1) key = text(field->content);
      if (field->number == 2) value = text(field->content);
    }
    tensor.external[key] = value;
  }

  void add(Tensor tensor) {
    names_.charge(tensor.name.size());
    if (tensor.type == string_type) return add_texts(std::move(tensor));
    const KnownType known = tensor.type < onnx_types.size() ? onnx_types[tensor.type] : KnownType{};
    StridedArray array;
    array.info = {tensor.name, known.type, tensor.dims, false};
    const bool is_said = tensor.type != bool_type && known.floats8 == nullptr && known.bits >= 8;
    if (known.bits > 0 && !is_said)
      arrays_.push_back(type_text(tensor.name, std::to_string(tensor.type), tensor.dims));
    array.swapped = std::endian::native == std::endian::big;
    if (known.bits == 0) {
      array.info.unreadable =
          "has the data type " + std::to_string(tensor.type) + ", which is not known";
      return arrays_.push_back(std::move(array));
    }
    std::uint64_t bits = known.bits;
    for (const std::uint64_t extent : tensor.dims) {
      if (__builtin_mul_overflow(bits, extent, &bits)) fail("a tensor is too large");
    }
    const std::uint64_t expected = bits / 8 + (bits % 8 != 0 ? 1 : 0);
    if (known.floats8 != nullptr) array.floats8 = &known.floats8();
    if (known.bits < 8) {
      pack_as_bytes(array, expected);
    } else {
      pack(array, known.bits / 8);
    }
    place(array, tensor, known, expected);
    if (known.type == ArrayType::float32 && known.bits == 64) return add_complex(array, 4);
    if (known.type == ArrayType::float64 && known.bits == 128) return add_complex(array, 8);
    arrays_.push_back(std::move(array));
  }

  void add_complex(StridedArray array, std::uint64_t part_bytes) {
    array.item = part_bytes;
    for (const char* part : {"/r", "/i"}) {
      arrays_.push_back(array);
      arrays_.back().info.path += part;
      array.offset += part_bytes;
    }
  }

  /// Where the values lie: here as they are, in typed fields that must be decoded, or elsewhere.
  void place(StridedArray& array,
             const Tensor& tensor,
             const KnownType& known,
             std::uint64_t expected) {
    if (tensor.is_external) return place_external(array, tensor, expected);
    ByteRange range;
    if (tensor.raw) {
      range = *tensor.raw;
    } else if (known.typed == Typed::packed && tensor.packed.size() == 1) {
      range = tensor.packed.front();
    } else if (known.typed == Typed::packed) {
      return place_decoded(array, joined(tensor.packed), expected);
    } else {
      return place_decoded(array, decoded(tensor, known, expected), expected);
    }
    if (range.size() != expected) fail_size(tensor.name);
    array.offset = range.begin;
  }

  [[noreturn]] void fail_size(const std::string& name) const {
    fail("the values of '" + name + "' are not as many as its shape says");
  }

  void place_decoded(StridedArray& array, std::vector<std::byte> values, std::uint64_t expected) {
    if (values.size() != expected) fail_size(array.info.path);
    decoded_bytes_ += values.size();
    if (decoded_bytes_ > most_decoded_bytes) {
      array.info.unreadable = "is one of too many values that are not stored as raw data";
      return;
    }
    array.source = sources_.size();
    sources_.push_back(std::make_unique<MemoryBytes>(std::move(values)));
  }

  std::vector<std::byte> joined(const std::vector<ByteRange>& parts) {
    std::vector<std::byte> values;
    for (const ByteRange& part : parts) {
      const std::string text = bytes().text(part.begin, std::min(part.size(), most_decoded_bytes));
      const auto* const from = reinterpret_cast<const std::byte*>(text.data());
      values.insert(values.end(), from, from + text.size());
      if (values.size() > most_decoded_bytes) break;
    }
    return values;
  }

  std::vector<std::byte> decoded(const Tensor& tensor,
                                 const KnownType& known,
                                 std::uint64_t expected) {
    const std::uint64_t size = std::max<std::uint64_t>(1, known.bits / 8);
    std::vector<std::byte> values;
    const auto add = [&](std::uint64_t value) {
      for (std::uint64_t i = 0; i < size; ++i, value >>= 8U)
        values.push_back(static_cast<std::byte>(value & 0xFFU));
    };
    for (const ProtobufField& field : tensor.varints) {
      if (!field.is_bytes) add(field.value);
      ProtobufReader reader(bytes(), field.is_bytes ? field.content : ByteRange{}, place_);
      while (!reader.at_end() && values.size() <= std::min(expected, most_decoded_bytes))
        add(reader.varint());
    }
    return values;
  }

  void place_external(StridedArray& array, const Tensor& tensor, std::uint64_t expected) {
    const std::string location = value_of(tensor, "location");
    outside_.push_back({tensor.name, location});
    const auto source = external_source(location);
    if (!source) {
      array.info.unreadable =
          "has its values in '" + location + "', and no such file lies in the model's folder";
      return;
    }
    array.source = *source;
    array.offset = number_of(tensor, "offset").value_or(0);
    const auto length = number_of(tensor, "length");
    if (length && *length != expected) fail_size(tensor.name);
  }

  static std::string value_of(const Tensor& tensor, const char* key) {
    const auto found = tensor.external.find(key);
    return found == tensor.external.end() ? "" : found->second;
  }

  std::optional<std::uint64_t> number_of(const Tensor& tensor, const char* key) const {
    const std::string text = value_of(tensor, key);
    if (text.empty()) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size()) {
      fail("the values of '" + tensor.name + "' lie at no place that is a number");
    }
    return number;
  }

  /// Of a file beside the model or beneath its folder, and of no other, whatever links say.
  std::optional<std::size_t> external_source(const std::string& location) {
    const auto known = external_.find(location);
    if (known != external_.end()) return known->second;
    if (!base::is_safe_relative_path(location)) return std::nullopt;
    std::error_code code;
    const fs::path folder = fs::canonical(fs::absolute(path_).parent_path(), code);
    const fs::path file = fs::canonical(folder / location, code);
    if (code || !fs::is_regular_file(file, code)) return std::nullopt;
    if (!base::is_beneath(file, folder)) return std::nullopt;
    sources_.push_back(std::make_unique<FileBytes>(file, limits_));
    return external_[location] = sources_.size() - 1;
  }

  void add_texts(Tensor tensor) {
    StridedArray array;
    array.info = {std::move(tensor.name), ArrayType::text, std::move(tensor.dims), false};
    array.encoding = Encoding::pieces;
    array.pieces = std::move(tensor.texts);
    arrays_.push_back(std::move(array));
  }

  fs::path path_;
  base::ReadLimits limits_;
  std::string place_;
  std::vector<std::unique_ptr<ByteSource>> sources_{};
  std::vector<StridedArray> arrays_{};
  std::vector<base::OutsideValues> outside_{};
  std::map<std::string, std::size_t> external_{};
  base::Hasher hasher_{};
  base::Hasher metadata_{};
  NameBudget names_;
  std::uint64_t texts_ = 0;
  std::uint64_t decoded_bytes_ = 0;
};

}  // namespace

std::unique_ptr<base::ArraySource> open_onnx(const fs::path& path, const base::ReadLimits& limits) {
  return OnnxReader(path, limits).open();
}

std::vector<base::OutsideValues> outside_values_of_onnx(const fs::path& path) {
  return OnnxReader(path, {}).outside();
}

}  // namespace sabath::arrays
