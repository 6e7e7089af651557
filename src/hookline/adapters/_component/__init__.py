"""Guests: WebAssembly components, in a thread of this process or in a worker process, and programs in their place.

`broken`, `exported`, `source`, `compiled`, `engine`, `values`, `linking`, `gate`, `instance` and `worker` also run in
the worker process, which imports nothing else of hookline but plain types of the core.
"""
