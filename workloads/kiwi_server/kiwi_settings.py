"""Kiwi TCMS's own settings, but its mail goes nowhere; and what its packages lack here.

Kiwi TCMS writes a mail about each new test run and sends it in a thread of its own. No machine of
the measurement takes mail, so that each would end with a refused connection.
"""

import inspect

import pymysql

# The JSON-RPC library of these versions imports what Python 3.11 no longer has.
inspect.getargspec = inspect.getfullargspec
# Django imports MySQLdb, whose package mysqlclient has no wheel for Linux.
pymysql.install_as_MySQLdb()

from tcms.settings.product import *  # noqa: E402, F403 (Django reads every name of this module)

EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
