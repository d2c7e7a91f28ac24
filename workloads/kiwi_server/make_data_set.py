"""Fill the current folder with a new data set: ``python make_data_set.py``.

It has Kiwi TCMS's own tables and rows, a superuser and a classification, and nothing else.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.dispatch import Signal

django.setup()
# Migrations keep files here, by default in /var/tmp, where they would find other users' files.
settings.TEMP_DIR = Path(tempfile.gettempdir())

# Models can be imported only now.
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.sites.models import Site  # noqa: E402
from tcms.management.models import Classification  # noqa: E402

# A server has this superuser for the length of one test, and only the tasks of the run reach it.
_USER = "tidemark"

_connect = Signal.connect


def _connect_new(signal: Signal, *arguments: object, **options: object) -> None:
    """Connect a receiver without a look at all others, which takes most of the migrations' time.

    A migration makes models anew, and Kiwi TCMS connects receivers to each for its history.
    """
    others, signal.receivers = signal.receivers, []
    _connect(signal, *arguments, **options)
    others += signal.receivers
    signal.receivers = others


Signal.connect = _connect_new
call_command("migrate", verbosity=0)
get_user_model().objects.create_superuser(_USER, f"{_USER}@example.com", _USER)
Classification.objects.create(name="measured")
# With the domain that Django gives a new site, Kiwi TCMS adds a warning to every page.
Site.objects.update(domain="kiwi.example.com")
