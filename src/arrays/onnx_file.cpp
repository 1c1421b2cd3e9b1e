#include "array_formats.hpp"
#include "onnx_values.hpp"
#include "protobuf_reader.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <optional>

namespace sabath::arrays {
namespace {

namespace fs = std::filesystem;

// Numbers of fields of onnx.proto.
constexpr std::uint32_t model_producer_name = 2;
constexpr std::uint32_t model_producer_version = 3;
constexpr std::uint32_t model_graph = 7;
constexpr std::uint32_t model_opset_import = 8;
constexpr std::uint32_t model_functions = 25;
constexpr std::uint32_t graph_initializer = 5;
constexpr std::uint32_t graph_doc_string = 10;
constexpr std::uint32_t tensor_doc_string = 12;
constexpr std::uint64_t longest_onnx_name = 1U << 20U;
constexpr std::uint64_t most_tensors = 1'000'000;
constexpr std::uint64_t most_texts = 8'000'000;

class OnnxReader {
 public:
  OnnxReader(const fs::path& path, const base::ReadLimits& limits)
      : place_(path.string()), values_(path, limits) {}

  std::unique_ptr<base::ArraySource> open() {
    read_model();
    return values_.open();
  }

  std::vector<base::OutsideValues> outside() {
    read_model();
    return values_.outside();
  }

 private:
  ByteSource& bytes() { return values_.model(); }

  [[noreturn]] void fail(const std::string& why) const { fail_onnx(place_, why); }

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
    values_.add(fixed_text("(graph)", hasher_.finish().text()));
    values_.add(fixed_text("(metadata)", metadata_.finish().text()));
  }

  void hash(ByteRange range) { hash(hasher_, range); }

  /// Hashes what does not affect results: metadata, documentation, versions.
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
        if (values_.arrays() > most_tensors) fail("it has too many tensors");
        values_.add(read_tensor(field->content));
      } else if (field->number == graph_doc_string) {
        hash_metadata(field->whole);
      } else {  // sparse initialisers among them
        hash(field->whole);
      }
    }
  }

  OnnxTensor read_tensor(ByteRange range) {
    OnnxTensor tensor;
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

  void take(OnnxTensor& tensor, const ProtobufField& field) {
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
        tensor.is_external = field.value == onnx_external_location;
        break;
      default:
        break;  // its segment
    }
  }

  void add_dims(OnnxTensor& tensor, const ProtobufField& field) {
    if (!field.is_bytes) {
      tensor.dims.push_back(field.value);
    } else {
      ProtobufReader reader(bytes(), field.content, place_);
      while (!reader.at_end() && tensor.dims.size() < 1000)
        tensor.dims.push_back(reader.varint());
    }
    if (tensor.dims.size() >= 1000) fail("a tensor has too many dimensions");
  }

  void add_external(OnnxTensor& tensor, ByteRange entry) {
    std::string key;
    std::string value;
    ProtobufReader reader(bytes(), entry, place_);
    while (const auto field = reader.next()) {
      if (field->number == 1) key = text(field->content);
      if (field->number == 2) value = text(field->content);
    }
    tensor.external[key] = value;
  }

  std::string place_;
  OnnxValues values_;
  base::Hasher hasher_{};
  base::Hasher metadata_{};
  std::uint64_t texts_ = 0;
};

}  // namespace

Source open_onnx(const fs::path& path, const base::ReadLimits& limits) {
  return OnnxReader(path, limits).open();
}

std::vector<base::OutsideValues> outside_values_of_onnx(const fs::path& path) {
  return OnnxReader(path, {}).outside();
}

}  // namespace sabath::arrays
