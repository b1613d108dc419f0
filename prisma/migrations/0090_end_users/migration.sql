-- What hides the names of an account's end users in everything that is stored about them.
ALTER TABLE "gateway"."accounts" ADD COLUMN "user_key" UUID NOT NULL DEFAULT gen_random_uuid();

-- What an end user of an account may do; `*` is each without a row of its own.
ALTER TABLE "gateway"."accounts" ADD COLUMN "limits_users" BOOLEAN NOT NULL DEFAULT false;
CREATE TABLE "gateway"."end_user_limits" (
    "account_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL,
    "usd_limit_nano" NUMERIC(20, 0),
    "diem_limit_nano" NUMERIC(20, 0),
    "limit_period" TEXT NOT NULL DEFAULT 'EPOCH',
    "requests_per_minute" INTEGER,
    "tokens_per_minute" INTEGER,
    CONSTRAINT "end_user_limits_pkey" PRIMARY KEY ("account_id", "end_user"),
    CONSTRAINT "end_user_limits_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "gateway"."accounts" ("id")
        ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "end_user_limits_limit_period_check" CHECK ("limit_period" IN ('EPOCH', 'WEEK', 'MONTH', 'LIFETIME')),
    CONSTRAINT "end_user_limits_requests_per_minute_check" CHECK ("requests_per_minute" > 0),
    CONSTRAINT "end_user_limits_tokens_per_minute_check" CHECK ("tokens_per_minute" > 0)
);

-- The end user of a request, apart from its charge, which is never changed, so that it can be erased.
CREATE TABLE "ledger"."charge_users" (
    "account_id" UUID NOT NULL,
    "end_user" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "request_id" TEXT NOT NULL,
    CONSTRAINT "charge_users_pkey" PRIMARY KEY ("request_id", "at")
);
CREATE INDEX "charge_users_account_id_end_user_at_idx" ON "ledger"."charge_users" ("account_id", "end_user", "at");

-- Sums of a day (UTC) for each end user, maintained by the transaction that posts the charges.
CREATE TABLE "ledger"."user_days" (
    "account_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "end_user" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "usd_nano" BIGINT NOT NULL,
    "diem_nano" BIGINT NOT NULL,
    CONSTRAINT "user_days_pkey" PRIMARY KEY ("account_id", "day", "end_user")
);
CREATE INDEX "user_days_account_id_end_user_day_idx" ON "ledger"."user_days" ("account_id", "end_user", "day");
