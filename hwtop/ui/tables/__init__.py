"""What all tables share: their fields, filters, order, and matching as one types. Pure."""
