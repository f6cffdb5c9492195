"""Power of a planned study: how many topics and raters it takes to see a difference."""
