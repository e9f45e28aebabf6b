"""JSON and text from frames. Never imports ui."""
