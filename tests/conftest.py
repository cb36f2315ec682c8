"""One profile for every property-based test: new examples on a developer's machine, the same ones in CI."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kohort",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("kohort")
