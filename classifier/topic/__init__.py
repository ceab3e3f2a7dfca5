"""What a page is about: is it on a user's topic, and which links are worth following for it.

::

    example pages, key words  ->  TopicModel   judge(page)  -> Relevance (score, verdict, terms)
    links before a fetch      ->  LearnedOrder   order(links) -> which first; each fetched page teaches it

A user brings three example pages or five key words, never a training set (papers 000, 002, 004).
"""
