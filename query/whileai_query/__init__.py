"""The reading side and the API: traces, scores, cuts, datasets, agents."""

from whileai_query.app import create_api
from whileai_query.objects import Objects
from whileai_query.services import HUGGING_FACE, Services
from whileai_query.sweeping import sweep

__all__ = ["HUGGING_FACE", "Objects", "Services", "create_api", "sweep"]
