"""An extender that is sent whole nodes and keeps all of them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))

# pylint: disable=wrong-import-position
from extender import Extender  # noqa: E402

THING = "example.com/thing"  # the pods that ask for it are those it is asked about


class WholeNodeExtender(Extender):
    """Serves inside a `with`."""

    def __init__(self):
        super().__init__(filter=lambda args: {"Nodes": args["Nodes"]})

    @property
    def nodes(self):
        """Names, a list for each question."""
        return [[each["metadata"]["name"] for each in args["Nodes"]["items"]]
                for _, args in self.asked]

    def configuration(self):
        """The entry of it in a configuration of the scheduler."""
        return {"urlPrefix": self.url, "filterVerb": "filter",
                "managedResources": [{"name": THING, "ignoredByScheduler": True}]}
