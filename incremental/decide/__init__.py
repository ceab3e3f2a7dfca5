"""Facts in, decision out: pure functions of what was fetched and what was known before.

::

    cases      what came of a visit, in one table; each case has facts of its own type
    hub_visit, verification, refresh
               outcome, facts of the case  ->  Decision: record, rule, numbers for the schedule
    news       the rule and the fate of each link, in two tables
"""
