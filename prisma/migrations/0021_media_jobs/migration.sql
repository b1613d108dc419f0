CREATE SCHEMA IF NOT EXISTS "media";

-- Jobs that make videos and music. A row is deleted when it expires, after its object.
CREATE TABLE "media"."jobs" (
    "id" UUID NOT NULL,
    "request_id" TEXT COLLATE "C" NOT NULL,
    "account_id" UUID NOT NULL,
    "key_id" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "model" TEXT COLLATE "C" NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL,
    "order" JSONB,
    "picture" BYTEA,
    "body_sha256" TEXT COLLATE "C" NOT NULL,
    "idempotency_key" TEXT COLLATE "C",
    "version" INTEGER NOT NULL DEFAULT 0,
    "submits" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "backend" TEXT COLLATE "C",
    "backend_job" TEXT COLLATE "C",
    "failure_code" TEXT COLLATE "C",
    "failure_message" TEXT COLLATE "C",
    "refund" TEXT COLLATE "C",
    "mime" TEXT COLLATE "C",
    "bytes" BIGINT,
    "sha256" TEXT COLLATE "C",
    "expected_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "next_step_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "jobs_state_check" CHECK ("state" IN
        ('held', 'queued', 'submitting', 'running', 'storing', 'completed', 'failed', 'deleted')),
    CONSTRAINT "jobs_refund_check" CHECK ("refund" IN ('pending', 'done')),
    CONSTRAINT "jobs_failed_check" CHECK (("state" = 'failed') =
        ("failure_code" IS NOT NULL AND "failure_message" IS NOT NULL AND "refund" IS NOT NULL)),
    CONSTRAINT "jobs_backend_check" CHECK ("state" NOT IN ('running', 'storing') OR
        ("backend" IS NOT NULL AND "backend_job" IS NOT NULL)),
    CONSTRAINT "jobs_completed_check" CHECK ("state" <> 'completed' OR
        ("mime" IS NOT NULL AND "bytes" IS NOT NULL AND "sha256" IS NOT NULL))
);

CREATE UNIQUE INDEX "jobs_request_id_key" ON "media"."jobs" ("request_id");
CREATE UNIQUE INDEX "jobs_account_id_kind_idempotency_key_key" ON "media"."jobs" ("account_id", "kind", "idempotency_key");
CREATE INDEX "jobs_next_step_at_idx" ON "media"."jobs" ("next_step_at");
CREATE INDEX "jobs_account_id_state_idx" ON "media"."jobs" ("account_id", "state");
CREATE INDEX "jobs_model_ended_at_idx" ON "media"."jobs" ("model", "ended_at");
