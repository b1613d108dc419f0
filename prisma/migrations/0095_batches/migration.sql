-- Files of clients, whose bytes are in the store of media, and batches of requests, which read and write them.
CREATE TABLE "gateway"."files" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "blocks" INTEGER NOT NULL DEFAULT 0,
    "lines" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "files_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "files_account_id_created_at_id_idx" ON "gateway"."files" ("account_id", "created_at", "id");

CREATE INDEX "files_expires_at_idx" ON "gateway"."files" ("expires_at");

CREATE TABLE "gateway"."batches" (
    "id" TEXT COLLATE "C" NOT NULL,
    "account_id" UUID NOT NULL,
    "key_id" TEXT COLLATE "C" NOT NULL,
    "form" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "input_file_id" TEXT COLLATE "C" NOT NULL,
    "output_file_id" TEXT COLLATE "C" NOT NULL,
    "error_file_id" TEXT COLLATE "C" NOT NULL,
    "state" TEXT NOT NULL,
    "lines" INTEGER NOT NULL,
    "completed" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "metadata" JSONB,
    "output_seconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finalizing_at" TIMESTAMPTZ(3),
    "cancelling_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "batches_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "batches_account_id_created_at_id_idx" ON "gateway"."batches" ("account_id", "created_at", "id");

CREATE INDEX "batches_ended_at_created_at_idx" ON "gateway"."batches" ("ended_at", "created_at");

CREATE INDEX "batches_input_file_id_idx" ON "gateway"."batches" ("input_file_id");

CREATE TABLE "gateway"."batch_results" (
    "batch_id" TEXT COLLATE "C" NOT NULL,
    "line" INTEGER NOT NULL,
    "custom_id" TEXT COLLATE "C",
    "is_failed" BOOLEAN NOT NULL,
    "content" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "batch_results_pkey" PRIMARY KEY ("batch_id", "line")
);
