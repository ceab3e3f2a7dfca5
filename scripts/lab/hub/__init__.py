"""How the hub classifier is trained, searched, judged and compared: the shipped model comes from here.

::

    training        label rows, captures -> the whole model; url_training, content_training its parts
    grid · folded   C and gamma by cross-validation over folds of whole domains
    fits            what is fitted to training rows: scaling, calibration, value tables
    paper · rivals  paper 003's own machine, and the methods that it and we compare with
    assessment      scores on labelled rows
    files           what is read
"""
