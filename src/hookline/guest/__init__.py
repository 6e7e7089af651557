"""What hooks are written with: the interface, the library for C, and projects to begin with."""
