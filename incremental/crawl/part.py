"""The part of the sites that one daemon has."""


class Part:
    """A share of the sites, which may change between two steps of the crawler; here all of them."""

    @property
    def is_leader(self) -> bool:
        """Whether what belongs to no site is done here."""
        return True

    def has(self, _site_id: int, /) -> bool:
        """Whether visits of a site may begin here."""
        return True

    def gives_up(self, _site_id: int, /) -> bool:
        """Whether a site was this part's, and is only kept until its visit has ended."""
        return False
