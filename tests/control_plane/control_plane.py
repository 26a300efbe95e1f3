"""A real control plane for tests: `with ControlPlane("--without=kube-scheduler") as plane: ...`.
It lives in tools/cluster/, where `make cluster` uses it too."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "cluster"))

# pylint: disable=wrong-import-position,unused-import
from plane import PROGRAM, ROOT, ControlPlane, children_of, is_running  # noqa: E402,F401
