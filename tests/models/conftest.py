"""Where the random programs are."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "stress"))  # `array_functions`
