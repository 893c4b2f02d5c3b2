# Generated from _async/__init__.py by scripts/generate_sync.py: change that file.
"""The asynchronous client. `_sync` is generated from it."""
