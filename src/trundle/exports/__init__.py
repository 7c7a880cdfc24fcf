"""Models taken elsewhere: folders of source text in other languages, and functions of other numeric libraries."""
