"""Where apps look for the Google Reader API. Light: the manifest tells the web which paths carry no cookie."""

# `/api/greader.php` is what apps add that were written for FreshRSS.
BASES = ("", "/greader", "/api/greader.php")
COOKIELESS = ("/accounts/ClientLogin", "/reader/api/0/", "/reader/atom/", *(f"{base}/" for base in BASES if base))
