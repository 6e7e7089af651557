"""What the commands do, callable from Python: a module for each, such as `hookline.workbench.check`.

    from hookline.workbench.check import check

    for finding in check([Path(".muse/hooks.json")]).findings:
        print(finding.where, finding.code)

`opening.Chosen` says which hooks are meant, `occurrences.Wanted` which event.
docs/guide/from-python.md has all of them.
"""
