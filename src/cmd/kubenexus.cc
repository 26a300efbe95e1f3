// The program kubenexus: reads the command line, and leaves everything else to its commands.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include "base/quoted_text.h"
#include "cmd/config_command.h"
#include "cmd/demo_command.h"
#include "cmd/exit_code.h"
#include "cmd/explain_command.h"
#include "cmd/oracle_command.h"
#include "cmd/simulate_command.h"
#include "cmd/text_files.h"

namespace {

using knx::cmd::OutputForm;

constexpr const char* kVersion = "kubenexus " KNX_VERSION;

constexpr const char* kExitCodes =
    R"(Exit codes: 0 all is well; 1 an expectation was not met or an invariant broke; 2 a flag or
a file is wrong, something cannot be read or written, or memory runs out; 130 interrupted with
Ctrl-C, 143 ended with SIGTERM.)";

constexpr const char* kSimulateExamples = R"(Examples:
  kubenexus simulate nodes.yaml deployments.yaml
  kubenexus simulate nodes.yaml jobs.yaml --config scheduler.yaml --until 1h -o json
  kubectl get nodes,pods -A -o yaml | kubenexus simulate -
  kubenexus simulate tests/scenarios/fit/a_pod_waits_until_there_is_room.yaml --log)";

struct CommandLine {
  CLI::App app{"A Kubernetes scheduler, with a whole cluster in memory around it.", "kubenexus"};
  CLI::App* demo = nullptr;
  CLI::App* simulate = nullptr;
  CLI::App* explain = nullptr;
  CLI::App* config = nullptr;
  CLI::App* oracle = nullptr;
  CLI::App* version = nullptr;
  CLI::App* help = nullptr;

  knx::cmd::DemoOptions demo_options;
  knx::cmd::SimulateOptions simulate_options;
  knx::cmd::SimulateOptions explain_options;
  std::string explain_name;
  std::string output_form = "table";
  std::string config_file;
  std::string help_about;
};

void AddDemo(CommandLine& line) {
  line.demo = line.app.add_subcommand("demo", "an hour of a GPU cluster in a few seconds");
  line.demo->add_flag("--once", line.demo_options.once,
                      "never wait, neither for a key nor to be watched");
  line.demo->add_flag("--show", line.demo_options.show, "print the scenario instead of running it");
  line.demo->footer(
      "Examples:\n  kubenexus demo\n  kubenexus demo --once | less\n"
      "  kubenexus demo --show > my.yaml && kubenexus simulate my.yaml");
}

template <class Text>
void AddOption(CLI::App* command, const char* name, Text& value, const char* type,
               const char* what) {
  command->add_option(name, value, what)->type_name(type);
}

// What says what is run.
void AddRun(CLI::App* command, knx::cmd::SimulateOptions& options, std::string& output_form) {
  command
      ->add_option("FILE", options.files,
                   "Kubernetes manifests (as many files as you like), or one scenario;\n"
                   "YAML or JSON; - is standard input")
      ->type_name("");
  AddOption(command, "--config", options.config, "FILE",
            "a KubeSchedulerConfiguration, e.g. scheduler.yaml;\n"
            "without it that of the scenario, or kube-scheduler's defaults,\n"
            "which know neither gangs nor reservations");
  AddOption(command, "--until", options.until, "TIME",
            "end after this much virtual time, e.g. 90s or 2h;\n"
            "without it after the last step, or when nothing would change any more,\n"
            "at the latest after 1h");
  AddOption(command, "--seed", options.seed, "NUMBER",
            "decides what is left to chance, e.g. 7;\n"
            "without it that of the scenario, or 1");
  AddOption(command, "--variant", options.variant, "NUMBER",
            "which of the variants of a scenario, e.g. 2; without it the first");
  command
      ->add_option("-o,--output", output_form,
                   "table for people (if not given), json or yaml for programs")
      ->type_name("FORM");
}

