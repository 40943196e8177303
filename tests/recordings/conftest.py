"""Assertions of the shared comparison tell what differs."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("recordings.replaying")
