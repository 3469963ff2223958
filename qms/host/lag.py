"""How late the event loop is: what a request waits before anybody looks at it."""

import asyncio

from qms.telemetry import metrics

PERIOD_S = 0.5


async def watch_lag() -> None:
    """Measure again and again by how much a timer comes late, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + PERIOD_S
        await asyncio.sleep(PERIOD_S)
        metrics.LOOP_LAG_SECONDS.observe(max(0.0, loop.time() - due))
