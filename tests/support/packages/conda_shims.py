"""What conda 4.3 of 2017 uses and Python 3.11 does not have any more. Conda's own files stay as they are."""

import collections
import collections.abc
import inspect
import platform

for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec
if not hasattr(platform, "linux_distribution"):
    platform.linux_distribution = lambda *arguments, **options: ("debian", "12", "")
