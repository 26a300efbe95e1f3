"""Random configurations: one to three profiles, each with some of our plugins."""

ALL = ["ProfileClassifier", "Coscheduling", "ResourceReservation", "GangPreemption",
       "BackfillScoring"]


def make(rng):
    """A configuration; its first profile is for pods that name no scheduler."""
    names = ["default-scheduler", "second", "third"][:rng.choice([1, 1, 2, 2, 3])]
    # It orders the one queue of all profiles, so that all have to say the same.
    order = _coscheduling(rng)
    return {"profiles": [_profile(rng, name, order, first=name == names[0]) for name in names]}


def enabled(profile):
    return [each["name"] for each in profile["plugins"]["multiPoint"]["enabled"]]


def arguments(profile, plugin):
    for each in profile["pluginConfig"]:
        if each["name"] == plugin:
            return each["args"]
    return {}


def _profile(rng, name, order, first):
    # Where nobody knows of gangs there is little to find.
    chances = [0.3, 0.95 if first else 0.6, 0.6, 0.6, 0.5]
    plugins = [each for each, chance in zip(ALL, chances) if rng.random() < chance]
    args = {
        "Coscheduling": lambda _: order,
        "ResourceReservation": _reservation,
        "GangPreemption": lambda rng: {"cooldownSeconds": rng.choice([1, 5, 30])},
        "BackfillScoring": _backfill,
    }
    config = [{"name": each, "args": args[each](rng)} for each in plugins
              if each in args and (each == "Coscheduling" or rng.random() < 0.8)]
    return {
        "schedulerName": name,
        "plugins": {"multiPoint": {"enabled": [{"name": each} for each in plugins]}},
        "pluginConfig": config,
    }


def _coscheduling(rng):
    return {
        "graceSeconds": rng.choice([5, 20, 60]),
        "stragglerWaitSeconds": rng.choice([1, 10]),
        "attemptTimeoutSeconds": rng.choice([0, 0, 5, 40]),
        "evictIncomplete": rng.random() < 0.5,
        "operatorGangs": rng.random() < 0.3,
        "searchEvaluations": rng.choice([0, 20, 1000, 1000]),
        "starvationSeconds": rng.choice([10, 60]),
    }


def _reservation(rng):
    return {"durationSeconds": rng.choice([60, 1800]), "driverSeconds": rng.choice([20, 600])}


def _backfill(rng):
    return {
        "mode": rng.choice(["easy", "conservative"]),
        "order": rng.choice(["fcfs", "sjf", "best"]),
        "promises": rng.choice([1, 3, 16]),
        "holdPromises": rng.random() < 0.7,
        "shareNodes": rng.random() < 0.7,
    }
