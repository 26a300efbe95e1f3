// The running daemon: the scheduler under its present configuration, the lease, the pages, signals,
// and the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/api_client.h"
#include "client/leader_lease.h"
#include "cmd/daemon_configuration.h"
#include "cmd/daemon_flags.h"
#include "cmd/daemon_pages.h"
#include "cmd/daemon_signals.h"
#include "live/extender_calls.h"
#include "live/file_watch.h"
#include "live/scheduler.h"
#include "net/event_loop.h"
#include "observe/log.h"
#include "observe/scheduler_metrics.h"
#include "observe/shadow_report.h"

namespace knx::cmd {

class Daemon {
 public:
  // What it works with, which must outlive it.
  struct Parts {
    net::EventLoop& loop;
    observe::Log& log;
    observe::SchedulerMetrics& metrics;
    client::ApiClient& api;  // for what is no scheduling
    const DaemonOptions& options;
    DaemonSignals& signals;
    const client::PluginWait& plugin_wait;
    // At the end, and before another configuration: for the answers to what was sent.
    Duration wait_for_answers = client::kWritesAreOver;
  };
  // `text`: of the configuration file, to see when it changes.
  Daemon(const Parts& parts, DaemonConfiguration configuration, std::string text,
         client::ApiClient::Options reach);

  // Answers questions about itself from now on.
  Status Serve();
  // The API server answers: begins to watch, and to schedule once it leads.
  Status Start();
  // New connections go there.
  void Replace(const net::Endpoint& endpoint);
  // Until a signal, or the end of our lease. Gives the exit code.
  int Run();

 private:
  // The scheduler under one configuration, with connections of its own: when it goes, so does all
  // that it waits for.
  struct Incarnation {
    Incarnation(net::EventLoop& loop, const client::ApiClient::Options& reach) : api(loop, reach) {}
    [[nodiscard]] std::size_t unanswered() const {
      return scheduler->outstanding() + api.patient_calls();
    }

    client::ApiClient api;
    std::unique_ptr<live::ExtenderCalls> extenders;
    std::unique_ptr<live::Scheduler> scheduler;
    framework::SchedulerConfiguration config;
  };

  void MakeLease(const framework::LeaderElection& election);
  [[nodiscard]] bool leading() const { return lease_ == nullptr || lease_->leading(); }
  Result<std::unique_ptr<live::ExtenderCalls>> ReachExtenders(
      client::ApiClient& api, const DaemonConfiguration& configuration);
  Status Begin(DaemonConfiguration configuration);
  void OnLeading();
  void OnLost(std::string_view why);

  [[nodiscard]] live::ServingPages Pages() const;
  [[nodiscard]] Status LeaseIsHeld() const;
  [[nodiscard]] Status IsSynced() const;
  [[nodiscard]] std::string Configz() const;

  void OnSignal(int signal);
  void EndWhenAnswered();
  void End(int code);
  void StopWhenServed(Time until);
  void WhenAnswered(Time until, std::function<void()> then);
  void ReportShadow();

  void OnFileChanged(const std::string& text);
  void OnBadFile(const Error& error);
  void TakeNextWhenCertain(bool said = false);
  void TakeNext();

  Parts parts_;
  // The one we started with, which decides about all that stays as it is until a restart.
  const framework::SchedulerConfiguration config_;
  client::ApiClient::Options reach_;
  std::unique_ptr<client::LeaderLease> lease_;
  observe::ShadowReport shadow_report_;  // of all incarnations; stays empty if we are no shadow
  std::unique_ptr<Incarnation> incarnation_;
  std::unique_ptr<DaemonPages> pages_;
  std::unique_ptr<live::FileWatch> file_;
  // Until the API server answers, or what was sent is answered.
  std::optional<DaemonConfiguration> next_;
  bool ending_ = false, ended_ = false;
  int exit_code_ = 0;
};

}  // namespace knx::cmd
