"""A kernel as a page that a browser opens: `kernel.view(...)`.

`stages.py` gathers what there is to see, as data; `page.html`, `page.css` and `page.js` show it.
The page is one file, which needs no network.
"""
