"""The web pages: server-rendered over the functions of the API, with light scripts and nothing fetched elsewhere."""

from whileai_query.pages.app import add_pages

__all__ = ["add_pages"]
