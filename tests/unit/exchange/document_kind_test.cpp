#include <sabath/exchange/document_kind.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using exchange::DocumentKind;
using exchange::kind_of_document;

TEST_CASE("documents are recognised by their members") {
  const auto kind = [](std::string_view text) { return kind_of_document(text, "a.json"); };
  CHECK(kind(R"({"@context":{"cr":"http://mlcommons.org/croissant/"},"@type":"sc:Dataset"})") ==
        DocumentKind::croissant);
  CHECK(kind(R"({"@context":{},"dct:conformsTo":"http://mlcommons.org/croissant/1.1"})") ==
        DocumentKind::croissant);
  CHECK(kind(R"({"@context":"https://w3id.org/ro/crate/1.1/context",
                 "@graph":[{"@id":"ro-crate-metadata.json"}]})") == DocumentKind::crate);
  CHECK(kind(R"({"@context":{"hpc":"x"},"hpc:tags":{}})") == DocumentKind::hpcfair);
  CHECK(kind(R"({"@context":"https://schema.org/","@type":"Dataset"})") == DocumentKind::jsonld);
  CHECK(kind(R"({"name":"x","fragments":[]})") == DocumentKind::upstream);
  CHECK(kind(R"({"name":"x","git":{"origin":"y"},"run":{}})") == DocumentKind::upstream);
  CHECK(kind(R"({"schema":1,"kind":"dataset","name":"x"})") == DocumentKind::asset);
  CHECK(kind(R"({"schema":1,"name":"x","stages":[]})") == DocumentKind::recipe);
  CHECK(kind(R"({"schema":1,"recipe":"x","entries":[]})") == DocumentKind::baseline);
  CHECK(kind(R"({"schema":1,"layers":[],"digest":"sha256:0"})") == DocumentKind::lock);
  CHECK_FALSE(kind(R"({"entries":[],"layers":[]})"));
  CHECK_FALSE(kind(R"({"name":"x"})"));
  CHECK_FALSE(kind("[1]"));
}
