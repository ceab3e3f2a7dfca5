"""The samples on which the classifier's own tests train are used here as well."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "classifier"))
