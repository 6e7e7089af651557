"""YAML as we read it: every value with its place, nothing expanded, every fault a problem with its line and column."""
