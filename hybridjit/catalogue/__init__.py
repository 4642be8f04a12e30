"""The catalogue of errors: every diagnostic has a code, and every code a page.

    HJ1xx  the language          HJ4xx  arguments of calls
    HJ2xx  types and shapes      HJ5xx  schedules
    HJ3xx  while a kernel runs   HJ6xx  tensor expressions
                                 HJ7xx  settings, passes, search, checks

A code stands for a family of messages: the words that these have in common find it. Codes never
change their meaning, and a code that is no longer needed is not given away again.
"""
