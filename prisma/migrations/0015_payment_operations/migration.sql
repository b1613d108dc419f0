-- A payment that its chain no longer has is taken back: what was spent of it becomes a debt, which later credit pays first.
ALTER TABLE "ledger"."accounts"
    ADD COLUMN "debt_nano" BIGINT NOT NULL DEFAULT 0,
    ADD CONSTRAINT "accounts_debt_not_negative" CHECK ("debt_nano" >= 0);

ALTER TABLE "ledger"."transfers" DROP CONSTRAINT "transfers_kind_known";
ALTER TABLE "ledger"."transfers" ADD CONSTRAINT "transfers_kind_known" CHECK (
    "kind" IN ('credit', 'charge', 'refund', 'grant', 'expiry', 'deposit', 'write_off', 'reversal', 'debt', 'repayment')
);

-- The order in which payments came; where they are on the chain; what went wrong last; what the operator decided.
ALTER TABLE "payments"."payments"
    ADD COLUMN "number" BIGSERIAL NOT NULL,
    ADD COLUMN "settled_block" BIGINT,
    ADD COLUMN "settled_block_hash" TEXT COLLATE "C",
    ADD COLUMN "reversals" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "last_error" TEXT,
    ADD COLUMN "resolution" TEXT COLLATE "C",
    ADD COLUMN "resolution_reason" TEXT,
    ADD COLUMN "resolved_at" TIMESTAMPTZ(3),
    ADD COLUMN "watched_at" TIMESTAMPTZ(3),
    ADD COLUMN "broadcast_at" TIMESTAMPTZ(3),
    ADD CONSTRAINT "payments_resolution_check" CHECK ("resolution" IN ('credit', 'fail')),
    DROP CONSTRAINT "payments_state_check",
    ADD CONSTRAINT "payments_state_check" CHECK ("state" IN
        ('RECEIVED', 'SETTLING', 'BROADCAST', 'CONFIRMED', 'CREDITED', 'REVERSING', 'REVERSED', 'FAILED', 'UNKNOWN'));

CREATE UNIQUE INDEX "payments_number_key" ON "payments"."payments" ("number");
CREATE INDEX "payments_wallet_number_idx" ON "payments"."payments" ("wallet", "number");
CREATE INDEX "payments_network_settled_block_idx" ON "payments"."payments" ("network", "settled_block");

-- What an audit of payments proved last, for the next one to go on from.
CREATE TABLE "payments"."audit_marks" (
    "network" TEXT COLLATE "C" NOT NULL,
    "scope" TEXT COLLATE "C" NOT NULL,
    "begun_at" TIMESTAMPTZ(3),
    "proved_at" TIMESTAMPTZ(3),
    "block" BIGINT NOT NULL DEFAULT 0,
    "transfer_id" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "audit_marks_pkey" PRIMARY KEY ("network", "scope"),
    CONSTRAINT "audit_marks_scope_check" CHECK ("scope" IN ('whole', 'new'))
);
