"""The API as one FastAPI application, made from the services it is given."""

from __future__ import annotations

from fastapi import FastAPI

from whileai_query.account_routes import router as account
from whileai_query.agent_routes import router as agents
from whileai_query.catalog_routes import router as catalog
from whileai_query.cut_routes import router as cuts
from whileai_query.dataset_routes import router as datasets
from whileai_query.describing import described
from whileai_query.failures import handle_failures
from whileai_query.hub_routes import router as hub
from whileai_query.login_routes import router as login
from whileai_query.pages import add_pages
from whileai_query.services import Services
from whileai_query.trace_routes import router as traces
from whileai_query.tracked_routes import router as tracked
from whileai_query.tracked_run_routes import router as tracked_runs
from whileai_query.traffic_routes import router as traffic
from whileai_query.upload_routes import router as uploads
from whileai_registry.keycache import KeyCache

# Fixed paths (`/traces/cuts`) stand before those with an id in their place (`/traces/{trace_id}`).
ROUTERS = (cuts, traces, hub, datasets, uploads, catalog, agents, tracked, tracked_runs, account, login, traffic)


def create_api(services: Services) -> FastAPI:
    """The reading side and the API of one process."""
    app = FastAPI(
        title="While",
        summary="Traces in, training data out",
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A redirected POST is an error to the published client.
        redirect_slashes=False,
    )
    app.openapi = described(app)  # type: ignore[method-assign]  # how FastAPI has it replaced
    app.state.services = services
    app.state.keys = KeyCache(services.registry.authenticate)
    handle_failures(app)
    for router in ROUTERS:
        app.include_router(router)
    add_pages(app, services)
    return app
