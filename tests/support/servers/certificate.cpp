#include "support/servers/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace sabath::test {

namespace {

template <auto Function>
struct Free {
  template <class T>
  void operator()(T* handle) const {
    Function(handle);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using File = std::unique_ptr<std::FILE, Free<std::fclose>>;

void require(bool ok) {
  if (!ok) throw std::runtime_error("openssl could not make a test certificate");
}

Key make_key() {
  const KeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr));
  EVP_PKEY* key = nullptr;
  require(context && EVP_PKEY_keygen_init(context.get()) > 0 &&
          EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(), NID_X9_62_prime256v1) > 0 &&
          EVP_PKEY_keygen(context.get(), &key) > 0);
  return Key(key);
}

void add_extension(X509* certificate, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  require(extension && X509_add_ext(certificate, extension.get(), -1) > 0);
}

}  // namespace

void make_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  const Key pair = make_key();
  const Certificate made(X509_new());
  constexpr long hour = 3600;
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -hour);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 24 * hour);
  X509_set_pubkey(made.get(), pair.get());
  const std::string name = "sabath test";
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()),
                             "CN",
                             MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()),
                             -1,
                             -1,
                             0);
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  add_extension(made.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(made.get(), NID_subject_alt_name, "IP:127.0.0.1");
  require(X509_sign(made.get(), pair.get(), EVP_sha256()) > 0);

  const File certificate_file(std::fopen(certificate.c_str(), "w"));
  const File key_file(std::fopen(key.c_str(), "w"));
  require(certificate_file && key_file && PEM_write_X509(certificate_file.get(), made.get()) > 0);
  require(PEM_write_PrivateKey(key_file.get(), pair.get(), nullptr, nullptr, 0, nullptr, nullptr) >
          0);
}

}  // namespace sabath::test
