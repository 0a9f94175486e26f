"""`urllib2` of Python 2."""

from __future__ import annotations

from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlencode, urlparse
from urllib.request import (
    HTTPCookieProcessor,
    HTTPHandler,
    ProxyHandler,
    Request,
    build_opener,
    install_opener,
    urlopen,
)

__all__ = [
    "HTTPCookieProcessor",
    "HTTPError",
    "HTTPHandler",
    "ProxyHandler",
    "Request",
    "URLError",
    "build_opener",
    "install_opener",
    "quote",
    "unquote",
    "urlencode",
    "urlopen",
    "urlparse",
]
