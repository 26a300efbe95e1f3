"""Waits for what takes as long as the machine is slow, but never stands still."""

import time

STANDSTILL = 60  # seconds without a step forward


def wait_for_count(count, wanted, pause=1):
    """Until count() has come to what is wanted; TimeoutError if it stays where it is."""
    most, since = -1, time.monotonic()
    while (now := count()) < wanted:
        if now > most:
            most, since = now, time.monotonic()
        if time.monotonic() - since > STANDSTILL:
            raise TimeoutError(f"{now} of {wanted}, and no more for {STANDSTILL} s")
        time.sleep(pause)
