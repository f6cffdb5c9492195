"""Help: the documentation and the glossary on the site."""
