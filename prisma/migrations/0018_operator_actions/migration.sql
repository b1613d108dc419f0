-- What operators did. A row is written before its action begins; its result follows.
CREATE TABLE "gateway"."operator_actions" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "token" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT,
    "input" JSONB,
    "request_id" TEXT NOT NULL,
    "status" INTEGER,
    "code" TEXT,

    CONSTRAINT "operator_actions_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "operator_actions_request_id_key" ON "gateway"."operator_actions" ("request_id");
CREATE INDEX "operator_actions_target_id_idx" ON "gateway"."operator_actions" ("target", "id");
