"""The adapters of a client outside the cloud; no function needs them."""
