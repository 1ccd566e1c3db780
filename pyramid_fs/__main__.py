"""Runs the command line: `python -m pyramid_fs`."""

from pyramid_fs.cli import main

if __name__ == "__main__":
    main()
