"""PostgreSQL's driver, which peewee imports if it is installed, loaded only for a store on a server.

It takes a tenth of a short command's time. Only the command line puts it off: a program that uses
Hubwatch may use peewee itself.
"""

import sys


def put_off_driver() -> None:
    """Import peewee without the driver, unless one of the two is loaded already."""
    if "peewee" in sys.modules or "psycopg" in sys.modules:
        return
    # None is Python's way to say that a module is missing.
    sys.modules["psycopg"] = None  # type: ignore[assignment]
    try:
        import peewee  # noqa: F401, PLC0415 - for its effect
    finally:
        del sys.modules["psycopg"]


def load_driver() -> None:
    """Give peewee the driver, if it was put off.

    Raises:
        ImportError: it is not installed.
    """
    import peewee  # noqa: PLC0415 - not before the driver is put off
    import psycopg  # noqa: PLC0415 - an extra
    from psycopg.pq import TransactionStatus  # noqa: PLC0415 - likewise
    from psycopg.types.json import Json, Jsonb  # noqa: PLC0415 - likewise

    names = vars(peewee)
    if names["psycopg"] is not None:
        return
    # As peewee does where it is imported.
    names |= {"psycopg": psycopg, "TransactionStatus": TransactionStatus}
    names |= {"Json_pg3": Json, "Jsonb_pg3": Jsonb}
    adapter = names["Psycopg3Adapter"]
    adapter.txn_idle = TransactionStatus.IDLE
    adapter.txn_inerror = TransactionStatus.INERROR
    adapter.txn_unknown = TransactionStatus.UNKNOWN
