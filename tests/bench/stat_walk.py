"""The bare stat walk that other figures are held against; as a program: `python stat_walk.py FOLDER`."""

import os
import sys


def walk(folder: str) -> None:
    """Look at every file below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)


if __name__ == "__main__":
    walk(sys.argv[1])
