// live-load: makes a cluster for a scheduler to work on, and watches it work. bench_live.py uses
// it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>

#include "runs.h"

int main(int argc, char** argv) {
  using namespace knx::bench;  // NOLINT(google-build-using-namespace): a program of one file
  LiveLoad load;
  std::string shape = "plain", what;
  const std::map<std::string, std::function<knx::Status(const LiveLoad&)>> known = {
      {"fill", Fill}, {"bind", BindAll}, {"watch", WatchAll}, {"arrive", Arrive}, {"storm", Storm}};
  CLI::App app{"Nodes and pods for a scheduler on a real API server, and what it does with them."};
  app.add_option("what", what, "fill, bind, watch, arrive or storm")->required();
  app.add_option("--kubeconfig", load.kubeconfig, "The API server")->required();
  app.add_option("--shape", shape, "plain, spread, affinity, preemption or gang-8");
  app.add_option("--nodes", load.nodes, "Nodes of the cluster");
  app.add_option("--present", load.present, "Pods that are on nodes already");
  app.add_option("--pods", load.pods, "Pods to be placed");
  app.add_option("--at-a-time", load.at_a_time, "Calls on their way");
  app.add_option("--rate", load.rate, "Pods that arrive in a second, or updates");
  app.add_option("--timeout", load.timeout_seconds, "Seconds");
  app.add_flag("--bind", load.bind, "Bind what arrives");
  CLI11_PARSE(app, argc, argv);

  const auto found = known.find(what);
  const auto parsed = LiveShapeOf(shape);
  if (found == known.end() || !parsed.ok()) {
    std::fprintf(
        stderr, "live-load: %s\n",
        parsed.ok() ? "say fill, bind, watch, arrive or storm" : parsed.error().message.c_str());
    return 2;
  }
  load.shape = *parsed;
  const knx::Status done = found->second(load);
  if (done.ok()) return 0;
  std::fprintf(stderr, "live-load: %s\n", done.error().ToString().c_str());
  return 1;
}
