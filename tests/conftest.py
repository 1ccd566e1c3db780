"""How hard hypothesis tries, chosen by `HYPOTHESIS_PROFILE`: `default`, `ci` (always the same), `night`, `thorough`."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from hypothesis import HealthCheck, settings

_SLOW_MACHINES = [HealthCheck.too_slow]

settings.register_profile("default", max_examples=25, deadline=None, suppress_health_check=_SLOW_MACHINES)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("night", settings.get_profile("default"), max_examples=200)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

MEMORY = Path("/dev/shm")
"""Folders in memory: what is promised is synced to disk at every step, which takes most of the time elsewhere."""
ROOM = 2 << 30
"""Bytes that the tests may take there, several times over."""
if os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# a shell or nohup that runs the tests in the background ignores these, and what they start would inherit that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
