#include "cmd/daemon_flags.h"

#include <gtest/gtest.h>

#include <functional>

namespace knx::cmd {
namespace {

using Arguments = std::vector<std::string>;

Result<DaemonCommand> Parse(const Arguments& arguments) {
  return ParseDaemonFlags(arguments, "1.2.3");
}

DaemonOptions Good(const Arguments& arguments) {
  auto parsed = Parse(arguments);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? parsed->options : DaemonOptions{};
}

std::string Complaint(const Arguments& arguments) {
  const auto parsed = Parse(arguments);
  EXPECT_FALSE(parsed.ok());
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(DaemonFlags, ValuesAreTakenInAllTheFormsThatGoTakes) {
  struct Case {
    Arguments arguments;
    std::function<bool(const DaemonOptions&)> holds;
  };
  const Case cases[] = {
      {{"--config", "a.yaml"}, [](const auto& o) { return o.config_file == "a.yaml"; }},
      {{"--config=a.yaml"}, [](const auto& o) { return o.config_file == "a.yaml"; }},
      {{"--config=a", "--config=b"}, [](const auto& o) { return o.config_file == "b"; }},
      {{"--config=a=b"}, [](const auto& o) { return o.config_file == "a=b"; }},
      {{"--config="}, [](const auto& o) { return o.config_file.empty(); }},
      {{"--authentication-tolerate-lookup-failure=false"},
       [](const auto& o) {
         return !o.serving.authentication_tolerate_lookup_failure && o.warnings.empty();
       }},
      {{"--authorization-always-allow-paths="},
       [](const auto& o) { return o.serving.authorization_always_allow_paths.empty(); }},
      {{"-v", "4"}, [](const auto& o) { return o.logging.verbosity == 4; }},
      {{"-v4"}, [](const auto& o) { return o.logging.verbosity == 4; }},
      {{"-v=4"}, [](const auto& o) { return o.logging.verbosity == 4; }},
      {{"--v=4"}, [](const auto& o) { return o.logging.verbosity == 4; }},
      {{"--v", "4"}, [](const auto& o) { return o.logging.verbosity == 4; }},
      {{"--leader-elect"}, [](const auto& o) { return o.leader_election.leader_elect == true; }},
      {{"--leader-elect=false"},
       [](const auto& o) { return o.leader_election.leader_elect == false; }},
      {{"--leader-elect=true", "--leader-elect=F"},
       [](const auto& o) { return o.leader_election.leader_elect == false; }},
      {{"--leader_elect_lease_duration=1m30s"},
       [](const auto& o) { return o.leader_election.lease_duration == Duration::Seconds(90); }},
      {{"--kube-api-qps=12.5", "--kube-api-burst", "7"},
       [](const auto& o) { return o.kube_api_qps == 12.5 && o.kube_api_burst == 7; }},
      {{"--kube-api-qps=-1"}, [](const auto& o) { return o.kube_api_qps == -1; }},
      {{"--pod-max-in-unschedulable-pods-duration=10m"},
       [](const auto& o) { return o.pod_max_in_unschedulable_pods == Duration::Minutes(10); }},
      {{"--secure-port=0"}, [](const auto& o) { return o.serving.secure_port == 0; }},
      {{"--shadow"}, [](const auto& o) { return o.shadow; }},
      {{"--logging-format=json"}, [](const auto& o) { return o.logging.format == "json"; }},
      {{"--authorization-always-allow-paths=/a,/b", "--authorization-always-allow-paths=/c"},
       [](const auto& o) {
         return o.serving.authorization_always_allow_paths == Arguments{"/a", "/b", "/c"};
       }},
      {{"--feature-gates=SchedulerPopFromBackoffQ=false"},
       [](const auto& o) { return !o.feature_gates.Enabled("SchedulerPopFromBackoffQ"); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments.front());
    EXPECT_TRUE(c.holds(Good(c.arguments)));
  }
}

TEST(DaemonFlags, WithoutAnyTheDefaultsAreThoseOfKubeScheduler) {
  const DaemonOptions options = Good({});
  EXPECT_TRUE(options.warnings.empty());
  EXPECT_EQ(options.serving.secure_port, 10259);
  EXPECT_EQ(options.serving.bind_address, "0.0.0.0");
  EXPECT_TRUE(options.serving.authentication_tolerate_lookup_failure);
  EXPECT_FALSE(options.kube_api_qps.has_value());
  EXPECT_TRUE(options.feature_gates.Enabled("SchedulerPopFromBackoffQ"));
}

TEST(DaemonFlags, WhatIsWrongIsSaidInOneLine) {
  struct Case {
    Arguments arguments;
    std::string_view want;
  };
  const Case cases[] = {
      {{"--leader-elct=false"}, "unknown flag --leader-elct; did you mean --leader-elect?"},
      {{"--kubconfig", "x"}, "unknown flag --kubconfig; did you mean --kubeconfig?"},
      {{"--qqqqqqqqqq"}, "unknown flag --qqqqqqqqqq"},
      {{"-x"}, "unknown flag -x; did you mean --v?"},
      {{"run"}, "\"run\" is not a flag, and nothing else is expected"},
      {{"--leader-elect", "false"}, "\"false\" is not a flag, and nothing else is expected"},
      {{"--leader-elect=maybe"}, "--leader-elect: \"maybe\" is neither true nor false"},
      {{"--leader-elect-retry-period=2"},
       "--leader-elect-retry-period: \"2\" is no duration such as 15s or 1m30s, at most a year"},
      {{"--secure-port=70000"}, "--secure-port: \"70000\" is no number from 0 to 65535"},
      {{"--kube-api-qps=nan"}, "--kube-api-qps: \"nan\" is no number"},
      {{"--kube-api-qps=+-5"}, "--kube-api-qps: \"+-5\" is no number"},
      {{"--kube-api-burst=-1"}, "--kube-api-burst: \"-1\" is no number from 0"},
      {{"--logging-format=xml"},
       "--logging-format: \"xml\" is not known, allowed are text and json"},
      {{"--secure-port="}, "--secure-port: \"\" is no number from 0 to 65535"},
      {{"--profiling=perhaps"}, "--profiling: \"perhaps\" is neither true nor false"},
      {{"--version=2"}, "--version: \"2\" is not known, allowed are true and raw"},
      {{"--feature-gates=GangSheduling=true"},
       "--feature-gates: unknown feature gate \"GangSheduling\"; did you mean GangScheduling?"},
      {{"--feature-gates=GangScheduling"},
       "--feature-gates: \"GangScheduling\" is not of the form Name=true or Name=false"},
      {{"--feature-gates=GangScheduling=2"},
       "--feature-gates: GangScheduling: \"2\" is neither true nor false"},
      {{"--feature-gates=SchedulerQueueingHints=false"},
       "--feature-gates: SchedulerQueueingHints is true for good"},
      {{"--feature-gates=wardle:A=true"},
       "--feature-gates: \"wardle\" is no component here; the only one is kube"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments.front());
    EXPECT_EQ(Complaint(c.arguments), c.want);
  }
  EXPECT_NE(Complaint({"--config"}), "");
}

TEST(DaemonFlags, WhatHasNoEffectIsSaidOnceEach) {
  const DaemonOptions options =
      Good({"--profiling=false", "--profiling", "--kube-api-content-type=json",
            "--feature-gates=kube:GangScheduling=true,SchedulerAsyncPreemption=true"});
  EXPECT_EQ(options.warnings,
            (Arguments{"--kube-api-content-type has no effect here: it is chosen for every kind",
                       "--profiling has no effect here: there are no profiles of Go",
                       "--feature-gates: GangScheduling=true has no effect here"}));
}

TEST(DaemonFlags, HelpAndVersionArePrinted) {
  for (const char* flag : {"--help", "-h"}) {
    const auto help = Parse({flag});
    ASSERT_TRUE(help.ok());
    ASSERT_TRUE(help->print.has_value());
    for (const char* part : {"Leader election", "--leader-elect-lease-duration", "15s",
                             "Exit codes", "--feature-gates", "-v,--v"}) {
      EXPECT_NE(help->print->find(part), std::string::npos) << part << "\n" << *help->print;
    }
  }
  for (const char* flag : {"--version", "--version=raw"}) {
    const auto version = Parse({flag});
    ASSERT_TRUE(version.ok());
    EXPECT_EQ(version->print, "kubenexus-scheduler 1.2.3\n");
  }
}

TEST(DaemonFlags, LeaderElectionFlagsWinOverTheFile) {
  framework::LeaderElection file;
  file.lease_duration = Duration::Seconds(30);
  file.resource_name = "from-file";
  const DaemonOptions options =
      Good({"--leader-elect-renew-deadline=20s", "--leader-elect-resource-namespace=flag"});
  const auto both = options.leader_election.Over(file);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->lease_duration, Duration::Seconds(30));
  EXPECT_EQ(both->renew_deadline, Duration::Seconds(20));
  EXPECT_EQ(both->resource_name, "from-file");
  EXPECT_EQ(both->resource_namespace, "flag");
}

TEST(DaemonFlags, LeaderElectionThatCannotBeIsRefusedByItsFlag) {
  struct Case {
    Arguments arguments;
    std::string_view want;
  };
  for (const Case& c :
       {Case{{"--leader-elect-lease-duration=5s"},
             "--leader-elect-lease-duration: 5s must be longer than "
             "renewDeadline 10s"},
        Case{{"--leader-elect-renew-deadline=20s"},
             "leaderElection.leaseDuration: 15s must be longer than "
             "renewDeadline 20s"},
        Case{{"--leader-elect-resource-name="}, "--leader-elect-resource-name: must not be empty"},
        Case{{"--leader-elect-resource-namespace="},
             "--leader-elect-resource-namespace: must not be empty"},
        Case{{"--leader-elect-resource-lock=endpoints"},
             "--leader-elect-resource-lock: must be leases, which is all there "
             "is"}}) {
    const auto both = Good(c.arguments).leader_election.Over({});
    ASSERT_FALSE(both.ok());
    EXPECT_EQ(both.error().message, c.want);
  }
  EXPECT_TRUE(Good({"--leader-elect=false", "--leader-elect-lease-duration=5s"})
                  .leader_election.Over({})
                  .ok());
}

}  // namespace
}  // namespace knx::cmd