void AddSimulate(CommandLine& line) {
  knx::cmd::SimulateOptions& options = line.simulate_options;
  line.simulate =
      line.app.add_subcommand("simulate", "run manifests or a scenario under virtual time");
  AddRun(line.simulate, options, line.output_form);
  AddOption(line.simulate, "--record", options.record, "FILE",
            "write the scheduler's input there, as lines of JSON, e.g. run.jsonl");
  AddOption(line.simulate, "--threads", options.threads, "NUMBER",
            "evaluate with so many threads, e.g. 4; the decisions are the same");
  line.simulate->add_flag("--log", options.log, "also print every decision, in order");
  line.simulate->footer(fmt::format("{}\n\n{}", kSimulateExamples, kExitCodes));
}

void AddExplain(CommandLine& line) {
  line.explain = line.app.add_subcommand(
      "explain", "say of a gang or a pod why it waits, and what would help");
  AddOption(line.explain, "NAME", line.explain_name, "",
            "of the pod group or pod, e.g. train, team-a/train, pod/team-a/train\n"
            "or podgroup.scheduling.k8s.io/team-a/train");
  AddRun(line.explain, line.explain_options, line.output_form);
  line.explain->footer(
      "Runs the files as simulate does, and asks the scheduler at the end.\n\n"
      "Examples:\n  kubenexus explain train nodes.yaml jobs.yaml --config scheduler.yaml\n"
      "  kubectl get -A -o yaml nodes,pods,namespaces,pdb,pvc,pv,storageclasses,csinodes,\\\n"
      "podgroups.scheduling.k8s.io,resourcereservations.scheduling.kubenexus.io \\\n"
      "    | kubenexus explain team-a/train - --until 0s --config scheduler.yaml\n\n"
      "Of a cluster it has to see all that the scheduler sees, and --config has to be what the\n"
      "scheduler has. Leave out kinds that the cluster lacks. --until 0s asks about the moment,\n"
      "not about the end of a run.");
}

void AddOthers(CommandLine& line) {
  line.config = line.app.add_subcommand(
      "config", "check a KubeSchedulerConfiguration and show the plugins it comes to");
  AddOption(line.config, "FILE", line.config_file, "", "the file; - is standard input");
  line.config->footer("Example:\n  kubenexus config scheduler.yaml");
  line.oracle = line.app.add_subcommand(
      "oracle", "answer what every plugin says about pods and nodes, as lines of JSON");
  line.oracle->footer(
      "Reads a request a line from standard input (docs/oracle.md).\n\n"
      "Example:\n  kubenexus oracle < requests.jsonl > answers.jsonl");
  line.version = line.app.add_subcommand("version", "print the version");
  line.help = line.app.add_subcommand("help", "explain a command and its flags");
  AddOption(line.help, "COMMAND", line.help_about, "", "e.g. simulate");
  line.help->footer("Example:\n  kubenexus help simulate");
}

void Fill(CommandLine& line) {
  line.app.set_help_flag("-h,--help", "explain the command and its flags");
  line.app.set_version_flag("--version", kVersion, "print the version");
  line.app.require_subcommand(0, 1);
  AddDemo(line);
  AddSimulate(line);
  AddExplain(line);
  AddOthers(line);
  line.app.footer(fmt::format("kubenexus help COMMAND explains one of them.\n\n{}", kExitCodes));
}

knx::Result<int> Help(const CommandLine& line) {
  if (line.help_about.empty()) {
    // Asked directly, it would explain the command at hand, which is `help`.
    KNX_TRY_DONE(knx::cmd::WriteOut(line.app.get_formatter()->make_help(
        &line.app, line.app.get_name(), CLI::AppFormatMode::Normal)));
    return knx::cmd::kExitOk;
  }
  for (const CLI::App* command : {line.demo, line.simulate, line.explain, line.config, line.oracle,
                                  line.version, line.help}) {
    if (command->get_name() != line.help_about) continue;
    KNX_TRY_DONE(knx::cmd::WriteOut(command->help(line.app.get_name())));
    return knx::cmd::kExitOk;
  }
  return knx::InvalidError(fmt::format("kubenexus help: there is no command {}", line.help_about));
}

