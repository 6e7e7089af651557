"""`python -m hookline`."""

from hookline._cli.main import main

main()
