"""The registry: every kind of record behind one object. Each call is one transaction and may come from any thread."""

from __future__ import annotations

from sqlalchemy import text

from whileai_registry import bootstrap, migrate, tidy
from whileai_registry.accounts import Accounts
from whileai_registry.agents import Agents
from whileai_registry.behaviors import Behaviors
from whileai_registry.catalog import Catalog
from whileai_registry.connections import Connections
from whileai_registry.database import Clock, Database, utc_now
from whileai_registry.datasets import Datasets
from whileai_registry.delegated import DelegatedCredentials
from whileai_registry.devices import Devices
from whileai_registry.email_codes import EmailCodes
from whileai_registry.keys import Keys, Principal
from whileai_registry.live_days import LiveDays
from whileai_registry.promotions import Promotions
from whileai_registry.rates import Rates
from whileai_registry.run_points import RunPoints
from whileai_registry.run_scores import RunScores
from whileai_registry.sessions import Sessions
from whileai_registry.signup import Signup
from whileai_registry.tracked_runs import TrackedRuns
from whileai_registry.uploads import Uploads
from whileai_registry.usage import Usage


class Registry:
    def __init__(self, url: str, clock: Clock = utc_now) -> None:
        self._database = Database(url, clock)
        self.accounts = Accounts(self._database)
        self.keys = Keys(self._database)
        self.agents = Agents(self._database)
        self.behaviors = Behaviors(self._database)
        self.tracked_runs = TrackedRuns(self._database)
        self.run_scores = RunScores(self._database)
        self.run_points = RunPoints(self._database)
        self.promotions = Promotions(self._database)
        self.live_days = LiveDays(self._database)
        self.datasets = Datasets(self._database)
        self.catalog = Catalog(self._database)
        self.uploads = Uploads(self._database)
        self.connections = Connections(self._database)
        self.devices = Devices(self._database)
        self.delegated = DelegatedCredentials(self._database)
        self.email_codes = EmailCodes(self._database)
        self.sessions = Sessions(self._database)
        self.rates = Rates(self._database)
        self.signup = Signup(self._database, self.rates)
        self.usage = Usage(self._database)

    def migrate(self) -> None:
        """Bring the tables to this version; safe to repeat, to race and to be killed."""
        migrate.migrate(self._database)

    def bootstrap(self, key: str | None = None) -> bootstrap.Bootstrap:
        return bootstrap.bootstrap(self._database, key)

    def authenticate(self, key: str) -> Principal | None:
        """Who this key is, if it works right now. `keys.examine` says why one does not."""
        found = self.keys.examine(key)
        return found if isinstance(found, Principal) else None

    def tidy(self) -> int:
        """Forget what expired more than a day ago; how many rows that were."""
        return tidy.tidy(self._database)

    def ping(self) -> None:
        """Raise RegistryUnavailable unless the database answers."""
        with self._database.read() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        self._database.close()
