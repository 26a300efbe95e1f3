// The server with TLS, seen by a client of OpenSSL.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <mutex>

#include "net/client_authorities.h"
#include "net/http_server.h"
#include "net/self_signed.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"
#include "net/testing/served.h"

namespace knx::net {
namespace {

using testing::Authority;
using testing::CountIn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RawClient;
using testing::Served;
using ::testing::StartsWith;

constexpr std::string_view kClosingGet = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

CertificateAndKey SelfSigned(const std::string& name) {
  auto made = MakeSelfSigned({name, "localhost", "127.0.0.1", "::1"}, Duration::Minutes(60));
  EXPECT_TRUE(made.ok());
  return *made;
}

HttpServer::Options Secure(TlsServerOptions options = {}, const std::string& name = "knx") {
  const CertificateAndKey identity = SelfSigned(name);
  options.cert_pem = identity.cert_pem;
  options.key_pem = identity.key_pem;
  auto tls = TlsContext::MakeServer(options);
  EXPECT_TRUE(tls.ok()) << tls.error().ToString();
  HttpServer::Options out;
  out.tls = *tls;
  out.limits.handshake = Duration::Milliseconds(300);
  return out;
}

void Greet(const ServerRequest& request, const Responder& respond) {
  respond({.body = fmt::format("hello {} certificates", request.client_certificates.size())});
}

TEST(HttpServerTls, AnswersOverTlsAndSaysGoodbye) {
  Served served(Greet, Secure());
  RawClient client(served.port());
  ASSERT_TRUE(client.ShakeHands({.protocols = "\x02h2\x08http/1.1"}));
  EXPECT_EQ(client.protocol(), "http/1.1");
  client.Send(kClosingGet);
  EXPECT_THAT(client.ReceiveAll(), HasSubstr("hello 0 certificates"));
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServerTls, RefusesClientsThatSpeakOnlySomethingElse) {
  Served served(Greet, Secure());
  RawClient client(served.port());
  EXPECT_FALSE(client.ShakeHands({.protocols = "\x02h2"}));
}

TEST(HttpServerTls, AnswersRequestsSentAheadAndLongOnes) {
  const std::string body(3 << 20, 'x');
  Served served([&](const ServerRequest&, const Responder& respond) { respond({.body = body}); },
                Secure());
  RawClient client(served.port());
  ASSERT_TRUE(client.ShakeHands());
  // All in one record, so that what is left waits in TLS and not in the socket.
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n" +
              std::string(kClosingGet));
  const std::string answers = client.ReceiveAll();
  EXPECT_EQ(CountIn(answers, "HTTP/1.1 200 OK"), 3);
  EXPECT_GT(answers.size(), 3 * body.size());
}

TEST(HttpServerTls, ReadsABodyThatIsLongerThanARecord) {
  Served served(
      [](const ServerRequest& request, const Responder& respond) {
        respond({.body = fmt::format("{} bytes", request.body.size())});
      },
      Secure());
  RawClient client(served.port());
  ASSERT_TRUE(client.ShakeHands());
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 500000\r\n\r\n");
  client.Send(std::string(500'000, 'x'));
  EXPECT_THAT(client.ReceiveAll(), HasSubstr("500000 bytes"));
}

TEST(HttpServerTls, ShowsTheCertificatesOfClientsWhoeverSignedThem) {
  std::mutex mutex;
  std::vector<std::string> seen;
  Served served(
      [&](const ServerRequest& request, const Responder& respond) {
        const std::lock_guard lock(mutex);
        seen = request.client_certificates;
        Greet(request, respond);
      },
      Secure());
  const Authority authority("ca"), stranger("stranger");
  const auto trusted = ClientAuthorities::Make(authority.pem());
  ASSERT_TRUE(trusted.ok());
  for (const Authority* issuer : {&authority, &stranger}) {
    const CertificateAndKey jane =
        issuer->Issue({.common_name = "jane", .organizations = {"a", "b"}});
    RawClient client(served.port());
    ASSERT_TRUE(client.ShakeHands({.identity = jane}));
    client.Send(kClosingGet);
    EXPECT_THAT(client.ReceiveAll(), HasSubstr("hello 1 certificates"));
    const std::lock_guard lock(mutex);
    const auto subject = (*trusted)->Verify(seen);
    ASSERT_EQ(subject.ok(), issuer == &authority);
    if (!subject.ok()) continue;
    EXPECT_EQ(subject->common_name, "jane");
    EXPECT_THAT(subject->organizations, ElementsAre("a", "b"));
  }
}

TEST(HttpServerTls, KeepsToTheLeastVersionAndTheSuites) {
  Served served(Greet, Secure({.min_version = "VersionTLS13"}));
  RawClient refused(served.port());
  EXPECT_FALSE(refused.ShakeHands({.only_tls_1_2 = true}));
  Served chosen(Greet, Secure({.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                                                 "TLS_AES_128_GCM_SHA256"}}));
  RawClient client(chosen.port());
  ASSERT_TRUE(client.ShakeHands({.only_tls_1_2 = true}));
  EXPECT_EQ(client.suite(), "ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST(HttpServerTls, SurvivesWhatIsNoTls) {
  Served served(Greet, Secure());
  for (const std::string& text :
       {std::string(kClosingGet), std::string("\x16\x03\x01\xff\xff", 5) + std::string(100, 'x'),
        std::string(100'000, '\0'), std::string("\x16")}) {
    RawClient client(served.port());
    client.Send(text);
    EXPECT_THAT(client.ReceiveAll(), ::testing::Not(HasSubstr("hello")));
  }
  RawClient silent(served.port());
  EXPECT_EQ(silent.ReceiveAll(), "") << "hands must be shaken in time";
  EXPECT_TRUE(served.Reaches(0));
  RawClient client(served.port());
  ASSERT_TRUE(client.ShakeHands());
  client.Send(kClosingGet);
  EXPECT_THAT(client.ReceiveAll(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServerTls, TakesOverANewCertificateForNewConnections) {
  Served served(Greet, Secure({}, "before"));
  RawClient first(served.port());
  ASSERT_TRUE(first.ShakeHands());
  EXPECT_EQ(first.server_name(), "before");
  served.Do([&] { served.server().UseTls(Secure({}, "after").tls); });
  RawClient second(served.port());
  ASSERT_TRUE(second.ShakeHands());
  EXPECT_EQ(second.server_name(), "after");
  first.Send(kClosingGet);
  EXPECT_THAT(first.ReceiveAll(), HasSubstr("hello"));
}

TEST(TlsServer, RefusesWhatItCannotUse) {
  const CertificateAndKey a = SelfSigned("a"), b = SelfSigned("b");
  struct Case {
    TlsServerOptions options;
    std::string_view want;
  };
  const Case cases[] = {
      {{}, "the server certificate cannot be read"},
      {{.cert_pem = "nonsense", .key_pem = a.key_pem}, "the server certificate cannot be read"},
      {{.cert_pem = a.cert_pem}, "the server key cannot be read"},
      {{.cert_pem = a.cert_pem, .key_pem = b.key_pem},
       "the server key does not belong to the server certificate"},
      {{.cert_pem = a.cert_pem, .key_pem = a.key_pem, .min_version = "VersionTLS10"},
       "the TLS version VersionTLS10 is not supported; supported are VersionTLS12, VersionTLS13"},
      {{.cert_pem = a.cert_pem, .key_pem = a.key_pem, .cipher_suites = {"TLS_NULL_NOTHING"}},
       "the TLS cipher suite TLS_NULL_NOTHING is not known"},
  };
  for (const Case& c : cases) {
    const auto made = TlsContext::MakeServer(c.options);
    ASSERT_FALSE(made.ok()) << c.want;
    EXPECT_THAT(made.error().ToString(), StartsWith(std::string(c.want)));
  }
}

TEST(TlsServer, RefusesAKeyWithAPasswordWithoutAskingForIt) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_256_cbc(), "word", 4, nullptr, nullptr);
  char* text = nullptr;
  const auto length = BIO_get_mem_data(bio, &text);
  const std::string locked(text, static_cast<std::size_t>(length));
  BIO_free(bio);
  EVP_PKEY_free(key);
  const auto made =
      TlsContext::MakeServer({.cert_pem = SelfSigned("a").cert_pem, .key_pem = locked});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().ToString(), StartsWith("the server key cannot be read"));
}

TEST(SelfSigned, IsGoodForItsNamesAndItsTime) {
  const auto made =
      MakeSelfSigned({"node-1", "localhost", "127.0.0.1", "::1"}, Duration::Minutes(5));
  ASSERT_TRUE(made.ok());
  BIO* bio = BIO_new_mem_buf(made->cert_pem.data(), -1);
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_check_host(certificate, "node-1", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate, "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate, "other", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "::1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.2", 0), 0);
  EXPECT_LT(X509_cmp_current_time(X509_get0_notBefore(certificate)), 0);
  EXPECT_GT(X509_cmp_current_time(X509_get0_notAfter(certificate)), 0);
  X509_free(certificate);
  EXPECT_FALSE(MakeSelfSigned({}, Duration::Minutes(5)).ok());
}

TEST(ClientAuthorities, BelievesOnlyWhatIsSignedValidAndForClients) {
  const Authority authority("ca"), stranger("stranger"), second("second");
  const auto trusted = ClientAuthorities::Make(authority.pem() + second.pem());
  ASSERT_TRUE(trusted.ok());
  const auto verify = [&](const CertificateAndKey& identity) {
    return (*trusted)->Verify({testing::DerOfPem(identity.cert_pem)});
  };
  const auto good = verify(authority.Issue({.common_name = "jane", .organizations = {"ops"}}));
  ASSERT_TRUE(good.ok()) << good.error().ToString();
  EXPECT_EQ(good->common_name, "jane");
  EXPECT_THAT(good->organizations, ElementsAre("ops"));
  EXPECT_EQ(good->fingerprint.size(), 64U);
  EXPECT_TRUE(verify(second.Issue({.common_name = "joe"})).ok());
  EXPECT_TRUE(verify(authority.Issue({.common_name = "joe", .usage = "clientAuth"})).ok());
  EXPECT_EQ(verify(stranger.Issue({.common_name = "jane"})).error().message,
            "unable to get local issuer certificate");
  EXPECT_EQ(verify(authority.Issue({.common_name = "jane", .lifetime = Duration::Seconds(-60)}))
                .error()
                .message,
            "certificate has expired");
  EXPECT_THAT(
      verify(authority.Issue({.common_name = "jane", .usage = "serverAuth"})).error().message,
      HasSubstr("purpose"));
  EXPECT_FALSE((*trusted)->Verify({}).ok());
  EXPECT_FALSE((*trusted)->Verify({"not a certificate"}).ok());
  EXPECT_FALSE(ClientAuthorities::Make("").ok());
  EXPECT_FALSE(ClientAuthorities::Make("nonsense").ok());
}

}  // namespace
}  // namespace knx::net
