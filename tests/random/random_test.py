"""Random clusters in which everything that KubeNexus can do is mixed, played in the simulator.

random_test.py BIN/kubenexus [--first N] [--count N] [--jobs N] [--keep FOLDER]

The invariants of the simulator are checked at every step, and beside them that a life comes to
rest, that nothing is tried without end, and that no gang stays half where it is to go (judge.py). A
life that goes wrong is written to FOLDER as a scenario, which `kubenexus simulate` plays;
`shrink.py` makes it small.
"""

import argparse
import concurrent.futures
import pathlib
import random
import sys

import judge
import life
import yaml_text


def make(seed):
    return life.make(random.Random(seed), seed)


def _try(program, seed):
    return seed, judge.play(program, make(seed))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--first", type=int, default=1)
    arguments.add_argument("--count", type=int, default=150)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("."))
    options = arguments.parse_args()
    seeds = range(options.first, options.first + options.count)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, wrong in pool.map(lambda seed: _try(options.program, seed), seeds):
            if wrong:
                failed += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                file = options.keep / f"random-{seed}.yaml"
                file.write_text(yaml_text.of_scenario(make(seed)), "utf-8")
                print(f"seed {seed}: {wrong[0]}: {wrong[1]}\n  {file}", flush=True)
    print(f"{len(seeds)} clusters, {failed} went wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
