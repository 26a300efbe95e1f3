"""Writes a scenario as YAML that a person can read, shorten and play: a step is a line."""

import json
import re

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./$*()%-]*\Z")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def flow(value):
    """A value in one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_text(key)}: {flow(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(flow(each) for each in value)}]"
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def _text(text):
    plain = _PLAIN.match(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text)


def of_scenario(scenario):
    cluster = scenario["cluster"]
    lines = [
        f"scenario: {json.dumps(scenario['scenario'])}",
        f"why: {json.dumps(scenario['why'])}",
        f"seed: {scenario['seed']}",
        "config: |",
        *(f"  {line}" for line in of_config(scenario["config"])),
        "cluster:",
    ]
    if cluster.get("timing"):
        lines.append(f"  timing: {flow(cluster['timing'])}")
    for part in ("nodes", "objects"):
        if cluster[part]:
            lines += [f"  {part}:", *(f"    - {flow(each)}" for each in cluster[part])]
    lines += ["steps:", *(f"  - {flow(step)[2:-2]}" for step in scenario["steps"])]
    return "\n".join(lines) + "\n"


def of_config(config):
    yield "apiVersion: kubescheduler.config.k8s.io/v1"
    yield "kind: KubeSchedulerConfiguration"
    yield "profiles:"
    for profile in config["profiles"]:
        yield f"  - schedulerName: {profile['schedulerName']}"
        yield f"    plugins: {flow(profile['plugins'])}"
        if profile["pluginConfig"]:
            yield "    pluginConfig:"
            yield from (f"      - {flow(each)}" for each in profile["pluginConfig"])
