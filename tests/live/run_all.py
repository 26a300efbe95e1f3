"""Runs suites of tests on a real API server: `make test-live`.

Most of the time they wait, for back-offs, leases and what is looked at now and then, so that two
run at a time, each with a control plane of its own. Those that measure run alone, after them."""

import concurrent.futures
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).parent
AT_A_TIME = 2
ALONE = ("storm", "many_pods", "overcommit")
LIMIT = 900  # seconds; several times what the longest takes
PATIENCE = 60


def run(name):
    """What it says comes in one piece, when it is over."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([sys.executable, "-B", FOLDER / f"{name}_test.py"],
                                   stdout=output, stderr=subprocess.STDOUT)
        in_time = wait(process)
        output.seek(0)
        said = output.read()
    if not in_time:
        said += f"== ended, because it was not over after {LIMIT} s\n"
    print(f"== on a real API server: {name}, {time.monotonic() - begin:.0f} s\n{said}", end="",
          flush=True)
    return in_time and process.returncode == 0


def wait(process):
    """False if it had to be ended. It is interrupted first, so that it says where it was and ends
    what it has started."""
    try:
        process.wait(LIMIT)
        return True
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return False


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
