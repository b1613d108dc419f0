CREATE SCHEMA IF NOT EXISTS "payments";

-- Payments of wallets, one row for each that could be settled. A row is never deleted.
CREATE TABLE "payments"."payments" (
    "id" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL,
    "network" TEXT COLLATE "C" NOT NULL,
    "asset" TEXT COLLATE "C" NOT NULL,
    "wallet" TEXT COLLATE "C" NOT NULL,
    "account_id" UUID NOT NULL,
    "payer" TEXT COLLATE "C" NOT NULL,
    "pay_to" TEXT COLLATE "C" NOT NULL,
    "amount_units" BIGINT NOT NULL,
    "valid_after" NUMERIC(78, 0) NOT NULL,
    "valid_before" NUMERIC(78, 0) NOT NULL,
    "nonce" TEXT COLLATE "C" NOT NULL,
    "signature" TEXT COLLATE "C" NOT NULL,
    "seen_block" BIGINT NOT NULL,
    "transaction" TEXT COLLATE "C",
    "raw_transaction" TEXT COLLATE "C",
    "settled_units" BIGINT,
    "reason" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "payments_state_check" CHECK ("state" IN
        ('RECEIVED', 'SETTLING', 'BROADCAST', 'CONFIRMED', 'CREDITED', 'FAILED', 'UNKNOWN')),
    CONSTRAINT "payments_settled_check" CHECK ("state" NOT IN ('CONFIRMED', 'CREDITED') OR
        ("settled_units" IS NOT NULL AND "transaction" IS NOT NULL))
);

CREATE UNIQUE INDEX "payments_key_key" ON "payments"."payments" ("key");
CREATE INDEX "payments_state_updated_at_idx" ON "payments"."payments" ("state", "updated_at");
