"""Log: lines as a terminal would show them, who wrote them and when. Pure."""
