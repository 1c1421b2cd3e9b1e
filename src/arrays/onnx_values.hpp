#pragma once

#include "name_budget.hpp"
#include "protobuf_reader.hpp"
#include "strided_file.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/base/process/read_limits.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath::arrays {

constexpr std::uint64_t onnx_external_location = 1;

/// One tensor of an ONNX model, before its values are found.
struct OnnxTensor {
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

/// Throws Error{integrity} for a damaged ONNX file.
[[noreturn]] void fail_onnx(const std::string& place, const std::string& why);

/// Arrays of a model and where their values are stored: in the model as they are in memory, in
/// fields that are decoded, or in other files.
class OnnxValues {
 public:
  OnnxValues(const std::filesystem::path& path, const base::ReadLimits& limits);

  ByteSource& model() { return *sources_.front(); }
  std::size_t arrays() const noexcept { return arrays_.size(); }

  void add(OnnxTensor tensor);
  void add(StridedArray array) { arrays_.push_back(std::move(array)); }

  /// Moves the arrays out.
  std::unique_ptr<base::ArraySource> open();
  std::vector<base::OutsideValues> outside() { return std::move(outside_); }

 private:
  struct KnownType;
  static KnownType known_type(std::uint64_t number);

  void place(StridedArray& array,
             const OnnxTensor& tensor,
             const KnownType& known,
             std::uint64_t expected);
  void place_decoded(StridedArray& array, std::vector<std::byte> values, std::uint64_t expected);
  void place_external(StridedArray& array, const OnnxTensor& tensor, std::uint64_t expected);
  std::vector<std::byte> joined(const std::vector<ByteRange>& parts);
  std::vector<std::byte> decoded(const OnnxTensor& tensor,
                                 const KnownType& known,
                                 std::uint64_t expected);
  std::optional<std::uint64_t> number_of(const OnnxTensor& tensor, const char* key) const;
  std::optional<std::size_t> external_source(const std::string& location);
  [[noreturn]] void fail(const std::string& why) const { fail_onnx(place_, why); }
  [[noreturn]] void fail_size(const std::string& name) const;

  std::filesystem::path path_;
  base::ReadLimits limits_;
  std::string place_;
  std::vector<std::unique_ptr<ByteSource>> sources_{};
  std::vector<StridedArray> arrays_{};
  std::vector<base::OutsideValues> outside_{};
  std::map<std::string, std::size_t> external_{};
  NameBudget names_;
  std::uint64_t decoded_bytes_ = 0;
};

}  // namespace sabath::arrays
