"""docs/daemon.md lists every flag of kubenexus-scheduler, as its --help does.

After a change of the flags, `daemon_flags_test.py <program> --update` writes the table anew."""

import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "daemon.md"
TABLE = re.compile(r"(<!-- flags: begin -->\n)(.*?)(<!-- flags: end -->)", re.DOTALL)
UPDATE = ("if it is meant to be so: "
          "python3 tests/cli/daemon_flags_test.py bin/kubenexus-scheduler --update")
PROGRAM = sys.argv[1]


def run(*flags):
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=30,
                          check=False)


def table():
    """Every group and flag of --help as lines of a table."""
    rows = ["| flag | what it does here |", "| --- | --- |"]
    flags = run("--help").stdout.partition("\nExit codes")[0]
    for line in flags.splitlines():
        if group := re.fullmatch(r"(\w[^:]*):", line):
            rows.append(f"| **{group[1]}** | |")
        elif flag := re.fullmatch(r"  (-\S+(?: \S+)?)\s{2,}(\S.*)", line):
            rows.append(f"| `{flag[1]}` | {flag[2]} |")
        elif line.startswith("  -"):  # too long for one line
            rows.append(f"| `{line.strip()}` | ")
        elif rows[-1].endswith("| ") and line.strip():
            rows[-1] += f"{line.strip()} |"
    return "\n".join(rows) + "\n"


class DaemonFlags(unittest.TestCase):
    maxDiff = None

    def test_the_manual_lists_what_help_lists(self):
        self.assertEqual(TABLE.search(PAGE.read_text("utf-8"))[2], table(), UPDATE)

    def test_every_flag_that_people_rely_on_is_there(self):
        names = set(re.findall(r"--([a-z0-9-]+)", run("--help").stdout))
        for name in """config write-config-to master kubeconfig kube-api-qps kube-api-burst
                kube-api-content-type profiling contention-profiling
                pod-max-in-unschedulable-pods-duration leader-elect leader-elect-lease-duration
                leader-elect-renew-deadline leader-elect-retry-period leader-elect-resource-lock
                leader-elect-resource-name leader-elect-resource-namespace secure-port bind-address
                tls-cert-file tls-private-key-file tls-cipher-suites tls-min-version
                tls-sni-cert-key tls-curve-preferences cert-dir http2-max-streams-per-connection
                disable-http2-serving permit-port-sharing permit-address-sharing
                authentication-kubeconfig authentication-skip-lookup
                authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
                authorization-kubeconfig authorization-always-allow-paths
                authorization-webhook-cache-authorized-ttl
                authorization-webhook-cache-unauthorized-ttl client-ca-file
                requestheader-allowed-names requestheader-client-ca-file
                requestheader-extra-headers-prefix requestheader-group-headers
                requestheader-uid-headers requestheader-username-headers feature-gates
                emulated-version emulation-forward-compatible min-compatibility-version v vmodule
                logging-format log-flush-frequency log-json-info-buffer-size log-json-split-stream
                log-text-info-buffer-size log-text-split-stream show-hidden-metrics-for-version
                disabled-metrics allow-metric-labels allow-metric-labels-manifest version help
                shadow shadow-scheduler-name""".split():
            self.assertIn(name, names)

    def test_a_log_that_may_not_grow_does_not_end_it(self):
        with tempfile.TemporaryFile() as log:
            done = subprocess.run(
                [PROGRAM, "--master=::::"], stdout=log, stderr=log, timeout=30, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual(done.returncode, 2)

    def test_wrong_usage_is_one_line_and_exit_code_2(self):
        for flags, pattern in ((["--kubconfig=x"], r"unknown flag --kubconfig; did you mean --kub"),
                               (["--secure-port=a"], r"--secure-port: \"a\" is no number"),
                               (["--config=/none"], r"/none"),
                               (["--leader-elect-resource-lock=endpoints"], r"must be leases"),
                               (["--master=::::"], r"--master")):
            with self.subTest(flags):
                done = run(*flags)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                last = done.stderr.splitlines()[-1]
                self.assertRegex(last, rf"\Akubenexus-scheduler: .*{pattern}")


if __name__ == "__main__":
    if sys.argv[2:] == ["--update"]:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(TABLE.sub(lambda m: m[1] + table() + m[3], page), "utf-8")
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
