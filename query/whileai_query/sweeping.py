"""What nobody will finish any more: uploads without an end, and the halves of files that a killed process left."""

from __future__ import annotations

from datetime import UTC, datetime

from whileai_query.dataset_files import delete_files
from whileai_query.grants import LIFETIME
from whileai_query.services import Services

# An upload link may be used until it expires, and the upload that began with it may go on.
KEPT = 2 * LIFETIME


def sweep(services: Services) -> int:
    """Remove them; how many uploads that were."""
    now = datetime.fromtimestamp(services.clock() / 1e9, UTC)
    abandoned = services.registry.datasets.abandoned(now - KEPT)
    for dataset in abandoned:
        sent = services.registry.uploads.stored_file(dataset.account_id, dataset.id)
        services.registry.datasets.delete(dataset.account_id, dataset.id)
        if sent is not None and sent.object_key is not None:
            delete_files(services.objects, [sent.object_key])
    services.objects.remove_partials(now - KEPT)
    return len(abandoned)
