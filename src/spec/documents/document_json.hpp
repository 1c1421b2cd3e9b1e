#pragma once

#include "fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace sabath::spec {

/// The format that this sabath reads and writes, in every document's "schema".
inline constexpr int schema_version = 1;

/// Of a document without it.
inline constexpr const char* schema_hint = R"(write "schema": 1)";

/// Opens a document and reads its "schema". The rest of a document of a newer schema is not looked
/// at: what is unknown in it is not a mistake. Throws Error{usage}.
base::JsonDocument open_document(std::string_view text, const std::string& origin);

/// A document whose root is "schema" and the members of a described value.
template <class T>
nlohmann::ordered_json document_of(const T& value) {
  nlohmann::ordered_json json = {{"schema", schema_version}};
  json.update(FieldWriter::written(value));
  return json;
}

template <class T>
T parse_document(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  T value;
  FieldReader io(root);
  describe(io, value);
  root.finish();
  document.finish();
  return value;
}

/// A document that people write; see rules.hpp.
template <class Form>
nlohmann::ordered_json document_as(const typename Form::Value& value) {
  nlohmann::ordered_json json = {{"schema", schema_version}};
  json.update(FieldWriter::written_as<Form>(value));
  return json;
}

template <class Form>
typename Form::Value parse_document_as(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  typename Form::Value value;
  FieldReader::read_as<Form>(root, value);
  document.finish();
  return value;
}

}  // namespace sabath::spec
