"""The engine: which hooks an event reaches, how they are called, and what their answers come to."""
