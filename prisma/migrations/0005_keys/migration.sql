-- The interface allows limits of up to 9,999,999,999 USD, which is more nano-dollars than a BIGINT has room for.
ALTER TABLE "gateway"."api_keys"
    ALTER COLUMN "consumption_limit_usd_nano" TYPE NUMERIC(20, 0),
    ALTER COLUMN "consumption_limit_diem_nano" TYPE NUMERIC(20, 0),
    ADD COLUMN "requests_per_minute" INTEGER,
    ADD COLUMN "tokens_per_minute" INTEGER,
    ADD CONSTRAINT "api_keys_requests_per_minute_check" CHECK ("requests_per_minute" > 0),
    ADD CONSTRAINT "api_keys_tokens_per_minute_check" CHECK ("tokens_per_minute" > 0),
    ADD CONSTRAINT "api_keys_limit_period_check" CHECK ("limit_period" IN ('EPOCH', 'MONTH', 'LIFETIME')),
    ADD CONSTRAINT "api_keys_model_privacy_check" CHECK ("model_privacy" IN ('ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'));

-- An account's keys that are not revoked, by age: an account may have revoked very many.
DROP INDEX "gateway"."api_keys_account_id_idx";
CREATE INDEX "api_keys_account_id_revoked_at_created_at_idx"
    ON "gateway"."api_keys" ("account_id", "revoked_at", "created_at");

-- What the operator sets in place of the limits of an account's tier.
ALTER TABLE "gateway"."accounts"
    ADD COLUMN "concurrent_requests" INTEGER,
    ADD CONSTRAINT "accounts_concurrent_requests_check" CHECK ("concurrent_requests" > 0);

-- The model `*` stands for every model without a row of its own.
CREATE TABLE "gateway"."account_limits" (
    "account_id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "requests_per_minute" INTEGER,
    "tokens_per_minute" INTEGER,

    CONSTRAINT "account_limits_pkey" PRIMARY KEY ("account_id", "model"),
    CONSTRAINT "account_limits_requests_per_minute_check" CHECK ("requests_per_minute" > 0),
    CONSTRAINT "account_limits_tokens_per_minute_check" CHECK ("tokens_per_minute" > 0),
    CONSTRAINT "account_limits_account_id_fkey" FOREIGN KEY ("account_id")
        REFERENCES "gateway"."accounts" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
