"""What every tool shares: the pipeline, events, idempotency, the workspace, telemetry."""
