-- The URLs to which the events of an account are delivered.
CREATE TABLE "gateway"."webhook_endpoints" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[] NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'enabled',
    "secret" BYTEA NOT NULL,
    "earlier_secret" BYTEA,
    "earlier_secret_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failing_since" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_endpoints_state_check" CHECK ("state" IN ('enabled', 'disabled', 'gone', 'failing')),
    CONSTRAINT "webhook_endpoints_account_id_fkey" FOREIGN KEY ("account_id")
        REFERENCES "gateway"."accounts" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

CREATE INDEX "webhook_endpoints_account_id_idx" ON "gateway"."webhook_endpoints" ("account_id");
CREATE INDEX "webhook_endpoints_due_at_idx" ON "gateway"."webhook_endpoints" ("due_at");

-- What is to be delivered, or was.
CREATE TABLE "gateway"."webhook_deliveries" (
    "id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "status" INTEGER,
    "fault" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tried_at" TIMESTAMPTZ(3),
    "next_try_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "webhook_deliveries_state_check" CHECK ("state" IN ('pending', 'delivered', 'failed')),
    CONSTRAINT "webhook_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id")
        REFERENCES "gateway"."webhook_endpoints" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

CREATE UNIQUE INDEX "webhook_deliveries_endpoint_id_event_id_key" ON "gateway"."webhook_deliveries" ("endpoint_id", "event_id");
CREATE INDEX "webhook_deliveries_endpoint_id_next_try_at_idx" ON "gateway"."webhook_deliveries" ("endpoint_id", "next_try_at");
CREATE INDEX "webhook_deliveries_endpoint_id_created_at_id_idx" ON "gateway"."webhook_deliveries" ("endpoint_id", "created_at", "id");
CREATE INDEX "webhook_deliveries_created_at_idx" ON "gateway"."webhook_deliveries" ("created_at");
