CREATE SCHEMA IF NOT EXISTS "limiter";

-- The latest requests of each account that limits refused. Older ones make room.
CREATE TABLE "limiter"."reached" (
  "account_id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "request_id" TEXT COLLATE "C" NOT NULL,
  "key_id" TEXT COLLATE "C" NOT NULL,
  "model" TEXT COLLATE "C" NOT NULL,
  "tier" TEXT COLLATE "C" NOT NULL,
  "type" TEXT COLLATE "C" NOT NULL,
  CONSTRAINT "reached_pkey" PRIMARY KEY ("account_id", "at", "request_id")
);
