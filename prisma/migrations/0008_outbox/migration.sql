-- Events that were born in a transaction, until they are in the log.
CREATE TABLE "events"."outbox" (
  "id" BIGSERIAL NOT NULL,
  "topic" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "payload" TEXT NOT NULL,
  "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);
