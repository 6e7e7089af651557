"""A capsule at work: staged, given its tasks, and ended."""
