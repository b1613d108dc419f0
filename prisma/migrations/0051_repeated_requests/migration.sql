-- Requests with an idempotency key: the charge and the answer of the first one. A row is deleted after a day. It replaces
-- gateway.rpc_requests, which the previous release still uses.
CREATE TABLE "gateway"."repeated_requests" (
    "account_id" UUID NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "body_sha256" TEXT COLLATE "C" NOT NULL,
    "request_id" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "is_made" BOOLEAN NOT NULL DEFAULT false,
    "charge" JSONB,
    "answer" BYTEA,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repeated_requests_pkey" PRIMARY KEY ("account_id", "key"),
    CONSTRAINT "repeated_requests_answer_check" CHECK ("answer" IS NULL OR "is_made")
);

CREATE INDEX "repeated_requests_expires_at_idx" ON "gateway"."repeated_requests" ("expires_at");
