"""Reads pages as JSON from stdin, one list of HTML texts, and writes the text of each as trafilatura extracts it."""
import json
import sys

import trafilatura

pages = json.load(sys.stdin)
json.dump([trafilatura.extract(page, include_comments=True, include_tables=True) or "" for page in pages], sys.stdout)
