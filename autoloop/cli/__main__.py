"""``python -m autoloop.cli``."""

import sys

from . import main

sys.exit(main())
