"""Muse Code's plugins: packages of hooks that are installed, reviewed, versioned and tested as a unit.

`family.py` reads a package, `store.py` keeps those that are installed, `review.py` knows which of their hooks somebody
looked at, `sources.py` makes hooks of these for a session, and `verbs.py` is what people do with it all
(docs/dialects/muse.md, sections 20 to 22).
"""
