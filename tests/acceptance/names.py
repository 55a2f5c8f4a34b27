"""Exit statuses, as the command line promises them."""

OK, FATAL, USAGE, UNAVAILABLE, INCOMPLETE, CONFIG = 0, 1, 64, 69, 75, 78
