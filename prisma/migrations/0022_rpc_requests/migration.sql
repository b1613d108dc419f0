-- Requests for blockchain nodes with an idempotency key, and their responses. A row is deleted after a day.
CREATE TABLE "gateway"."rpc_requests" (
    "account_id" UUID NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "body_sha256" TEXT COLLATE "C" NOT NULL,
    "request_id" TEXT COLLATE "C" NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL DEFAULT 'running',
    "version" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "credits" INTEGER,
    "backend" TEXT COLLATE "C",
    "response" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "rpc_requests_pkey" PRIMARY KEY ("account_id", "key"),
    CONSTRAINT "rpc_requests_state_check" CHECK ("state" IN ('running', 'answered', 'charged')),
    CONSTRAINT "rpc_requests_answered_check" CHECK (("state" = 'running') =
        ("credits" IS NULL AND "backend" IS NULL))
);

CREATE INDEX "rpc_requests_expires_at_idx" ON "gateway"."rpc_requests" ("expires_at");
