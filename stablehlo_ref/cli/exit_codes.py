"""Exit codes of all commands."""

FINE, AT_FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES = """\
exit codes:
  0    the program ran, and all its checks (check.expect_eq, ...) passed
  1    an error in the program: it cannot be read, is malformed or invalid, lacks inputs, failed a check or --expect,
       or reached a limit; or the results cannot be written (standard output is closed)
  2    an error in the command line: an unknown option, a name or value that does not fit the program, an input file
       that cannot be read
  130  interrupted"""
