"""The settings of subscriptions: how often versions are made, and how much of them is kept."""

from __future__ import annotations

from millpond.setting import Setting

SUBSCRIPTION_SETTINGS = (
    Setting(
        "subscription_interval",
        100,
        "ms",
        "A version at most so often, unless the view has a freshness or EVERY asks for another pace: others want Spark "
        "too.",
    ),
    Setting(
        "subscription_progress_interval",
        1000,
        "ms",
        "How often a subscriber WITH (progress) hears that nothing changed, unless EVERY says it.",
        minimum=1,
    ),
    Setting(
        "subscription_versions",
        100,
        "versions",
        "Versions that are kept for subscribers who fall behind or come back: ten seconds of a busy view.",
        minimum=1,
    ),
    Setting(
        "subscription_bytes",
        128 << 20,
        "bytes",
        "Bytes that the versions of one view or query may take; a single answer must not be larger.",
        minimum=1,
    ),
    Setting(
        "subscription_retention",
        60_000,
        "ms",
        "How long versions are kept when nobody is subscribed any more: a client that lost its connection comes back.",
    ),
    Setting(
        "fetch_timeout",
        0,
        "ms",
        "How long FETCH waits for the first row of a subscription; 0 means for as long as it takes.",
        scope="session",
    ),
)
