"""`python -m eaglelint`.

Python puts the current folder first on the path of modules for `-m`, and the current folder is often the one that is
checked: a `json.py` or `click.py` in it would be imported instead of the real one. So that entry goes before anything
else is imported; the package itself is found already and needs it no more. Without such an entry (`-P`, `-I`,
$PYTHONSAFEPATH) the first one is another, and stays.
"""

import sys

if __name__ == "__main__":
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        del sys.path[:1]

    from eaglelint.cli import main

    main()
