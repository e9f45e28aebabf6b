"""Launch: processes -> launcher, ranks and helpers, whoever started them. Pure."""