// What is missing or impossible on the command line is said here and not by the parser, which would
// rather complain about a missing file than about a misspelt flag.
knx::Result<int> RunFiles(CommandLine& line, std::string_view command,
                          knx::cmd::SimulateOptions& options) {
  if (options.files.empty()) {
    const bool nameless = line.explain->parsed() && line.explain_name.empty();
    return knx::InvalidError(fmt::format("kubenexus {0}: {1} missing (see kubenexus help {0})",
                                         command, nameless ? "NAME and FILE are" : "FILE is"));
  }
  if (line.output_form == "json") {
    options.form = OutputForm::kJson;
  } else if (line.output_form == "yaml") {
    options.form = OutputForm::kYaml;
  } else if (line.output_form != "table") {
    return knx::InvalidError(
        fmt::format("-o: {:?} is not known, allowed are table, json and yaml", line.output_form));
  }
  const bool explains = line.explain->parsed();
  return explains ? knx::cmd::RunExplain(line.explain_name, options)
                  : knx::cmd::RunSimulate(options);
}

knx::Result<int> Config(const CommandLine& line) {
  if (line.config_file.empty()) {
    return knx::InvalidError("kubenexus config: FILE is missing (see kubenexus help config)");
  }
  return knx::cmd::RunConfig(line.config_file);
}

knx::Result<int> Run(CommandLine& line) {
  if (line.demo->parsed()) return knx::cmd::RunDemo(line.demo_options);
  if (line.simulate->parsed()) return RunFiles(line, "simulate", line.simulate_options);
  if (line.explain->parsed()) return RunFiles(line, "explain", line.explain_options);
  if (line.config->parsed()) return Config(line);
  if (line.oracle->parsed()) return knx::cmd::RunOracle();
  if (line.version->parsed()) {
    KNX_TRY_DONE(knx::cmd::WriteOut(fmt::format("{}\n", kVersion)));
    return knx::cmd::kExitOk;
  }
  return Help(line);
}

int Complain(std::string_view what) {
  // Nobody is left to tell if this cannot be written either; the exit code still says it.
  std::fputs(fmt::format("{}\n", knx::Printable(what)).c_str(), stderr);
  return knx::cmd::kExitWrong;
}

// Nothing that needs memory can be done any more.
void EndWithoutMemory() {
  constexpr std::string_view kText = "kubenexus: not enough memory\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  std::_Exit(knx::cmd::kExitWrong);
}

// --help and --version.
knx::Result<int> Explain(const CLI::App& app, const CLI::Success& asked_for) {
  std::ostringstream out;
  std::ostringstream none;
  (void)app.exit(asked_for, out, none);
  KNX_TRY_DONE(knx::cmd::WriteOut(out.str()));
  return knx::cmd::kExitOk;
}

knx::Result<int> ParseAndRun(int argc, char** argv) {
  CommandLine line;
  try {
    Fill(line);
    line.app.parse(argc, argv);
  } catch (const CLI::Success& asked_for) {
    return Explain(line.app, asked_for);
  } catch (const CLI::Error& error) {
    return knx::InvalidError(fmt::format("kubenexus: {} (see kubenexus help)", error.what()));
  }
  return Run(line);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(EndWithoutMemory);
  knx::cmd::OpenStandardStreams();
  try {
    const auto exit_code = ParseAndRun(argc, argv);
    return exit_code.ok() ? *exit_code : Complain(exit_code.error().ToString());
  } catch (const std::exception& error) {  // no thread could be started, a text grew beyond limits
    return Complain(fmt::format("kubenexus: {}", error.what()));
  }
}
