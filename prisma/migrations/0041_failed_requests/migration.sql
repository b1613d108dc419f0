-- Requests of clients that were refused or that failed, without their content. Deleted after 30 days.
CREATE TABLE "gateway"."failed_requests" (
    "request_id" TEXT COLLATE "C" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "route" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "code" TEXT,
    "ended" TEXT,
    "account_id" UUID,
    "key_id" TEXT,
    "model" TEXT,
    "duration_ms" INTEGER NOT NULL,

    CONSTRAINT "failed_requests_pkey" PRIMARY KEY ("request_id")
);
CREATE INDEX "failed_requests_at_idx" ON "gateway"."failed_requests" USING brin ("at") WITH (autosummarize = on);
