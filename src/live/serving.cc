#include "live/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/quoted_text.h"
#include "net/request_target.h"

namespace knx::live {
namespace {

constexpr int kOkStatus = 200, kUnauthorized = 401, kForbidden = 403, kNotFound = 404,
              kMethodNotAllowed = 405, kInternalError = 500;

net::ServerResponse Plain(int status, std::string text) {
  return {status,
          {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}},
          std::move(text)};
}

net::ServerResponse MetricsText(std::string text) {
  return {kOkStatus,
          {{"content-type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"}},
          std::move(text)};
}

net::ServerResponse JsonText(int status, std::string text) {
  return {status,
          {{"content-type", "application/json"}, {"x-content-type-options", "nosniff"}},
          std::move(text)};
}

// As the API server's own refusals look. `details` is JSON with a comma behind it, or nothing.
net::ServerResponse Failure(int status, std::string_view reason, std::string_view message,
                            std::string_view details) {
  return JsonText(
      status,
      fmt::format(R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",)"
                  R"("message":{},"reason":"{}",{}"code":{}}})"
                  "\n",
                  QuotedText(message), reason, details, status));
}

// A refusal may be shown by a browser, which must not take what was asked for HTML.
std::string WithoutTags(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string VerbOf(std::string method) {
  std::transform(method.begin(), method.end(), method.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return method;
}

net::ServerResponse Refusal(const net::ServerRequest& request,
                            const client::AccessReview::Answer& answer) {
  using Verdict = client::AccessReview::Verdict;
  if (answer.verdict == Verdict::kUnauthenticated) {
    return Failure(kUnauthorized, "Unauthorized", "Unauthorized", "");
  }
  if (answer.verdict == Verdict::kFailed) {
    return Plain(kInternalError,
                 WithoutTags(fmt::format("Internal Server Error: {}: {}\n",
                                         QuotedText(request.target), answer.reason)));
  }
  std::string message =
      WithoutTags(fmt::format("User {} cannot {} path {}", QuotedText(answer.user),
                              VerbOf(request.method), QuotedText(request.path)));
  if (!answer.reason.empty()) message += ": " + answer.reason;
  return Failure(kForbidden, "Forbidden", "forbidden: " + message, R"("details":{},)");
}

std::string Quoted(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + QuotedText(name);
  return out;
}

}  // namespace

Serving::Serving(ServingPages pages, client::AccessReview* access)
    : pages_(std::move(pages)), access_(access) {
  for (std::vector<HealthCheck>* checks : {&pages_.healthz, &pages_.livez, &pages_.readyz}) {
    if (checks->empty()) checks->push_back({"ping", [] { return Ok(); }});
  }
}

net::RequestHandler Serving::handler() {
  return [this](net::ServerRequest request, const net::Responder& respond) {
    Handle(std::move(request), respond);
  };
}

void Serving::Handle(net::ServerRequest request, const net::Responder& respond) {
  const auto answer = [respond](net::ServerResponse response) {
    response.headers.emplace_back("cache-control", "no-cache, private");
    respond(std::move(response));
  };
  if (access_ == nullptr) return answer(PageFor(request));
  client::AccessReview::Question question;
  question.verb = VerbOf(request.method);
  question.path = request.path;
  question.authorization = std::string(net::FindHeader(request.headers, "authorization"));
  question.certificates = request.client_certificates;
  question.headers = request.headers;
  access_->Ask(question, [this, request = std::move(request),
                          answer](const client::AccessReview::Answer& verdict) {
    const bool allowed = verdict.verdict == client::AccessReview::Verdict::kAllowed;
    answer(allowed ? PageFor(request) : Refusal(request, verdict));
  });
}

// Like kube-scheduler's, the pages do not care for the method, except for what DELETE does to the
// metrics.
net::ServerResponse Serving::PageFor(const net::ServerRequest& request) {
  const std::string& path = request.path;
  const std::pair<std::string_view, const std::vector<HealthCheck>*> health[] = {
      {"healthz", &pages_.healthz}, {"livez", &pages_.livez}, {"readyz", &pages_.readyz}};
  for (const auto& [group, checks] : health) {
    const std::string root = fmt::format("/{}", group);
    if (path == root) return Health(request, group, *checks);
    for (const HealthCheck& check : *checks) {
      if (path != fmt::format("{}/{}", root, check.name)) continue;
      const Status outcome = check.check();
      if (outcome.ok()) return Plain(kOkStatus, "ok");
      return Plain(kInternalError,
                   fmt::format("internal server error: {}\n", outcome.error().message));
    }
  }
  if (path == "/metrics" && pages_.metrics) return Metrics(request);
  if (path == "/metrics/resources" && pages_.resource_metrics) {
    return MetricsText(pages_.resource_metrics());
  }
  if (path == "/configz" && pages_.configz) return JsonText(kOkStatus, pages_.configz());
  return Plain(kNotFound, "404 page not found\n");
}

net::ServerResponse Serving::Metrics(const net::ServerRequest& request) {
  if (request.method != "DELETE") return MetricsText(pages_.metrics());
  if (!pages_.reset_metrics) {
    net::ServerResponse refusal = Plain(kMethodNotAllowed, "Method Not Allowed\n");
    refusal.headers.emplace_back("allow", "GET, HEAD");
    return refusal;
  }
  pages_.reset_metrics();
  return Plain(kOkStatus, "metrics reset\n");
}

net::ServerResponse Serving::Health(const net::ServerRequest& request, std::string_view group,
                                    const std::vector<HealthCheck>& checks) {
  const std::vector<std::string> named = net::QueryValues(request.query, "exclude");
  const std::set<std::string> excluded(named.begin(), named.end());
  std::set<std::string> unknown = excluded;
  std::string output, reasons;
  for (const HealthCheck& check : checks) {
    if (excluded.count(check.name) > 0) {
      unknown.erase(check.name);
      output += fmt::format("[+]{} excluded: ok\n", check.name);
      continue;
    }
    const Status outcome = check.check();
    if (outcome.ok()) {
      output += fmt::format("[+]{} ok\n", check.name);
      continue;
    }
    // Everybody may read this; the reasons are for the log, and for who may ask for this check.
    output += fmt::format("[-]{} failed: reason withheld\n", check.name);
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", check.name, outcome.error().message);
  }
  if (!unknown.empty()) {
    output += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n",
                          Quoted(unknown));
  }
  if (!reasons.empty()) {
    std::string complaint = fmt::format("{} check failed: {}", group, reasons);
    // Somebody may ask every second.
    if (pages_.log && complaint != last_complaint_) pages_.log(complaint);
    last_complaint_ = std::move(complaint);
    return Plain(kInternalError, fmt::format("{}{} check failed\n", output, group));
  }
  if (net::QueryValues(request.query, "verbose").empty()) return Plain(kOkStatus, "ok");
  return Plain(kOkStatus, fmt::format("{}{} check passed\n", output, group));
}

}  // namespace knx::live
