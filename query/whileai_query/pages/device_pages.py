"""Approving a device that asks for a key (RFC 8628, 3.3): a person compares the code and decides."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai_query.login_routes import knock
from whileai_query.pages.forms import OwnForm
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.services import ServicesDep
from whileai_registry import NotAllowed, NotFound, RegistryError

router = APIRouter()

_DONE = {
    "approve": "Approved. The device has its key as soon as it asks again; you can close this page.",
    "deny": "Denied. The device gets no key.",
}


@router.get("/device")
def device(request: Request, services: ServicesDep, person: SignedIn, code: str = "") -> Response:
    """The device behind the code, or the field for it. Guessing codes is bounded."""
    if not code:
        return render(request, "device.html", person, login=None, problem="", done="")
    found = services.registry.devices.find(code)
    if found is None or found.state != "pending":
        knock(services, "device_code_guess", person.account_id)
        told = "No login is waiting under this code. Start it again on the device."
        return render(request, "device.html", person, status=404, login=None, problem=told, done="")
    return render(request, "device.html", person, login=found, problem="", done="")


@router.post("/device")
def decide(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """Approve or deny."""
    devices = services.registry.devices
    decisions: dict[str, Callable[[str, str], None]] = {"approve": devices.approve, "deny": devices.deny}
    decision = form.text("decision")
    try:
        decisions.get(decision, devices.deny)(form.person.account_id, form.text("code", 40))
    except (NotFound, NotAllowed) as refused:
        return render(request, "device.html", form.person, status=409, login=None, problem=_said(refused), done="")
    return render(request, "device.html", form.person, login=None, problem="", done=_DONE.get(decision, _DONE["deny"]))


def _said(error: RegistryError) -> str:
    told = str(error)
    return f"{told[:1].upper()}{told[1:]}."
