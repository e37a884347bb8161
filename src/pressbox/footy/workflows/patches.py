"""Changes of running workflows: each has a name that histories keep.

A name goes with the branch it guards, when no run from before it is open any more and its histories are dropped.
"""

# The steps of an attempt, a download and a batch are one or two activities, see ADR 52.
STEPS_AT_ONCE = "2026-11-steps-at-once"
