"""The site: settings, URLs, and what spans several apps."""
