"""The web browser over a vault: every page is read-only, but for the Confirm button on what waits for a person."""
