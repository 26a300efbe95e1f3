#include "net/transport.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "net/http_client.h"
#include "net/testing/certificates.h"
#include "net/testing/connect_proxy.h"
#include "net/testing/heard.h"
#include "net/testing/http2_server.h"
#include "net/testing/run_until.h"

namespace knx::net {
namespace {

using testing::Authority;
using testing::ConnectProxy;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Heard;
using testing::Http2Server;
using testing::kProxyAgrees;
using testing::RunUntil;
using ::testing::StartsWith;

const Authority& Trusted() {
  static const Authority authority("trusted");
  return authority;
}

TlsOptions Trusting(bool skip_verify = false) {
  TlsOptions options;
  options.ca_pem = Trusted().pem();
  options.skip_verify = skip_verify;
  return options;
}

std::shared_ptr<const TlsContext> ContextFor(const TlsOptions& options) {
  return *TlsContext::MakeClient(options);
}

// One request over a new connection, and what became of it.
class TransportTest : public ::testing::Test {
 protected:
  void Serve(const CertificateAndKey& identity, const std::string& client_ca = "") {
    server_ = std::make_unique<Http2Server>(
        loop_,
        Http2Server::Options{
            .cert_pem = identity.cert_pem, .key_pem = identity.key_pem, .client_ca_pem = client_ca},
        [this](const Http2Server::Asked& asked) { server_->Answer(asked, 200, "hello"); });
  }
  [[nodiscard]] Endpoint To(TlsOptions tls) const {
    return {.host = "127.0.0.1", .port = server_->port(), .tls = ContextFor(tls)};
  }
  Heard Ask(const Endpoint& endpoint, Duration connect = Duration::Seconds(5)) {
    HttpClient client(loop_, {.endpoint = endpoint, .timing = {.connect = connect}});
    const auto heard = std::make_shared<Heard>();
    client.Send({.path = "/"}, std::make_unique<testing::HeardSink>(heard));
    EXPECT_TRUE(RunUntil(loop_, [&] { return heard->dones > 0; }));
    return *heard;
  }
  // The complaint, which names the server first; empty if all went well.
  std::string Complaint(const Endpoint& endpoint) {
    const Heard heard = Ask(endpoint);
    if (heard.ok) return "";
    kind_ = heard.kind;
    EXPECT_THAT(heard.error, StartsWith(endpoint.ToString()));
    return heard.error.substr(endpoint.ToString().size());
  }

