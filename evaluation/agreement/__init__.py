"""The agreement page: how far raters agree with each other, and a judge with them."""
