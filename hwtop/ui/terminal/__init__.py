"""What is sent to the terminal, and what is known of it."""