  EventLoop loop_;
  std::unique_ptr<Http2Server> server_;
  ErrorKind kind_ = ErrorKind::kConflict;
};

TEST_F(TransportTest, TrustsWhomTheAuthorityHasSignedForThatName) {
  struct Case {
    std::string_view name;
    std::string certificate_for;
    Duration lifetime;
    bool other_authority, skip_verify;
    std::string server_name, want;
  };
  const Authority other("other");
  const Duration hour = Duration::Minutes(60);
  const Case cases[] = {
      {"all is well", "IP:127.0.0.1", hour, false, false, "", ""},
      {"by another name", "DNS:kubernetes", hour, false, false, "kubernetes", ""},
      {"expired", "IP:127.0.0.1", Duration::Minutes(-1), false, false, "",
       ": the server's certificate is not trusted: certificate has expired"},
      {"expired, and nobody cares", "IP:127.0.0.1", Duration::Minutes(-1), false, true, "", ""},
      {"for another address", "IP:10.0.0.1", hour, false, false, "",
       ": the server's certificate is not trusted: it is not for 127.0.0.1"},
      {"for another host", "DNS:example", hour, false, false, "kubernetes",
       ": the server's certificate is not trusted: it is not for kubernetes"},
      {"of nobody we know", "IP:127.0.0.1", hour, true, false, "",
       ": the server's certificate is not trusted: unable to get local issuer certificate"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Serve((c.other_authority ? other : Trusted())
              .Issue({.names = c.certificate_for, .lifetime = c.lifetime}));
    Endpoint endpoint = To(Trusting(c.skip_verify));
    endpoint.server_name = c.server_name;
    EXPECT_EQ(Complaint(endpoint), c.want);
    if (!c.want.empty()) {
      EXPECT_EQ(kind_, ErrorKind::kInvalid);  // waiting does not mend it
    }
  }
}

TEST_F(TransportTest, ShowsItsCertificateToAServerThatAsks) {
  const Authority other("other");
  Serve(Trusted().Issue({.names = "IP:127.0.0.1"}), Trusted().pem());
  const CertificateAndKey good = Trusted().Issue({.names = "DNS:me"}),
                          bad = other.Issue({.names = "DNS:me"});
  const std::string& ca = Trusted().pem();
  EXPECT_EQ(Complaint(To({.ca_pem = ca, .cert_pem = good.cert_pem, .key_pem = good.key_pem})), "");
  EXPECT_THAT(Complaint(To({.ca_pem = ca, .cert_pem = bad.cert_pem, .key_pem = bad.key_pem})),
              HasSubstr("the server does not accept our certificate: "));
  EXPECT_EQ(kind_, ErrorKind::kInvalid);
  EXPECT_THAT(Complaint(To(Trusting())), HasSubstr("the server does not accept our certificate: "));
  EXPECT_EQ(kind_, ErrorKind::kInvalid);
}

TEST_F(TransportTest, SaysWhatIsWrongWithAServerThatCannotBeReached) {
  Serve({});
  const int port = server_->port();
  EXPECT_EQ(Complaint({.host = "no-such-host.invalid", .port = 1}).substr(0, 37),
            ": no-such-host.invalid is not known: ");
  EXPECT_THAT(Complaint({.host = "127.0.0.1", .port = port, .tls = ContextFor({})}),
              HasSubstr("TLS"));
  server_->StopListening();
  EXPECT_EQ(Complaint({.host = "127.0.0.1", .port = port}), ": Connection refused");
  EXPECT_EQ(kind_, ErrorKind::kUnavailable);
  EXPECT_EQ(Complaint({.host = "localhost", .port = port}), ": Connection refused");
  EXPECT_EQ(Complaint({.host = "::1", .port = port}), ": Connection refused");
}

TEST_F(TransportTest, HintsAtHttpAndHttpsThatAreTakenForEachOther) {
  Serve(Trusted().Issue({.names = "IP:127.0.0.1"}));
  EXPECT_THAT(Complaint({.host = "127.0.0.1", .port = server_->port()}),
              EndsWith("; does it expect https, where http was said?"));
  EXPECT_EQ(kind_, ErrorKind::kUnavailable);
  Serve({});
  EXPECT_THAT(Complaint(To(Trusting())), EndsWith("; does it expect http, where https was said?"));
}

TEST_F(TransportTest, DoesNotWaitForeverForAServerThatSaysNothing) {
  // It takes the connection and leaves TLS unanswered.
  server_ =
      std::make_unique<Http2Server>(loop_, Http2Server::Options{.says_nothing = true}, nullptr);
  const Heard heard = Ask({.host = "127.0.0.1", .port = server_->port(), .tls = ContextFor({})},
                          Duration::Milliseconds(100));
  EXPECT_EQ(heard.error, fmt::format("127.0.0.1:{}: not connected within 100ms", server_->port()));
  EXPECT_TRUE(heard.unsent);
}

TEST_F(TransportTest, GoesThroughAProxyWithAndWithoutTls) {
  Serve(Trusted().Issue({.names = "IP:127.0.0.1"}));
  Endpoint endpoint = To(Trusting());
  const std::string target = endpoint.ToString();
  for (const bool proxy_by_tls : {false, true}) {
    SCOPED_TRACE(proxy_by_tls);
    const ConnectProxy proxy(kProxyAgrees, proxy_by_tls
                                               ? Trusted().Issue({.names = "DNS:localhost"})
                                               : CertificateAndKey{});
    endpoint.proxy = {.host = "localhost", .port = proxy.port()};
    if (proxy_by_tls) endpoint.proxy.tls = ContextFor(Trusting());
    endpoint.proxy.authorization = proxy_by_tls ? "Basic abc" : "";
    EXPECT_EQ(Ask(endpoint).body, "hello");
    EXPECT_EQ(proxy.asked(), fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", target,
                                         proxy_by_tls ? "Proxy-Authorization: Basic abc\r\n" : ""));
  }
}

TEST_F(TransportTest, GoesThroughAProxyToAServerWithoutTls) {
  Serve({});
  const ConnectProxy proxy(kProxyAgrees);
  EXPECT_EQ(Ask({.host = "127.0.0.1",
                 .port = server_->port(),
                 .proxy = {.host = "127.0.0.1", .port = proxy.port()}})
                .body,
            "hello");
}

TEST_F(TransportTest, SaysWhatAProxyDoesNotLike) {
  struct Case {
    std::string answer, want;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
       "the proxy answers HTTP/1.1 407 Proxy Authentication Required", ErrorKind::kInvalid},
      {"HTTP/1.1 502 Bad \x1b Gateway\r\n\r\n", "the proxy answers HTTP/1.1 502 Bad ? Gateway",
       ErrorKind::kUnavailable},
      {"SSH-2.0\r\n\r\n", "the proxy answers SSH-2.0", ErrorKind::kUnavailable},
      {std::string(100'000, 'x'), "the proxy's answer does not end", ErrorKind::kUnavailable},
      {"HTTP/1.1 100", "the server closed the connection", ErrorKind::kUnavailable},
  };
  Serve({});
  for (const Case& c : cases) {
    const ConnectProxy proxy(c.answer);
    const Endpoint endpoint{.host = "127.0.0.1",
                            .port = server_->port(),
                            .proxy = {.host = "127.0.0.1", .port = proxy.port()}};
    EXPECT_EQ(Complaint(endpoint),
              fmt::format(" through the proxy 127.0.0.1:{}: {}", proxy.port(), c.want));
    EXPECT_EQ(kind_, c.kind);
  }
  const Endpoint down{.host = "127.0.0.1", .port = 1, .proxy = {.host = "127.0.0.1", .port = 1}};
  EXPECT_EQ(Complaint(down), " through the proxy 127.0.0.1:1: Connection refused");
}

TEST_F(TransportTest, DoesNotTrustAProxyThatIsSomebodyElse) {
  Serve({});
  const ConnectProxy proxy(kProxyAgrees, Trusted().Issue({.names = "DNS:example"}));
  Endpoint endpoint{.host = "127.0.0.1", .port = server_->port()};
  endpoint.proxy = {.host = "localhost", .port = proxy.port(), .tls = ContextFor(Trusting())};
  EXPECT_THAT(Complaint(endpoint),
              HasSubstr("the proxy's certificate is not trusted: it is not for localhost"));
  EXPECT_EQ(kind_, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace knx::net
