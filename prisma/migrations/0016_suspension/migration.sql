-- A suspended account is refused until an operator resumes it.
ALTER TABLE "gateway"."accounts"
    ADD COLUMN "wallet" TEXT COLLATE "C",
    ADD COLUMN "suspended_at" TIMESTAMPTZ(6),
    ADD COLUMN "suspended_reason" TEXT;

-- Wallets whose account was opened before: payments name them.
UPDATE "gateway"."accounts" AS account SET "wallet" = paid."wallet"
    FROM "payments"."payments" AS paid WHERE paid."account_id" = account."id";

-- The order in which operators page through them.
CREATE INDEX "accounts_created_at_id_idx" ON "gateway"."accounts" ("created_at", "id");
