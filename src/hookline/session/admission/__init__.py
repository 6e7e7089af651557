"""Durable admission: an input is committed before anybody is told of it, and worked on once."""
