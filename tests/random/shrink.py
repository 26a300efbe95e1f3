"""Makes a random cluster small that goes wrong: leaves out what is not needed for that.

shrink.py BIN/kubenexus SEED > small.yaml
"""

import copy
import json
import sys

import judge
import random_test
import yaml_text


def shrink(scenario, goes_wrong):
    """The smallest found of which `goes_wrong`, by leaving out parts as long as that helps."""
    before = None
    while before != scenario:
        before = copy.deepcopy(scenario)
        for part in (_steps, lambda each: each["cluster"]["nodes"],
                     lambda each: each["cluster"]["objects"],
                     lambda each: each["config"]["profiles"]):
            scenario = _without_entries(scenario, part, goes_wrong)
        scenario = _without_fields(scenario, goes_wrong)
    return scenario


def _steps(scenario):
    return scenario["steps"]


def _without_entries(scenario, part, goes_wrong):
    """Large pieces first, then single ones, the last first."""
    size = len(part(scenario))
    while size >= 1:
        # The last step waits until all is quiet.
        end = len(part(scenario)) - (part is _steps)
        while end > 0:
            smaller = copy.deepcopy(scenario)
            del part(smaller)[max(0, end - size):end]
            if goes_wrong(smaller):
                scenario = smaller
            end -= size
        size //= 2
    return scenario


def _without_fields(scenario, goes_wrong):
    """What pods and plugins say."""
    for path in list(_fields(scenario["steps"], ("steps",))) + list(
            _fields(scenario["config"]["profiles"], ("config", "profiles"))):
        smaller = copy.deepcopy(scenario)
        parent = smaller
        for key in path[:-1]:
            parent = parent[key]
        del parent[path[-1]]
        if goes_wrong(smaller):
            scenario = smaller
    return scenario


def _fields(value, path):
    """Of what is deepest first; entries of lists stay, so that places keep their numbers."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _fields(each, (*path, key))
            # Who says how long it runs and does not end is late for ever, which is another matter.
            if len(path) > 2 and key != "run_for":
                yield (*path, key)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _fields(each, (*path, number))


def main():
    program, seed = sys.argv[1], int(sys.argv[2])
    # Pods that are alike share what they say; from here on each says it for itself.
    scenario = json.loads(json.dumps(random_test.make(seed)))
    wrong = judge.play(program, scenario)
    if wrong is None:
        print(f"seed {seed} goes well", file=sys.stderr)
        return 1

    def goes_wrong(each):
        try:
            found = judge.play(program, each)
        except KeyError:  # nothing is left of what a step must say
            return False
        return found is not None and found[0] == wrong[0]

    small = shrink(scenario, goes_wrong)
    print(yaml_text.of_scenario(small), end="")
    print(judge.play(program, small), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
