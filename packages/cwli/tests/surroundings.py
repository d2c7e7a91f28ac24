"""The surroundings of a session of tests: signals and environment as they are by default."""

import os
import signal

# Tests meet the signals as they are by default, whatever their parent ignores or blocks: a shell
# without job control has its background ignore SIGINT. SIGHUP stays as inherited, so that tests
# under nohup outlive their terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGTERM, signal.SIGCHLD):
    signal.signal(_number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Neither do shells, hooks of Git and CI services tell tests of accounts, repositories and screens.
_OF_SCREENS = {"COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"}
for _name in list(os.environ):
    if _name.startswith(("AWS_", "GIT_DIR", "GIT_INDEX", "GIT_WORK", "GIT_PREFIX", "TIDEMARK_")):
        del os.environ[_name]
for _name in _OF_SCREENS & set(os.environ):
    del os.environ[_name]
os.environ["GIT_CONFIG_GLOBAL"] = os.devnull  # which may sign commits
