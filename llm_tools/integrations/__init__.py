"""What needs an extra of its own; nothing else imports it."""
