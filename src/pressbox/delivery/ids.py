"""Names and ids that Temporal stores for delivery."""

QUEUE = "delivery"
SEND_NOTICES = "SendNoticesWorkflow"
# One for all: whoever sees that something waits starts it, or finds it running.
SEND_NOTICES_WORKFLOW = "delivery-notices"
