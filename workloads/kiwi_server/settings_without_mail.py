"""Kiwi TCMS's own settings, but its mail goes nowhere.

Kiwi TCMS writes a mail about each new test run and sends it in a thread of its own. No machine of
the measurement takes mail, so that each would end with a refused connection.
"""

from tcms.settings.product import *  # noqa: F403 (Django reads every name of this module)

EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
