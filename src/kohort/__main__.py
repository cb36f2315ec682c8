"""`python -m kohort`: the command line, where its script is not on the path."""

from kohort.cli.main import main

if __name__ == "__main__":
    main()
