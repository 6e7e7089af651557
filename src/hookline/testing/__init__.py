"""A kit for those who build on hookline."""
