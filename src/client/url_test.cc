#include "client/url.h"

#include <gtest/gtest.h>

namespace knx::client {
namespace {

TEST(ServerUrl, IsTakenApart) {
  struct Case {
    std::string_view text;
    bool tls;
    std::string_view host;
    int port;
    std::string_view base_path, authority;
  };
  const Case cases[] = {
      {"https://10.0.0.1:6443", true, "10.0.0.1", 6443, "", "10.0.0.1:6443"},
      {"https://api.example.com", true, "api.example.com", 443, "", "api.example.com"},
      {"https://api.example.com:/", true, "api.example.com", 443, "", "api.example.com"},
      {"HTTPS://Api/k8s/clusters/c-1/", true, "Api", 443, "/k8s/clusters/c-1", "Api"},
      {"https://a/b?x=1#y", true, "a", 443, "/b", "a"},
      {"https://a?x=/b", true, "a", 443, "", "a"},
      {"https://[2001:db8::1]:6443", true, "2001:db8::1", 6443, "", "[2001:db8::1]:6443"},
      {"https://[::1]", true, "::1", 443, "", "[::1]"},
      {"https://[fe80::1%25eth0]:6443", true, "fe80::1%eth0", 6443, "", "[fe80::1%eth0]:6443"},
      {"http://localhost:8080", false, "localhost", 8080, "", "localhost:8080"},
      {"http://localhost", false, "localhost", 80, "", "localhost"},
      {"localhost:8080", false, "localhost", 8080, "", "localhost:8080"},
      {"10.0.0.1/", false, "10.0.0.1", 80, "", "10.0.0.1"},
      {"https://my_host:1", true, "my_host", 1, "", "my_host:1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<ServerUrl> url = ParseServerUrl(c.text);
    ASSERT_TRUE(url.ok()) << url.error().message;
    EXPECT_EQ(url->text, c.text);
    EXPECT_EQ(url->tls, c.tls);
    EXPECT_EQ(url->host, c.host);
    EXPECT_EQ(url->port, c.port);
    EXPECT_EQ(url->base_path, c.base_path);
    EXPECT_EQ(url->Authority(), c.authority);
  }
}

TEST(ServerUrl, SaysWhatIsWrongWithoutRepeatingIt) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"", "the host is missing"},
      {"https://", "the host is missing"},
      {"https://:6443", "the host is missing"},
      {"ftp://a", "the scheme is not allowed; allowed are http, https"},
      {"https://a b", "has a character that URLs do not have; write it as %20"},
      {"https://a\r\nX: y", "has a character that URLs do not have; write it as %20"},
      {"https://\xC3\xA4", "has a character that URLs do not have; write it as %20"},
      {"https://a*b", "the host has a character that host names do not have"},
      {"https://a:0", "the port must be a number from 1 to 65535"},
      {"https://a:65536", "the port must be a number from 1 to 65535"},
      {"https://a:-1", "the port must be a number from 1 to 65535"},
      {"https://a:https", "the port must be a number from 1 to 65535"},
      {"https://::1", "an IPv6 address needs brackets: [::1]"},
      {"https://[::1", "the address in brackets has no end"},
      {"https://[::x]", "what stands in brackets is no IPv6 address"},
      {"https://[::1%2]", "what stands in brackets is no IPv6 address"},
      {"https://[::1%00]", "what stands in brackets is no IPv6 address"},
      {"https://[::1%25%0d%0aX]", "what stands in brackets is no IPv6 address"},
      {"https://[]", "what stands in brackets is no IPv6 address"},
      {"https://[::1]6443", "only a port can come after the brackets"},
      {"https://me:secret@a",
       "must not hold a user name or password; they have fields of their own"},
      {"a/b", "with a path it needs a scheme; allowed are http, https"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<ServerUrl> url = ParseServerUrl(c.text);
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().message, c.want);
  }
  const Result<ServerUrl> url = ParseServerUrl("https://a/" + std::string(9000, 'b'));
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message, "is longer than 8192 bytes");
}

TEST(ProxyUrl, IsTakenApart) {
  struct Case {
    std::string_view text;
    ProxyUrl::Scheme scheme;
    std::string_view host;
    int port;
    std::string_view username, password;
  };
  using enum ProxyUrl::Scheme;
  const Case cases[] = {
      {"http://proxy", kHttp, "proxy", 80, "", ""},
      {"https://proxy/", kHttps, "proxy", 443, "", ""},
      {"https://[::1]:1080", kHttps, "::1", 1080, "", ""},
      {"http://me@proxy:3128", kHttp, "proxy", 3128, "me", ""},
      {"http://me:p%40ss:w@proxy:3128", kHttp, "proxy", 3128, "me", "p@ss:w"},
      {"http://me:p@ss@proxy", kHttp, "proxy", 80, "me", "p@ss"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<ProxyUrl> url = ParseProxyUrl(c.text);
    ASSERT_TRUE(url.ok()) << url.error().message;
    EXPECT_EQ(url->text, c.text);
    EXPECT_EQ(url->scheme, c.scheme);
    EXPECT_EQ(url->host, c.host);
    EXPECT_EQ(url->port, c.port);
    EXPECT_EQ(url->username, c.username);
    EXPECT_EQ(url->password, c.password);
  }
}

TEST(ProxyUrl, SaysWhatIsWrongWithoutRepeatingIt) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"proxy:3128", "the scheme is not allowed; allowed are http, https"},
      {"socks4://proxy", "the scheme is not allowed; allowed are http, https"},
      {"socks5://proxy", "socks5 is not supported; allowed are http, https"},
      {"http://me:secret@", "the host is missing"},
      {"http://me:secret/@proxy", "the port must be a number from 1 to 65535"},
      {"http://me:%4@proxy", "a % in it must begin an escape such as %20"},
      {"http://me%zz:x@proxy", "a % in it must begin an escape such as %20"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<ProxyUrl> url = ParseProxyUrl(c.text);
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().message, c.want);
  }
}

TEST(JoinHostPort, PutsBracketsAroundIpv6) {
  EXPECT_EQ(JoinHostPort("10.0.0.1", "443"), "10.0.0.1:443");
  EXPECT_EQ(JoinHostPort("fd00::1", "443"), "[fd00::1]:443");
}

TEST(Url, WhatMeansSomethingInAUrlIsEscaped) {
  EXPECT_EQ(UrlEscaped("kube-scheduler_1.a~Z"), "kube-scheduler_1.a~Z");
  EXPECT_EQ(UrlEscaped("a/b?c=d&%\xC3"), "a%2Fb%3Fc%3Dd%26%25%C3");
  EXPECT_EQ(UrlEscaped(""), "");
}

}  // namespace
}  // namespace knx::client
