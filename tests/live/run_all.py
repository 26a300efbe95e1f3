"""Runs suites of tests on a real API server: `make test-live`.

Most of the time they wait, for back-offs, leases and what is looked at now and then, so that two
run at a time, each with a control plane of its own. Those that measure run alone, after them."""

import concurrent.futures
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).parent
AT_A_TIME = 2
ALONE = ("storm", "many_pods", "overcommit")


def run(name):
    """What it says comes in one piece, when it is over."""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-B", FOLDER / f"{name}_test.py"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"== on a real API server: {name}, {time.monotonic() - begin:.0f} s\n{done.stdout}",
          end="", flush=True)
    return done.returncode == 0


def main(names):
    begin = time.monotonic()
    print(f"on a real API server: {', '.join(names)}", flush=True)
    together = [name for name in names if name not in ALONE]
    alone = [name for name in names if name in ALONE]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        fine = dict(zip(together, pool.map(run, together)))
    fine |= {name: run(name) for name in alone}
    failed = [name for name in names if not fine[name]]
    print(f"== on a real API server: {len(names)} in {time.monotonic() - begin:.0f} s"
          + (f", failed: {', '.join(failed)}" if failed else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
